"""A list of what can be taken, above the prompt."""

from collections.abc import Sequence

from rich.cells import cell_len, set_cell_size
from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from harness.base.terminal_text import visible
from harness.ui.app.completion import Candidate

MOST_SHOWN = 12
"""Rows at most; a low screen shows fewer."""


class CandidateList(Widget):
    """Some rows, one of them selected; it takes no room while it has nothing to show."""

    DEFAULT_CSS = """
    CandidateList {
        height: auto;
        display: none;
        padding: 0 1;
        background: $surface;
        &.-open { display: block; }
    }
    """

    candidates: reactive[tuple[Candidate, ...]] = reactive((), layout=True)
    """What there is to take, the best first."""
    selected: reactive[int] = reactive(0)
    """Index of the one that is taken."""
    title: reactive[str] = reactive("", layout=True)
    """A line above them, or none."""

    def open(self, candidates: Sequence[Candidate], title: str = "") -> None:
        """Show candidates, the first one selected."""
        self.candidates, self.selected, self.title = tuple(candidates), 0, title
        self.add_class("-open")

    def close(self) -> None:
        """Show nothing."""
        self.candidates, self.selected, self.title = (), 0, ""
        self.remove_class("-open")

    @property
    def chosen(self) -> Candidate | None:
        """The one that is selected; None when there is none."""
        return self.candidates[self.selected] if self.candidates else None

    def move(self, by: int) -> None:
        """Select another one; behind the last one comes the first."""
        if self.candidates:
            self.selected = (self.selected + by) % len(self.candidates)

    def render(self) -> Content:
        """The rows around the selected one."""
        width = self.content_size.width or self.app.size.width - 2
        most = max(3, min(MOST_SHOWN, self.app.size.height // 3))
        first = max(0, self.selected - most + 1)
        shown = self.candidates[first : first + most]
        labels = [visible(candidate.label[:width]).replace("\n", " ⏎ ") for candidate in shown]
        column = min(max(map(cell_len, labels), default=0) + 2, width)
        rows = [Content.styled(_fitting(self.title, width), "dim")] if self.title else []
        for number, (label, candidate) in enumerate(zip(labels, shown, strict=True), first):
            style = "reverse" if number == self.selected else ""
            help = Content.styled(_fitting(visible(candidate.help), width - column), "dim")
            rows.append(Content.assemble(Content.styled(_fitting(label, column), style), help))
        return Content("\n").join(rows)


def _fitting(text: str, width: int) -> str:
    """Exactly `width` cells of the text; one that is too long ends with a mark."""
    if cell_len(text) <= width:
        return set_cell_size(text, width)
    return set_cell_size(text, width - 1) + "…" if width > 0 else ""
