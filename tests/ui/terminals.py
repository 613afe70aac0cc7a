"""The command on a terminal: a pseudo-terminal (`Terminal`), or a window of tmux that draws its screen (`Tmux`)."""

import asyncio
import fcntl
import os
import pty
import re
import shlex
import shutil
import signal
import struct
import tempfile
import termios
from abc import ABC, abstractmethod
from codecs import getincrementaldecoder
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Self

import psutil

from harness.ui.app.question import OPEN
from tests.ui.processes import until
from tests.ui.program import LIMIT_S, Place
from tests.ui.warm import COMMAND, begin

TMUX = shutil.which("tmux")
SCREEN = {"TERM": "xterm-256color", "HARNESS_PLAIN": "", "NO_COLOR": ""}
REASON = "tmux is not installed"


class Shown(ABC):
    """What a terminal shows, and how a test waits for it: for the next output, up to one time limit."""

    def __init__(self) -> None:
        self._output = asyncio.Event()

    @abstractmethod
    async def _look(self) -> str:
        """The text shown now."""

    async def sees_that(self, holds: Callable[[str], bool], what: str) -> str:
        """Wait until the shown text satisfies a condition; return the text."""
        return await self._sees(self._look, holds, what)

    async def _sees(self, look: Callable[[], Awaitable[str]], holds: Callable[[str], bool], what: str) -> str:
        try:
            async with asyncio.timeout(LIMIT_S):
                while True:
                    self._output.clear()
                    if holds(seen := await look()):
                        return seen
                    await self._output.wait()
        except TimeoutError:
            raise AssertionError(f"{what} did not come; the screen:\n{await self._look()}") from None


class Terminal(Shown):
    """The command in a pseudo-terminal of its own; use as an async context manager."""

    def __init__(
        self,
        place: Place,
        *arguments: str,
        command: Sequence[str] = COMMAND,
        environment: Mapping[str, str] = MappingProxyType({}),
        cold: bool = False,
    ) -> None:
        """`command` and `cold` as for `begin`."""
        super().__init__()
        environment = place.environment | dict(environment)
        self._begin = partial(begin, place.folder, arguments, environment, command=command, cold=cold)
        self._seen = 0
        self._decoder = getincrementaldecoder("utf-8")("replace")  # a read may end inside a character
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
        self.screen += self._decoder.decode(data, final=not data).replace("\r", "")
        self._output.set()

    async def sees(self, text: str) -> str:
        """Wait for `text` after the last match; return the output up to its end."""
        await self.sees_that(lambda screen: text in screen[self._seen :], repr(text))
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

    async def _look(self) -> str:
        return self.screen

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


class Tmux(Shown):
    """The command in a window of a tmux server of its own; use as an async context manager.

    A client in control mode reports every output, so that a test waits for what it wants to see and not for time.
    """

    def __init__(self, place: Place, *arguments: str, columns: int = 120, rows: int = 40, **environment: str) -> None:
        super().__init__()
        self._place = place
        self._arguments = arguments
        self._size = columns, rows
        self._environment = place.environment | SCREEN | environment

    async def __aenter__(self) -> Self:
        self._folder = tempfile.mkdtemp(prefix="tmux-")
        self._socket = str(Path(self._folder) / "s")
        columns, rows = self._size
        unwanted = ("TERM", "COLUMNS", "LINES")  # the terminal says what it is and how large
        variables = [f"{name}={value}" for name, value in self._environment.items() if name not in unwanted]
        program = shlex.join(("env", "-u", "COLUMNS", "-u", "LINES", *variables, *COMMAND, *self._arguments))
        ended = f"{program}; echo exit code $?; stty -a | tr '; ' '\\n\\n' | grep -x -e icanon -e -icanon; exec cat"
        await self._run("new-session", "-d", "-x", str(columns), "-y", str(rows), "-c", str(self._place.folder), ended)
        await self._run("set-option", "-g", "window-size", "manual")
        await self.resize(columns, rows)
        self._control = await asyncio.create_subprocess_exec(
            *self._tmux("-C", "attach", "-f", "ignore-size"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
        self._listening = asyncio.create_task(self._listen())
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._run("kill-server")
        await self._control.wait()
        self._listening.cancel()
        await asyncio.gather(self._listening, return_exceptions=True)
        shutil.rmtree(self._folder, ignore_errors=True)

    async def sees(self, *texts: str, gone: tuple[str, ...] = ()) -> str:
        """Wait until the screen shows all texts and none of `gone`; return the screen.

        Three or more spaces in a text match the gap between two columns, however wide.
        """
        return await self.sees_that(
            lambda screen: all(_stands(text, screen) for text in texts) and not any(text in screen for text in gone),
            f"{texts} and not {gone}" if gone else str(texts),
        )

    async def asks(self, *texts: str, gone: tuple[str, ...] = ()) -> str:
        """Wait for a question with all these texts that takes keys; returns the screen."""
        return await self.sees(*texts, OPEN, gone=gone)

    async def screen(self) -> str:
        """The current screen."""
        return await self._run("capture-pane", "-p")

    async def _look(self) -> str:
        return await self.screen()

    async def scrollback(self) -> str:
        """Everything that the terminal has kept, down to the screen."""
        return await self._run("capture-pane", "-p", "-S", "-")

    async def type(self, text: str) -> None:
        """Type this as it is."""
        await self._run("send-keys", "-l", "--", text)

    async def say(self, text: str) -> None:
        """Type this and press Enter, and wait until each was seen to: keys that come in one burst would be a paste."""
        end = text.split()[-1][-8:]
        await self.type(text)
        await self._sees(self._line, lambda line: end in line, repr(text))
        typed = await self._cursor()
        await self.press("Enter")
        await self._sees(self._cursor, lambda cursor: cursor != typed, f"the line after {text!r}")

    async def _line(self) -> str:
        """The line that has the cursor."""
        row = int((await self._cursor()).partition(",")[2])
        return (await self.screen()).splitlines()[row]

    async def _cursor(self) -> str:
        return await self._run("display-message", "-p", "#{cursor_x},#{cursor_y}")

    async def paste(self, file: Path) -> None:
        """Paste what a file holds, as a terminal does that marks no paste: line by line, each with Enter."""
        await self._run("load-buffer", str(file))
        await self._run("paste-buffer")

    async def press(self, *keys: str) -> None:
        """Press keys by the names tmux has for them: Enter, Escape, C-c, F2, Up, BTab."""
        await self._run("send-keys", *keys)

    async def resize(self, columns: int, rows: int) -> None:
        """Give the window another size."""
        await self._run("resize-window", "-x", str(columns), "-y", str(rows))

    async def processes(self) -> list[int]:
        """The ids of the running command itself, if it runs."""
        shell = int((await self._run("display-message", "-p", "#{pane_pid}")).strip())
        children = Path(f"/proc/{shell}/task/{shell}/children").read_text().split()
        return [int(child) for child in children]

    async def send(self, number: signal.Signals) -> None:
        """Send the command a signal."""
        for process in await self.processes():
            with suppress(ProcessLookupError):  # it has just ended
                os.kill(process, number)

    async def alternate(self) -> bool:
        """Whether the alternate screen is on; a program must leave it when it ends."""
        return (await self._run("display-message", "-p", "#{alternate_on}")).strip() == "1"

    async def modes(self) -> str:
        """Mouse and cursor modes that are on, as tmux counts them."""
        flags = "mouse=#{mouse_any_flag} cursor=#{cursor_flag} keypad=#{keypad_flag}"
        return (await self._run("display-message", "-p", flags)).strip()

    async def _listen(self) -> None:
        assert self._control.stdout is not None
        while await self._control.stdout.readline():
            self._output.set()

    def _tmux(self, *arguments: str) -> tuple[str, ...]:
        return (str(TMUX), "-S", self._socket, "-f", "/dev/null", *arguments)

    async def _run(self, *arguments: str) -> str:
        process = await asyncio.create_subprocess_exec(
            *self._tmux(*arguments), stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
        )
        out, err = await process.communicate()
        assert process.returncode == 0, err.decode()
        return out.decode()


def _stands(text: str, screen: str) -> bool:
    return re.search(re.sub(r"(\\ ){3,}", " +", re.escape(text)), screen) is not None
