"""An app process and the page that shows it.

textual-serve's `AppService` speaks with the app. Added here: no shell, a process group that always ends, output that is
still read when the page has gone, and limits on what the app may ask of the browser.
"""

import asyncio
import json
import logging
import os
import re
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from aiohttp import web
from textual_serve.app_service import AppService
from textual_serve.download_manager import DownloadManager

from harness.base.external_text import visible

_BEGIN = b"__GANGLION__\n"
_CLOSE_S = 1.0
_LEAVE_SCREEN = b"\x1b[?1049l\x1b[?25h\x1b[0m"
_RESUME = re.compile(r"harness --resume (\S+)")
_STDERR_BYTES = 16_384
_log = logging.getLogger("harness.serving")


@dataclass(frozen=True, slots=True)
class ShutdownLimits:
    """Time limits for the end of an app."""

    quit_s: float = 5.0
    """Seconds to quit after it was asked to."""
    term_s: float = 3.0
    """Seconds after SIGTERM, before its process group is killed."""


class ServedApp(AppService):
    """An app in its own process group, from `start` to `stop`. Does not run `command` in a shell."""

    def __init__(
        self,
        command: Sequence[str],
        page: web.WebSocketResponse,
        transport: asyncio.Transport | None,
        limits: ShutdownLimits,
    ) -> None:
        super().__init__(
            "",
            write_bytes=page.send_bytes,
            write_str=page.send_str,
            close=page.close,  # type: ignore[arg-type] # returns whether it was open
            download_manager=DownloadManager(),
        )
        self.unseen_words = ""
        """What the app wrote to standard error, escaped, if no page has shown it."""
        self.session = ""
        """Id of the session, as the app printed it at its end."""
        self._arguments = tuple(command)
        self._page = page
        self._transport = transport
        self._limits = limits
        self._ending: asyncio.Task[None] | None = None

    @property
    def ending(self) -> bool:
        """Whether the app was asked to quit, or has ended."""
        return self._ending is not None

    async def run(self) -> None:
        """Forward the output of the app until it has ended, its last words included."""
        assert self._process is not None
        errors = asyncio.create_task(_tail(self._process.stderr))
        try:
            await self._forward(self._process.stdout)
        finally:
            await self._end_process()
        await asyncio.wait({errors}, timeout=_CLOSE_S)
        words = visible(errors.result().decode("utf-8", "replace")) if errors.done() else ""
        if found := _RESUME.search(words):
            self.session = found[1]
        try:
            if words:
                await self._page.send_bytes(_LEAVE_SCREEN + words.replace("\n", "\r\n").encode())
            await self._page.close()
        except ConnectionError:
            self.unseen_words = words

    async def stop(self) -> None:
        """Ask the app to quit, then send SIGTERM, then SIGKILL to its group. Returns when all of it has ended."""
        await self._end_process()
        if self._transport is not None:
            asyncio.get_running_loop().call_later(_CLOSE_S, self._transport.abort)  # a page that reads no more
        assert self._task is not None
        await asyncio.wait({self._task})

    def kill(self) -> None:
        """Kill the process group of an app that has not ended."""
        if self._process is not None and (self._ending is None or not self._ending.done()):
            self._signal(signal.SIGKILL)

    async def on_meta(self, data: bytes) -> None:
        """Open pages of the web in the browser. Nothing else that an app may ask for is done. Raises EOFError."""
        match json.loads(data):
            case {"type": "exit"}:
                raise EOFError
            case {"type": "open_url", "url": str(url), "new_tab": bool()} if url.startswith(("http://", "https://")):
                await super().on_meta(data)

    def _build_environment(self, width: int = 80, height: int = 24) -> dict[str, str]:
        own = {
            "TEXTUAL_DRIVER": "harness.ui.web.driver:ServedDriver",
            "HARNESS_PLAIN": "0",
            "TERM": "xterm-256color",
            "COLORTERM": "truecolor",
        }
        return super()._build_environment(width, height) | own

    async def _open_app_process(self, width: int = 80, height: int = 24) -> Process:
        self._process = await asyncio.create_subprocess_exec(
            *self._arguments,
            env=self._build_environment(width, height),
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            start_new_session=True,
        )
        self._stdin = self._process.stdin
        return self._process

    async def _forward(self, packets: asyncio.StreamReader | None) -> None:
        """Forward packets until the end of output or the first invalid one; see `textual/drivers/web_driver.py`."""
        assert packets is not None
        try:
            while await packets.readuntil(b"\n") != _BEGIN:
                pass
            while True:
                if (kind := await packets.readexactly(1)) not in (b"D", b"M"):
                    raise ValueError(f"{kind!r} is not a kind of packet")
                payload = await packets.readexactly(int.from_bytes(await packets.readexactly(4), "big"))
                with suppress(ConnectionError):  # without its page, an app is ending and may still draw
                    await (self.on_data if kind == b"D" else self.on_meta)(payload)
        except (EOFError, asyncio.LimitOverrunError):
            return
        except ValueError as error:
            _log.warning("an app sent an invalid packet: %s", error)

    async def _end_process(self) -> None:
        if self._ending is None:
            self._ending = asyncio.create_task(self._escalate())
        await asyncio.shield(self._ending)

    async def _escalate(self) -> None:
        assert self._process is not None
        with suppress(TimeoutError):
            await asyncio.wait_for(self.send_meta({"type": "quit"}), 1)
        self.stdin.close()
        for patience_s, number in ((self._limits.quit_s, signal.SIGTERM), (self._limits.term_s, signal.SIGKILL)):
            try:
                await asyncio.wait_for(self._process.wait(), patience_s)
                break
            except TimeoutError:
                self._signal(number)
        self._signal(signal.SIGKILL)  # what is left in its group
        await self._process.wait()

    def _signal(self, number: signal.Signals) -> None:
        assert self._process is not None
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, number)


async def _tail(stream: asyncio.StreamReader | None) -> bytes:
    """The last 16 KiB of a stream."""
    assert stream is not None
    tail = b""
    while data := await stream.read(65_536):
        tail = (tail + data)[-_STDERR_BYTES:]
    return tail


def app_command(flags: Sequence[str]) -> tuple[str, ...]:
    """The command to run `harness` with these flags.

    `-P` excludes the current folder from imports (https://docs.python.org/3/using/cmdline.html#cmdoption-P).
    """
    return (sys.executable, "-P", "-m", "harness", *flags)
