"""What every app of ours does: a stage and its keys, and a terminal that is given back whatever happens."""

import asyncio
import signal
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.driver import Driver
from textual.drivers.linux_driver import LinuxDriver
from textual.screen import Screen

from harness.ui.app.column_screen import ColumnScreen
from harness.ui.app.full_panel import FullPanel
from harness.ui.app.readable_colours import ReadableColours
from harness.ui.app.split_view import BREAKPOINTS, STAGE_CSS, Stage
from harness.ui.app.terminal_driver import TerminalDriver

HEEDED = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
"""Signals that would end the process with the terminal as it is (terminal §4); the app ends itself instead."""


class TerminalApp(ReadableColours):
    """An app with a stage. Ends with an exit code; what it failed with is raised by who ran it."""

    CSS = STAGE_CSS + "PromptArea { padding: 0 1; }"
    ENABLE_COMMAND_PALETTE = False
    PAUSE_GC_ON_SCROLL = True
    HORIZONTAL_BREAKPOINTS = BREAKPOINTS
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+z", "suspend_process", "suspend", show=False, priority=True),
        Binding("ctrl+l", "repaint", "draw again", show=False, priority=True),
        Binding("ctrl+o", "expand", "expand", show=False, priority=True),
        Binding("f2", "panel", "panel", show=False),
        Binding("pageup", "scroll(-1)", "earlier", show=False, priority=True),
        Binding("pagedown", "scroll(1)", "later", show=False, priority=True),
        Binding("ctrl+home", "first", "first", show=False, priority=True),
        Binding("ctrl+end", "newest", "newest", show=False, priority=True),
    ]

    def __init__(self) -> None:
        super().__init__()
        self.failure: BaseException | None = None
        """What ended the app although nobody wanted it to; raised again once the terminal is back."""
        self._hung_up = False

    def get_default_screen(self) -> Screen[None]:
        """A screen whose columns are selected apart."""
        return ColumnScreen(id="_default")

    def get_driver_class(self) -> type[Driver]:
        """Where Textual would draw on a terminal, a driver that survives the terminal."""
        chosen = super().get_driver_class()
        return TerminalDriver if chosen is LinuxDriver else chosen

    def on_mount(self) -> None:
        # After Ctrl+Z and fg the terminal is empty, and Textual draws only what it takes for changed.
        self.app_resume_signal.subscribe(self, lambda _: self.call_after_refresh(self.action_repaint))

    @property
    def stage(self) -> Stage:
        """Conversation and panel."""
        return self.screen_stack[0].query_one(Stage)

    def redraw_full_panel(self) -> None:
        """What the panel shows has changed; it may be on the whole screen."""
        if isinstance(self.screen, FullPanel):
            self.screen.redraw()

    def fail(self, error: BaseException) -> None:
        """End, and let the one who ran the app raise this."""
        self.failure = error
        self.exit(1)

    def signalled(self, number: int) -> None:
        """A signal asks the program to end."""
        self.exit(128 + number)

    async def run_to_end(self) -> int:
        """Run the app; returns its exit code, or raises what it failed with."""
        loop = asyncio.get_running_loop()
        for number in HEEDED:
            loop.add_signal_handler(number, self._heed, number)
        try:
            code = await self.run_async()
        finally:
            for number in HEEDED:
                loop.remove_signal_handler(number)
        if self.failure is not None:
            raise self.failure
        return code or 0

    def _heed(self, number: int) -> None:
        if number == signal.SIGHUP:
            if self._hung_up:
                return  # the system tells of a terminal that has gone, and so does the first write that fails
            self._hung_up = True
        with self._context():  # a signal arrives outside of every message
            self.signalled(number)

    def _fatal_error(self) -> None:
        """A handler of the app failed: give the terminal back; the command line says it in one sentence."""
        self.failure = self._exception
        self._close_messages_no_wait()

    # ── keys ────────────────────────────────────────────────────────────────────────────────────

    def action_repaint(self) -> None:
        self.refresh(repaint=True, layout=True)

    def action_expand(self) -> None:
        self.stage.chat.expand_all()

    def action_panel(self) -> None:
        self.stage.toggle_panel()

    def action_scroll(self, direction: int) -> None:
        chat = self.stage.chat
        (chat.scroll_page_down if direction > 0 else chat.scroll_page_up)(animate=False)

    def action_first(self) -> None:
        self.stage.chat.scroll_home(animate=False)

    def action_newest(self) -> None:
        self.stage.chat.follow()
