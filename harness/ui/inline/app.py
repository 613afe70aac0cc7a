"""The app in inline mode.

Finished entries of the conversation are printed into the terminal's scrollback, once and for good. Below them is a
region with what still streams or runs, questions, the panel while it is open, the prompt and the status line.
"""

import os
import sys
from collections.abc import Iterable
from typing import ClassVar

from rich.console import RenderableType
from rich.segment import Segment
from rich.style import Style
from textual._compositor import InlineUpdate
from textual.color import Color
from textual.driver import Driver
from textual.drivers.linux_driver import LinuxDriver
from textual.events import Resize
from textual.filter import ANSIToTruecolor
from textual.messages import TerminalSupportsSynchronizedOutput
from textual.screen import Screen
from textual.strip import Strip

from harness.ui.app.app import HarnessApp, Opener
from harness.ui.inline.chat import InlineChat, InlineSplitView
from harness.ui.inline.driver import InlineDriver
from harness.ui.inline.region import DrawnLine, Region, wraps_again

THEME = "ansi-dark"
"""The colours of the terminal, unless the settings name a theme."""
INLINE_CSS = """
Screen:inline { border: none; }
ModalScreen:inline { height: 80vh; }
FullPanel:inline { height: 100vh; }
InlineSplitView, .-narrow InlineSplitView { height: auto; layout: vertical; margin: 0 0 1 0; }
InlineSplitView > InlineChat, .-narrow InlineSplitView > InlineChat { width: 1fr; height: auto; margin: 0; }
InlineSplitView > PanelView, .-narrow InlineSplitView > PanelView {
    width: 1fr; height: auto; border-left: none; border-top: solid $rule; max-width: 100%; padding: 0 1;
}
"""
NO_BACKGROUND = Style(bgcolor="default")
LEAST_ROWS = 4
"""Rows for the conversation or the panel, however small the terminal is."""


class InlineApp(HarnessApp):
    """Conversation, panel and prompt below the scrollback. Returns an exit code."""

    CSS = HarnessApp.CSS + INLINE_CSS
    INLINE_PADDING = 0
    split_view_type: ClassVar = InlineSplitView

    def __init__(self, opener: Opener) -> None:
        super().__init__(opener)
        self._region = Region(wraps=wraps_again(os.environ))
        self._background = Color(0, 0, 0)
        self.theme = THEME

    def get_driver_class(self) -> type[Driver]:
        """On a terminal, the inline driver."""
        chosen = super().get_driver_class()
        return InlineDriver if issubclass(chosen, LinuxDriver) else chosen

    def on_mount(self) -> None:
        self._chat = self.screen_stack[0].query_one(InlineChat)

    def on_resize(self, event: Resize) -> None:
        rows = max(LEAST_ROWS, event.size.height * 2 // 5)
        self.split_view.chat.styles.max_height = rows
        self.split_view.panel.styles.max_height = rows

    async def run_to_end(self) -> int:
        """Run the app, then print the unfinished entries."""
        try:
            return await super().run_to_end()
        finally:
            self._print_rest()

    # ── drawing ─────────────────────────────────────────────────────────────────────────────────

    def _display(self, screen: Screen[object], renderable: RenderableType | None) -> None:
        driver = self._driver
        if not isinstance(renderable, InlineUpdate) or not isinstance(driver, InlineDriver):
            super()._display(screen, renderable)
            return
        columns, _ = self.size
        laid_out = all(strip.cell_length <= columns for strip in renderable.strips)
        if self._batch_count or not self._running or self._closed or driver.terminal_size != self.size or not laid_out:
            return  # after a resize everything is drawn again as soon as it is laid out
        self._background = screen.styles.background
        lines = [self._drawn(strip) for strip in renderable.strips]
        printed = [self._drawn(strip).text for strip in self._filtered(self._chat.printed_lines(columns))]
        # For input methods the cursor is in the prompt; while text streams in, where a resize does least harm.
        streams = self._chat.display and self.prompt.empty
        cursor = (0, 0) if streams else screen.outer_size.clamp_offset(self.cursor_position)
        self._begin_update()
        driver.write(self._region.draw(lines, cursor, columns, printed))
        self._end_update()
        driver.flush()

    def _on_terminal_supports_synchronized_output(self, message: TerminalSupportsSynchronizedOutput) -> None:
        self._sync_available = True

    def erased_region(self) -> str:
        """The sequence that removes the region, for the driver."""
        return self._region.erase(self.size.width)

    def _print_rest(self) -> None:
        """Print the remaining entries. The terminal is restored by now."""
        terminal = sys.__stderr__
        if terminal is None or self.controller is None or not isinstance(self._driver, InlineDriver):
            return
        with self._context():
            rest = self.controller.views.transcript.entries
            strips = self._chat.printed_lines(self.size.width, rest)
            lines = [self._drawn(strip).text for strip in self._filtered(strips)]
        terminal.write("".join(f"{line}\n" for line in lines))
        terminal.flush()

    def _filtered(self, strips: Iterable[Strip]) -> Iterable[Strip]:
        for strip in strips:
            filtered = strip
            for line_filter in self.get_line_filters():
                if not isinstance(line_filter, ANSIToTruecolor):  # the scrollback has the terminal's colours
                    filtered = filtered.apply_filter(line_filter, self._background)
            yield filtered

    def _drawn(self, strip: Strip) -> DrawnLine:
        """A line on the background of the terminal, without trailing blanks."""
        background = self._background.rich_color
        segments = [
            Segment(text, style + NO_BACKGROUND if style is not None and style.bgcolor == background else style)
            for text, style, _ in strip
        ]
        while segments and not segments[-1].text.rstrip(" ") and _is_plain(segments[-1].style):
            segments.pop()
        if segments and _is_plain(segments[-1].style):
            segments[-1] = Segment(segments[-1].text.rstrip(" "), segments[-1].style)
        shown = Strip(segments)
        return DrawnLine(shown.render(self.console), shown.cell_length)


def _is_plain(style: Style | None) -> bool:
    """Whether a blank in this style is invisible."""
    if style is None:
        return True
    plain = style.bgcolor is None or style.bgcolor.is_default
    return plain and not (style.reverse or style.underline or style.strike)
