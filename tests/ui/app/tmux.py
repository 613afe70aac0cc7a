"""The real command in a real terminal: tmux, with a server of its own for each test.

A client in control mode is told of every output, so that a test waits for what it wants to see and not for time.
"""

import asyncio
import os
import re
import shlex
import shutil
import signal
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Self

from harness.ui.app.question import OPEN
from tests.ui.program import COMMAND, LIMIT_S, Place

TMUX = shutil.which("tmux")
SCREEN = {"TERM": "xterm-256color", "HARNESS_PLAIN": "", "NO_COLOR": ""}
REASON = "tmux is not installed"


class Tmux:
    """A command in a tmux window of its own; use as an async context manager."""

    def __init__(self, place: Place, *arguments: str, columns: int = 120, rows: int = 40, **environment: str) -> None:
        self._place = place
        self._arguments = arguments
        self._size = columns, rows
        self._environment = place.environment | SCREEN | environment
        self._output = asyncio.Event()

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
        """Wait until all texts stand on the screen, and none of `gone`; returns the screen.

        Three spaces or more in a text stand for the room between two columns, however wide it is.
        """
        return await self.sees_that(
            lambda screen: all(_stands(text, screen) for text in texts) and not any(text in screen for text in gone),
            f"{texts} and not {gone}" if gone else str(texts),
        )

    async def asks(self, *texts: str, gone: tuple[str, ...] = ()) -> str:
        """Wait for a question with all these texts that takes keys; returns the screen."""
        return await self.sees(*texts, OPEN, gone=gone)

    async def sees_that(self, holds: Callable[[str], bool], what: str) -> str:
        """Wait until something holds of the screen."""
        screen = ""
        try:
            async with asyncio.timeout(LIMIT_S):
                while True:
                    self._output.clear()
                    screen = await self.screen()
                    if holds(screen):
                        return screen
                    await self._output.wait()
        except TimeoutError:
            raise AssertionError(f"{what} did not come; the screen:\n{screen}") from None

    async def screen(self) -> str:
        """What stands on the screen now."""
        return await self._run("capture-pane", "-p")

    async def scrollback(self) -> str:
        """Everything that the terminal has kept, down to the screen."""
        return await self._run("capture-pane", "-p", "-S", "-")

    async def type(self, text: str) -> None:
        """Type this as it is."""
        await self._run("send-keys", "-l", "--", text)

    async def say(self, text: str) -> None:
        """Type this, and press Enter."""
        await self.type(text)
        await self.press("Enter")

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
        """Whether the alternate screen is on, which a program has to leave when it ends."""
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
