"""A terminal that can go away: its window is closed, its connection is lost.

Textual's writing thread ends at the first error, and then the app waits for ever for that thread to take more. So the
app is given a file that survives its terminal.
"""

import os
import signal
import sys
from io import TextIOWrapper
from typing import TextIO, cast

from textual.app import App
from textual.drivers.linux_driver import LinuxDriver


class TerminalDriver(LinuxDriver):
    """Draws on a terminal as long as there is one."""

    def __init__(
        self, app: App[object], *, debug: bool = False, mouse: bool = True, size: tuple[int, int] | None = None
    ) -> None:
        super().__init__(app, debug=debug, mouse=mouse, size=size)
        if sys.__stderr__ is not None:
            self._file = cast(TextIOWrapper, Enduring(sys.__stderr__))

    def _sigcont_application(self, *_: object) -> None:
        """Draw again after Ctrl+Z, and only then: SIGCONT comes with SIGHUP too, and to a program that never stopped.

        Textual would start a second thread for keys and one for writing, and wait for the first ones for ever.
        """
        if self._must_signal_resume:
            super()._sigcont_application()


class Enduring:
    """Standard error. Once it cannot be written any more, text goes nowhere, and the program hears SIGHUP."""

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def write(self, text: str) -> int:
        """Write, or lose the text."""
        try:
            return self._file.write(text)
        except OSError:
            self._lose()
            return len(text)

    def flush(self) -> None:
        """Send what was written on its way, or lose it."""
        try:
            self._file.flush()
        except OSError:
            self._lose()

    def fileno(self) -> int:
        """Number of the file."""
        return self._file.fileno()

    def isatty(self) -> bool:
        """Whether it is a terminal."""
        return self._file.isatty()

    def _lose(self) -> None:
        give_up(self._file)
        os.kill(os.getpid(), signal.SIGHUP)


def give_up(terminal: TextIO) -> None:
    """Let what is still said to a terminal that has gone, and to standard output, be said to nobody: that is no error.

    Else the flush at exit would fail, and with it the exit code.
    """
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for number in (sys.stdout.fileno(), terminal.fileno()):
        os.dup2(nowhere, number)
    os.close(nowhere)
