"""An app in a process of its own, which exchanges packets with the server.

The format is that of Textual's web driver (`textual/drivers/web_driver.py`): after the line `__GANGLION__`, a packet is
one byte for its kind, four for its length (big-endian), and the payload. `D` is terminal output, `M` a JSON object,
`P` a piece of a file.
"""

import asyncio
import json
import logging
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from textual_serve._binary_encode import DecodeError
from textual_serve._binary_encode import load as load_packed

from harness.base.external_text import visible
from harness.ui.web.lifeline import VARIABLE as LIFELINE

CHUNK_S = 10.0
"""Seconds to wait for the next piece of a file."""
_CHUNK_BYTES = 65_536
_STDERR_BYTES = 16_384
_BEGIN = b"__GANGLION__\n"
_log = logging.getLogger("harness.serving")
_KINDS = frozenset({b"D", b"M", b"P"})


@dataclass(frozen=True, slots=True)
class ShutdownLimits:
    """Time limits for the end of an app."""

    quit_s: float = 5.0
    """Seconds to quit after it was asked to."""
    term_s: float = 3.0
    """Seconds after SIGTERM, before its process group is killed."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """Terminal output."""

    data: bytes


@dataclass(frozen=True, slots=True)
class OpenUrl:
    """The app asks the browser to open a page."""

    url: str
    new_tab: bool


@dataclass(frozen=True, slots=True)
class FileOffered:
    """The app offers a file; `AppProcess.file` fetches it."""

    key: str
    name: str


@dataclass(frozen=True, slots=True)
class AppEnded:
    """The last packet."""


Packet = Drawn | OpenUrl | FileOffered


class AppProcess:
    """A running app in its own process session, from `start` to `end`."""

    def __init__(self, process: Process, lifeline: int, patience: ShutdownLimits) -> None:
        self._process = process
        self._lifeline = lifeline
        self._patience = patience
        self._stderr_tail = b""
        self._chunks: dict[str, asyncio.Queue[bytes | None]] = {}
        self._reading = asyncio.create_task(self._read_stderr())
        self._ending: asyncio.Task[None] | None = None
        self._gone = False

    @classmethod
    async def start(cls, command: Sequence[str], width: int, height: int, patience: ShutdownLimits) -> Self:
        """Run `command` without a shell, on a screen of `width` × `height` cells."""
        held, lifeline = os.pipe()
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                env=environment(os.environ, width, height) | {LIFELINE: str(held)},
                stdin=PIPE,
                stdout=PIPE,
                stderr=PIPE,
                pass_fds=(held,),
                start_new_session=True,
            )
        except BaseException:
            os.close(lifeline)
            raise
        finally:
            os.close(held)
        return cls(process, lifeline, patience)

    @property
    def id(self) -> int:
        """Process id, and id of its group."""
        return self._process.pid

    @property
    def ending(self) -> bool:
        """Whether `end` was called."""
        return self._ending is not None

    async def stderr_text(self) -> str:
        """The last 16 KiB of standard error of an app that has ended, escaped."""
        await asyncio.wait({self._reading}, timeout=1)
        return visible(self._stderr_tail.decode("utf-8", "replace"))

    async def type(self, text: str) -> None:
        """Send terminal input: keys, mouse, paste."""
        await self._send(b"D", text.encode("utf-8", "replace"))  # a lone surrogate would end the input of the app

    async def send(self, kind: str, **fields: object) -> None:
        """Send a message: `resize` and `redraw` with width and height in cells, `focus`, `blur`, `quit`."""
        await self._send(b"M", json.dumps({"type": kind, **fields}).encode())

    async def packets(self) -> AsyncGenerator[Packet, None]:
        """Packets of the app, until it ends or sends an invalid one."""
        try:
            while await self._stdout.readuntil(b"\n") != _BEGIN:
                pass
            while True:
                if (kind := await self._stdout.readexactly(1)) not in _KINDS:
                    raise ValueError(f"{kind!r} is not a kind of packet")
                size = await self._stdout.readexactly(4)
                packet = self._packet(kind, await self._stdout.readexactly(int.from_bytes(size, "big")))
                match packet:
                    case None:
                        continue
                    case AppEnded():
                        return
                    case _:
                        yield packet
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, ConnectionError):
            return
        except (ValueError, DecodeError) as error:
            _log.warning("an app sent an invalid packet: %s", error)
        finally:
            for waiting in self._chunks.values():
                waiting.put_nowait(None)

    async def file(self, key: str) -> AsyncGenerator[bytes, None]:
        """The pieces of an offered file. Raises TimeoutError, or ConnectionError if the app ends."""
        pieces = self._chunks[key] = asyncio.Queue()
        try:
            while True:
                await self.send("deliver_chunk_request", key=key, size=_CHUNK_BYTES)
                async with asyncio.timeout(CHUNK_S):
                    piece = await pieces.get()
                if piece is None:
                    raise ConnectionError("the app ended during a download")
                if not piece:
                    return
                yield piece
        finally:
            del self._chunks[key]

    async def end(self) -> None:
        """Ask the app to quit, then send SIGTERM, then SIGKILL to its group. Returns when it has ended."""
        if self._ending is None:
            self._ending = asyncio.create_task(self._end())
        await asyncio.shield(self._ending)

    def kill(self) -> None:
        """Kill its process group. No-op after `end`."""
        self._signal(signal.SIGKILL)

    async def _end(self) -> None:
        try:
            with suppress(TimeoutError):
                await asyncio.wait_for(self.send("quit"), 1)
            self._stdin.close()
            for patience_s, number in (
                (self._patience.quit_s, signal.SIGTERM),
                (self._patience.term_s, signal.SIGKILL),
            ):
                if await self._ended_within(patience_s):
                    break
                self._signal(number)
        finally:
            self.kill()  # with everything left in its group
            os.close(self._lifeline)
        await self._ended_within(1)
        self._gone = True

    async def _ended_within(self, patience_s: float) -> bool:
        try:
            async with asyncio.timeout(patience_s):
                await self._process.wait()
        except TimeoutError:
            return False
        return True

    def _signal(self, number: signal.Signals) -> None:
        if self._gone:
            return
        with suppress(ProcessLookupError):
            os.killpg(self.id, number)

    async def _send(self, kind: bytes, payload: bytes) -> None:
        with suppress(ConnectionError):  # it has just ended; see `packets`
            self._stdin.write(kind + len(payload).to_bytes(4, "big") + payload)
            await self._stdin.drain()

    def _packet(self, kind: bytes, payload: bytes) -> Packet | AppEnded | None:
        match kind:
            case b"D":
                return Drawn(payload)
            case b"M":
                return _message(json.loads(payload))
            case b"P":
                match load_packed(payload):
                    case ("deliver_chunk", str(key), bytes() | str() as piece) if key in self._chunks:
                        self._chunks[key].put_nowait(piece.encode() if isinstance(piece, str) else piece)
        return None

    async def _read_stderr(self) -> None:
        while data := await self._stderr.read(_CHUNK_BYTES):
            self._stderr_tail = (self._stderr_tail + data)[-_STDERR_BYTES:]

    @property
    def _stdin(self) -> asyncio.StreamWriter:
        assert self._process.stdin is not None
        return self._process.stdin

    @property
    def _stdout(self) -> asyncio.StreamReader:
        assert self._process.stdout is not None
        return self._process.stdout

    @property
    def _stderr(self) -> asyncio.StreamReader:
        assert self._process.stderr is not None
        return self._process.stderr


def environment(own: Mapping[str, str], width: int, height: int) -> dict[str, str]:
    """Environment of an app in a browser: driver, true colours, size in cells. Overrides `HARNESS_PLAIN`."""
    return dict(own) | {
        "TEXTUAL_DRIVER": "harness.ui.web.driver:ServedDriver",
        "TEXTUAL_COLOR_SYSTEM": "truecolor",
        "HARNESS_PLAIN": "0",
        "TERM": "xterm-256color",
        "COLORTERM": "truecolor",
        "COLUMNS": str(width),
        "ROWS": str(height),
    }


def _message(message: object) -> Packet | AppEnded | None:
    match message:
        case {"type": "exit"}:
            return AppEnded()
        case {"type": "open_url", "url": str(url), "new_tab": bool(new_tab)} if url.startswith(("http://", "https://")):
            return OpenUrl(url, new_tab)
        case {"type": "deliver_file_start", "key": str(key), "path": str(path)}:
            return FileOffered(key, Path(path).name)
    return None


def app_command(flags: Sequence[str]) -> tuple[str, ...]:
    """The command to run `harness` with these flags.

    `-P` excludes the current folder from imports (https://docs.python.org/3/using/cmdline.html#cmdoption-P).
    """
    return (sys.executable, "-P", "-m", "harness.ui.web.lifeline", *flags)
