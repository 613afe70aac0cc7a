"""The base of the apps: a split view with its keys, and a terminal that is always restored."""

import asyncio
import os
import signal
from collections.abc import Callable, Sequence
from types import FrameType
from typing import ClassVar

from textual.actions import SkipAction
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.driver import Driver
from textual.drivers.linux_driver import LinuxDriver
from textual.filter import LineFilter
from textual.geometry import Offset, Spacing
from textual.screen import ModalScreen, Screen
from textual.selection import SelectEnd, Selection, SelectState
from textual.timer import Timer, TimerCallback
from textual.widget import Widget

from harness.ui.app.cell_filter import CellFilter, joins_clusters
from harness.ui.app.chat import Chat
from harness.ui.app.panel_view import BREAKPOINTS, SPLIT_CSS, VERTICAL_BREAKPOINTS, FullPanel, PanelView, SplitView
from harness.ui.app.readable_colours import ReadableColours
from harness.ui.app.terminal_driver import TerminalDriver

SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
"""Signals that quit the app, so that the terminal is restored."""


def _ignore(_number: int, _frame: FrameType | None) -> None:
    """Unlike SIG_IGN, a handler is not inherited by programs that are started later."""


class TerminalApp(ReadableColours):
    """An app with a SplitView. `run_to_end` returns its exit code or raises its error."""

    CSS = (
        SPLIT_CSS
        + """
    PromptArea { padding: 0 1; }
    #prompt-row { border-top: solid $rule; border-bottom: solid $rule; }
    """
    )
    ENABLE_COMMAND_PALETTE = False
    PAUSE_GC_ON_SCROLL = True
    HORIZONTAL_BREAKPOINTS = BREAKPOINTS
    VERTICAL_BREAKPOINTS = VERTICAL_BREAKPOINTS
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
        """The error that ended the app; raised once the terminal is restored."""
        self._hung_up = False
        self._cell_filter = CellFilter()
        self._joins_clusters = joins_clusters(os.environ)

    def get_line_filters(self) -> Sequence[LineFilter]:
        """The filters of Textual, and one for terminals that do not join the parts of a character."""
        found = super().get_line_filters()
        joins = self._joins_clusters and isinstance(self._driver, LinuxDriver)
        return found if joins else [*found, self._cell_filter]

    def get_default_screen(self) -> Screen[None]:
        """A screen that selects text within one column."""
        return ColumnScreen(id="_default")

    def get_driver_class(self) -> type[Driver]:
        """On a terminal, a driver that survives its loss."""
        chosen = super().get_driver_class()
        return TerminalDriver if chosen is LinuxDriver else chosen

    def on_mount(self) -> None:
        # After Ctrl+Z and fg the terminal is empty, but Textual draws changes only.
        self.app_resume_signal.subscribe(self, lambda _: self.call_after_refresh(self.action_repaint))

    def after(self, delay: float, callback: Callable[[], None]) -> asyncio.TimerHandle:
        """Call back in `delay` seconds, between two messages of the app. Use an `Alarm` for what must not get lost."""
        return asyncio.get_running_loop().call_later(delay, self.call_next, callback)

    def set_timer(
        self, delay: float, callback: TimerCallback | None = None, *, name: str | None = None, pause: bool = False
    ) -> Timer:
        """A timer of Textual itself, such as the one of a resize, that does not skip its only call if it is late."""
        timer = super().set_timer(delay, callback, name=name, pause=pause)
        timer._skip = False
        return timer

    @property
    def split_view(self) -> SplitView:
        """Conversation and panel."""
        return self.screen_stack[0].query_one(SplitView)

    def redraw_full_panel(self) -> None:
        """Draw the full-screen panel again if it is open."""
        if isinstance(self.screen, FullPanel):
            self.screen.redraw()

    def fail(self, error: BaseException) -> None:
        """Quit with an error."""
        self.failure = error
        self.exit(1)

    def on_signal(self, number: int) -> None:
        """Quit because of a signal."""
        self.exit(128 + number)

    async def run_to_end(self) -> int:
        """Run the app; returns its exit code, or raises its error.

        From then on SIGTERM and SIGHUP do nothing, so that a second one cuts neither the end of the session nor the
        last words of the process short.
        """
        loop = asyncio.get_running_loop()

        def receive(number: int, _frame: FrameType | None) -> None:
            loop.call_soon_threadsafe(self._receive, number)

        # Not with `loop.add_signal_handler`: closing the loop would let a late signal kill the process again.
        before = {number: signal.signal(number, receive) for number in SIGNALS}
        try:
            code = await self.run_async()
        finally:
            for number in SIGNALS:
                loop.remove_signal_handler(number)  # of Textual's driver for pages
            signal.signal(signal.SIGINT, before[signal.SIGINT])
            for number in (signal.SIGTERM, signal.SIGHUP):
                signal.signal(number, _ignore)
        if self.failure is not None:
            raise self.failure
        return code or 0

    def _receive(self, number: int) -> None:
        if number == signal.SIGHUP:
            if self._hung_up:
                return  # sent by the system, and again after the first failed write
            self._hung_up = True
        with self._context():  # signals arrive outside of message handlers
            self.on_signal(number)

    def _fatal_error(self) -> None:
        self.failure = self._exception
        self._close_messages_no_wait()

    # ── keys ────────────────────────────────────────────────────────────────────────────────────

    def action_repaint(self) -> None:
        self.refresh(repaint=True, layout=True)

    def action_expand(self) -> None:
        self.split_view.chat.expand_all()

    def action_panel(self) -> None:
        self.split_view.toggle_panel()

    def action_scroll(self, direction: int) -> None:
        if isinstance(self.screen, ModalScreen):
            raise SkipAction  # a list or a page of its own
        chat = self.split_view.chat
        (chat.scroll_page_down if direction > 0 else chat.scroll_page_up)(animate=False)

    def action_first(self) -> None:
        self.split_view.chat.scroll_home(animate=False)

    def action_newest(self) -> None:
        self.split_view.chat.follow()


INSIDE = Spacing(0, 1, 0, 1)
"""Cells at the sides of a column without text."""


class ColumnScreen(Screen[None]):
    """A screen on which a selection stays in the column where it began.

    Textual selects in reading order across the common ancestor of both ends. With columns, that would include the other
    column as soon as the pointer leaves the text.
    """

    def validate__select_state(self, state: SelectState | None) -> SelectState | None:
        """End a drag that left its column at the nearest cell inside."""
        column = None if state is None else column_of(state.start.content_widget or state.start.container)
        if state is None or state.end is None or column is None:
            return state
        region = column.scrollable_content_region.shrink(INSIDE)
        if not region or column in (state.end.content_widget or state.end.container).ancestors_with_self:
            return state
        x, y = state.screen_offset
        nearest = Offset(min(max(x, region.x), region.right - 1), min(max(y, region.y), region.bottom - 1))
        widget, offset = self.get_widget_and_offset_at(*nearest)
        found = widget is not None and offset is not None and column in widget.ancestors_with_self
        return state.update_end(nearest, SelectEnd(column, widget if found else None, offset if found else None))

    def validate_selections(self, selections: dict[Widget, Selection]) -> dict[Widget, Selection]:
        """Remove other columns from the selection."""
        state = self._select_state
        column = None if state is None else column_of(state.start.content_widget or state.start.container)
        if column is None:
            return selections
        return {widget: chosen for widget, chosen in selections.items() if column in widget.ancestors_with_self}


def column_of(widget: Widget) -> Widget | None:
    """The column of a widget; None for others such as the status line."""
    above = (one for one in widget.ancestors_with_self if isinstance(one, Chat | PanelView | VerticalScroll))
    return next(above, None)
