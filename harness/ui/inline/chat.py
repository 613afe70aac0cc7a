"""The conversation in inline mode: finished entries are printed, the others are shown below them."""

from collections.abc import Sequence

from rich.style import Style as RichStyle
from textual.content import Content
from textual.strip import Strip
from textual.style import Style
from textual.visual import RenderOptions

from harness.ui.app.chat import Chat
from harness.ui.app.entry_rows import MARGIN, EntryDrawing
from harness.ui.app.panel_view import SplitView
from harness.ui.inline.finished import finished_count, same_until
from harness.ui.transcript.entries import Entry, ThinkingEntry

REWOUND = "· the conversation was rewound; it continues from here"
NO_STYLE = RichStyle.null()


class InlineChat(Chat):
    """Shows the unfinished entries; the finished ones wait in it until they are printed."""

    def __init__(self) -> None:
        super().__init__()
        self._all: Sequence[Entry] = ()
        self._taken: list[Entry] = []
        """Entries that are printed or wait for it."""
        self._waiting: list[tuple[Content | Entry, bool]] = []
        """Entries to print, each with whether a blank line precedes it."""

    def set_renderer(self, draw: EntryDrawing) -> None:
        """Use this renderer from now on, for the entries of another session."""
        self._taken.clear()
        super().set_renderer(draw)

    def update(self, entries: Sequence[Entry], first: int = 0) -> None:
        """Show `entries`: print those that are finished."""
        self._all = entries
        self._take(finished_count(entries))
        super().update(entries[len(self._taken) :])
        self.display = len(self._taken) < len(entries)
        if self._waiting:
            self.app.screen.refresh()

    def show_top(self, number: int) -> None:
        """No-op: the terminal scrolls."""

    def expand_all(self) -> bool:
        """Toggle the expansion of entries printed from now on; the newest shortened entry is printed again in full."""
        expanded = super().expand_all()
        whole = self._newest_shortened() if expanded else None
        if whole is not None:
            self._waiting.append((whole, True))
            self.app.screen.refresh()
        return expanded

    def _newest_shortened(self) -> Content | None:
        """The newest printed entry that has more to show, in full; None: there is none."""
        width = self._width_of(self.app.size.width)
        for entry in reversed(self._all[: len(self._taken)]):
            if isinstance(entry, ThinkingEntry):
                continue
            whole = self._content(entry, width)
            if whole != self._content(entry, width, expanded=False):
                return whole
        return None

    def _width_of(self, columns: int) -> int:
        return max(10, columns - 2 * MARGIN)

    def printed_lines(self, columns: int, rest: Sequence[Entry] | None = None) -> list[Strip]:
        """The lines to print now, at most `columns` wide; each is returned once.

        `rest`: all entries, if those that are not finished are wanted, too, because the app ends.
        """
        if rest is not None:
            self._all = rest
            self._take(len(rest))
        lines: list[Strip] = []
        width = self._width_of(columns)
        for entry, apart in self._waiting:
            lines += [Strip([])] if apart else []
            content = entry if isinstance(entry, Content) else self._content(entry, width)
            drawn = content.render_strips(width, None, Style(), RenderOptions(self._get_style, {}))
            lines += [Strip.join([Strip.blank(MARGIN, NO_STYLE), strip]) for strip in drawn]
        self._waiting.clear()
        return lines

    def _take(self, count: int) -> None:
        if self._draw is None:
            return
        same = same_until(self._taken, self._all)
        if same < len(self._taken):
            del self._taken[same:]
            if same == len(self._all):  # else a note says what happened
                self._waiting.append((Content.styled(REWOUND, "dim"), True))
        for entry in self._all[len(self._taken) : count]:
            above = self._taken[-1] if self._taken else None
            self._waiting.append((entry, self._draw.apart(above, entry)))
            self._taken.append(entry)

    def _content(self, entry: Entry, width: int, *, expanded: bool | None = None) -> Content:
        expanded = self._expanded if expanded is None else expanded
        blocks = () if self._draw is None else self._draw.blocks(entry, width, expanded=expanded)
        return Content("\n\n").join(blocks)

    def _gap(self, number: int) -> bool:
        if self._draw is not None and number == 0 and self._taken:
            return self._draw.apart(self._taken[-1], self._entries[0])
        return super()._gap(number)


class InlineSplitView(SplitView):
    """The unfinished entries, and the panel below them while it is open."""

    chat_type = InlineChat
    expands = ""

    def on_mount(self) -> None:
        self.add_class("-no-panel")

    @property
    def below(self) -> bool:
        return True
