"""A driver that survives the loss of its terminal, such as a closed window.

Textual's writer thread ends at the first error, and the app would then wait for it forever. So the app writes to a file
object that swallows the error.
"""

import os
import signal
import sys
from io import TextIOWrapper
from typing import TextIO, cast

from textual.app import App
from textual.drivers.linux_driver import LinuxDriver

from harness.base.external_text import visible

SAVE_TITLE, RESTORE_TITLE = "\x1b[22;2t", "\x1b[23;2t"
"""Window operations of xterm (https://invisible-island.net/xterm/ctlseqs/ctlseqs.html); other terminals ignore them."""
WITHOUT_TITLE = ("", "dumb", "linux")
"""Kinds of terminals that would print the text."""


class TerminalDriver(LinuxDriver):
    """Draws on a terminal while there is one."""

    def __init__(
        self, app: App[object], *, debug: bool = False, mouse: bool = True, size: tuple[int, int] | None = None
    ) -> None:
        super().__init__(app, debug=debug, mouse=mouse, size=size)
        self._title = ""
        if sys.__stderr__ is not None:
            self._file = cast(TextIOWrapper, TerminalStream(sys.__stderr__))

    def show_title(self, text: str) -> None:
        """Set the title of the terminal, which is restored when the app ends or is suspended."""
        if text == self._title or os.environ.get("TERM", "") in WITHOUT_TITLE:
            return
        if not self._title:
            self.write(SAVE_TITLE)
        self._title = text
        self.write(f"\x1b]2;{visible(text)}\x07")

    def stop_application_mode(self) -> None:
        """Restore the terminal."""
        if self._title:
            self._title = ""
            self.write(RESTORE_TITLE)
        super().stop_application_mode()

    def resume_application_mode(self) -> None:
        """Draw again after another program had the terminal; not if the app has ended meanwhile.

        Textual would then start a thread that reads from the lost terminal forever.
        """
        if not self._app._exit:
            super().resume_application_mode()

    def _sigcont_application(self, *_: object) -> None:
        """Resume after Ctrl+Z only. SIGCONT also comes with SIGHUP; Textual would then start its threads a second time
        and wait for the first ones forever."""
        if self._must_signal_resume:
            super()._sigcont_application()


class TerminalStream:
    """Standard error; when it cannot be written, text is discarded and SIGHUP is sent to the program."""

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def write(self, text: str) -> int:
        """Write or discard a text."""
        try:
            return self._file.write(text)
        except OSError:
            self._lose()
            return len(text)

    def flush(self) -> None:
        """Flush, or discard the buffer."""
        try:
            self._file.flush()
        except OSError:
            self._lose()

    def fileno(self) -> int:
        """The file descriptor."""
        return self._file.fileno()

    def isatty(self) -> bool:
        """Whether it is a terminal."""
        return self._file.isatty()

    def _lose(self) -> None:
        discard_output(self._file)
        os.kill(os.getpid(), signal.SIGHUP)


def discard_output(terminal: TextIO) -> None:
    """Redirect standard output and a lost terminal to the null device, so that the flush at exit does not fail."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for number in (sys.stdout.fileno(), terminal.fileno()):
        os.dup2(nowhere, number)
    os.close(nowhere)
