"""A driver that survives the loss of its terminal, such as a closed window.

Textual's writer thread ends at the first error, and the app would then wait for it forever. So the app writes to a file
object that swallows the error.
"""

import os
import selectors
import signal
import sys
from codecs import getincrementaldecoder
from io import TextIOWrapper
from time import monotonic
from typing import TextIO, cast

from textual._xterm_parser import XTermParser
from textual.app import App
from textual.drivers.linux_driver import LinuxDriver
from textual.events import Paste

from harness.base.external_text import visible
from harness.ui.terminal_input import AnswerFilter, is_paste, runs

SAVE_TITLE, RESTORE_TITLE = "\x1b[22;2t", "\x1b[23;2t"
"""Window operations of xterm (https://invisible-island.net/xterm/ctlseqs/ctlseqs.html); other terminals ignore them."""
WITHOUT_TITLE = ("", "dumb", "linux")
"""Kinds of terminals that would print the text."""
READ_BYTES = 65_536
LOOK_S = 0.1
"""Longest wait for input. Esc without more within it is the key."""
BURST_S, BURST_CHARACTERS = 0.05, 256
"""Seconds without input that end a burst, and the characters of each of its parts but the last."""
LOST_S = 1.0
"""Seconds to wait for the rest of an answer."""


class TerminalInput:
    """Reads a terminal."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._selector = selectors.SelectSelector()
        self._selector.register(descriptor, selectors.EVENT_READ)
        self._decode = getincrementaldecoder("utf-8")("surrogateescape").decode
        self._next = ""

    def read(self) -> str:
        """What arrived at once, with the rest of a burst; an empty text if nothing came. Raises EOFError."""
        part, self._next = self._next, ""
        if not part and self._selector.select(LOOK_S):
            part = self._read()
        text = part
        while len(part) >= BURST_CHARACTERS and self._selector.select(BURST_S):
            if (part := self._read()) in ("\r", "\n"):  # typed: it was sent alone
                self._next = part
            else:
                text += part
        return text

    def _read(self) -> str:
        if not (data := os.read(self._descriptor, READ_BYTES)):
            raise EOFError
        return self._decode(data)


class TerminalDriver(LinuxDriver):
    """Draws on a terminal while there is one."""

    def __init__(
        self, app: App[object], *, debug: bool = False, mouse: bool = True, size: tuple[int, int] | None = None
    ) -> None:
        super().__init__(app, debug=debug, mouse=mouse, size=size)
        self._title = ""
        if sys.__stderr__ is not None:
            self._file = cast(TextIOWrapper, TerminalStream(sys.__stderr__))

    def write(self, data: str) -> None:
        """Write; discard the text while another program has the terminal, and after the app has left it.

        Textual would put it into a short queue that nobody reads then, and wait forever once that is full.
        """
        if self._writer_thread is not None and self._writer_thread.is_alive():
            super().write(data)

    def show_title(self, text: str) -> None:
        """Set the title of the terminal, which is restored when the app ends or is suspended."""
        if text == self._title or os.environ.get("TERM", "") in WITHOUT_TITLE:
            return
        if not self._title:
            self.write(SAVE_TITLE)
        self._title = text
        self.write(f"\x1b]2;{visible(text)}\x07")

    def run_input_thread(self) -> None:
        """Read keys and pastes as Textual does, and also pastes that are not marked, but no answers of the terminal."""
        source, parser, answers = TerminalInput(self.fileno), XTermParser(self._debug), AnswerFilter()
        read_at = monotonic()
        while not self.exit_event.is_set():
            try:
                text = source.read()
            except EOFError:
                self.exit_event.wait(LOOK_S)
                continue
            marked = answers.pasting
            passed = answers.feed(text) if text else answers.release()
            if text:
                read_at = monotonic()
            elif monotonic() - read_at > LOST_S:
                answers.drop()
            for run in filter(None, [passed] if marked else runs(passed)):
                for event in [Paste(run)] if not marked and is_paste(run) else parser.feed(run):
                    self.process_message(event)
            if not text and parser._timeout_time is not None:
                parser._timeout_time = 0.0  # the key Esc has been waited for already
                for event in parser.tick():
                    self.process_message(event)

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
