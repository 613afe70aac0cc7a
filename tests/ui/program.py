"""The real command as a process: without a terminal, and in one."""

import asyncio
import fcntl
import os
import pty
import re
import signal
import struct
import termios
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Self

import psutil

from tests.ui.processes import until
from tests.ui.warm import COMMAND, ROOT, Piped, begin

__all__ = ["COMMAND", "LIMIT_S", "ROOT", "Finished", "Place", "Terminal", "end_of", "run", "start"]

LIMIT_S = 30.0


@dataclass(frozen=True)
class Place:
    """A folder to work in, and an environment that knows nothing of the machine's own settings."""

    folder: Path
    base_url: str | None = None

    @property
    def state(self) -> Path:
        return self.folder.parent / "state"

    @property
    def environment(self) -> dict[str, str]:
        strange = ("ANTHROPIC_", "HARNESS_", "MODEL_ID", "FALLBACK_MODEL_ID", "XDG_", "NO_COLOR", "TERM")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(strange)}
        own = {
            "HARNESS_STATE_DIR": str(self.state),
            "XDG_CONFIG_HOME": str(self.folder.parent / "config"),
            "HARNESS_HOME_DIR": str(self.folder.parent / "home"),
            "PYTHONPATH": str(ROOT),
            "TERM": "xterm",
            "NO_COLOR": "1",
            "HARNESS_PLAIN": "1",
        }
        server = {"ANTHROPIC_BASE_URL": self.base_url, "ANTHROPIC_API_KEY": "a-key-for-tests"} if self.base_url else {}
        return kept | own | server


@dataclass(frozen=True)
class Finished:
    """How a process ended."""

    code: int
    out: str
    err: str


async def start(place: Place, *arguments: str, env: dict[str, str] | None = None, cold: bool = False) -> Piped:
    """The command with three pipes, in a fork of a process that has everything loaded; `cold`: with nothing loaded."""
    return await Piped.begin(place.folder, arguments, place.environment | (env or {}), cold=cold)


async def run(place: Place, *arguments: str, stdin: str = "", env: dict[str, str] | None = None) -> Finished:
    """Run the command to its end with `stdin` piped in."""
    return await end_of(await start(place, *arguments, env=env), stdin)


async def end_of(process: Piped, stdin: str = "") -> Finished:
    try:
        async with asyncio.timeout(LIMIT_S):
            out, err = await process.communicate(stdin.encode())
    except TimeoutError:
        process.kill()
        raise
    return Finished(process.returncode or 0, out.decode(), err.decode())


class Terminal:
    """The command in a terminal of its own; use as an async context manager."""

    def __init__(
        self,
        place: Place,
        *arguments: str,
        command: Sequence[str] = COMMAND,
        environment: Mapping[str, str] = MappingProxyType({}),
        cold: bool = False,
    ) -> None:
        """`command` and `cold` as for `begin`."""
        environment = place.environment | dict(environment)
        self._begin = partial(begin, place.folder, arguments, environment, command=command, cold=cold)
        self._arrived = asyncio.Event()
        self._seen = 0
        self.screen = ""
        """Everything the terminal was sent so far, without carriage returns."""

    async def __aenter__(self) -> Self:
        self._master, theirs = pty.openpty()
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 160, 0, 0))
        try:
            self._program = await asyncio.to_thread(self._begin, [theirs])
        finally:
            os.close(theirs)
        asyncio.get_running_loop().add_reader(self._master, self._read)
        return self

    async def __aexit__(self, *_: object) -> None:
        self.hang_up()
        self._program.kill()
        await self._program.ends()

    def _read(self) -> None:
        try:
            data = os.read(self._master, 65_536)
        except OSError:  # the other side has ended
            data = b""
        if not data:
            asyncio.get_running_loop().remove_reader(self._master)
        self.screen += data.decode("utf-8", "replace").replace("\r", "")
        self._arrived.set()

    async def sees(self, text: str) -> str:
        """Wait until `text` comes after what was seen last; returns what came up to its end."""
        try:
            async with asyncio.timeout(LIMIT_S):
                while text not in self.screen[self._seen :]:
                    self._arrived.clear()
                    await self._arrived.wait()
        except TimeoutError:
            raise AssertionError(f"{text!r} did not come; the screen:\n{self.screen}") from None
        begin, self._seen = self._seen, self.screen.index(text, self._seen) + len(text)
        return self.screen[begin : self._seen]

    async def waits(self) -> None:
        """Wait until the program waits, after a prompt for a key.

        Python's readline misses a Ctrl-C that comes between what it shows and its next wait. A thread that waits for
        the interpreter sleeps as well, and wakes every 5 ms; one that waits for a key does not wake.
        """
        program = psutil.Process(self._program.pid)
        looks = [(program.status(), program.num_ctx_switches().voluntary)]

        def asleep_for_a_while() -> bool:
            looks.append((program.status(), program.num_ctx_switches().voluntary))
            return len(looks) > 5 and set(looks[-5:]) == {(psutil.STATUS_SLEEPING, looks[-1][1])}

        await until(asleep_for_a_while)

    def type(self, text: str) -> None:
        """Press these keys; "\\x03" is Ctrl-C, "\\x04" Ctrl-D."""
        os.write(self._master, text.encode())

    def send(self, number: signal.Signals) -> None:
        """Send the program a signal."""
        self._program.send(number)

    def hang_up(self) -> None:
        """Close the terminal, as a window is closed."""
        if self._master >= 0:
            asyncio.get_running_loop().remove_reader(self._master)
            os.close(self._master)
        self._master = -1

    @property
    def waits_for_lines(self) -> bool:
        """Whether the terminal echoes and gives whole lines, as a shell needs it."""
        flags = int(termios.tcgetattr(self._master)[3])
        return flags & termios.ECHO != 0 and flags & termios.ICANON != 0

    @property
    def modes(self) -> dict[int, bool]:
        """The terminal's modes that were ever set or reset, by their number, and whether they are on now."""
        return {int(mode): letter == "h" for mode, letter in re.findall(r"\x1b\[\?(\d+)([hl])", self.screen)}

    async def ends(self) -> int:
        """Wait for the end; the exit code, or minus the signal that killed it."""
        async with asyncio.timeout(LIMIT_S):
            return await self._program.ends()
