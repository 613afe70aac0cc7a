"""The completion list above the prompt."""

from collections.abc import Sequence

from rich.cells import cell_len, set_cell_size
from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from harness.base.external_text import visible
from harness.ui.app.completion import Candidate, Completer, Completion

MOST_SHOWN = 12
"""Most rows; a low screen shows fewer."""


class CandidateList(Widget):
    """A list with one selected row; hidden while empty."""

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
    """The rows, best first."""
    selected: reactive[int] = reactive(0)
    """Index of the selected row."""
    title: reactive[str] = reactive("", layout=True)
    """A line above the rows; empty for none."""

    def open(self, candidates: Sequence[Candidate], title: str = "") -> None:
        """Show candidates with the first one selected."""
        self.candidates, self.selected, self.title = tuple(candidates), 0, title
        self.add_class("-open")

    def close(self) -> None:
        """Hide the list."""
        self.candidates, self.selected, self.title = (), 0, ""
        self.remove_class("-open")

    @property
    def chosen(self) -> Candidate | None:
        """The selected candidate; None if the list is empty."""
        return self.candidates[self.selected] if self.candidates else None

    def move(self, by: int) -> None:
        """Move the selection; it wraps around."""
        if self.candidates:
            self.selected = (self.selected + by) % len(self.candidates)

    def render(self) -> Content:
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
    if cell_len(text) <= width:
        return set_cell_size(text, width)
    return set_cell_size(text, width - 1) + "…" if width > 0 else ""


class CompletionMenu:
    """A completer and the list that shows its candidates.

    A list that the user dismissed stays closed for the same word.
    """

    def __init__(self, completer: Completer, shown: CandidateList) -> None:
        self._completer = completer
        self._list = shown
        self._completion: Completion | None = None
        self._dismissed: int | None = None
        self._wanted = False

    @property
    def open(self) -> bool:
        """Whether candidates are shown."""
        return self._completion is not None

    def update(self, text: str, cursor: int) -> None:
        """Show the candidates at index `cursor`."""
        self._wanted = True
        completion = self._completer.complete(text, cursor)
        if completion is None or completion.start != self._dismissed:
            self._dismissed = None
            self._completion = completion
        if self._completion is None:
            self._list.close()
        else:
            self._list.open(self._completion.candidates)

    def refresh(self, text: str, cursor: int) -> None:
        """Update the candidates for the same text and keep the selection."""
        if self._wanted:
            chosen = self._list.chosen
            self.update(text, cursor)
            if chosen in self._list.candidates:
                self._list.selected = self._list.candidates.index(chosen)

    def reopen(self, text: str, cursor: int) -> bool:
        """Show a dismissed list again; returns whether there is one."""
        self._dismissed = None
        self.update(text, cursor)
        return self.open

    def move(self, by: int) -> None:
        """Select another candidate."""
        self._list.move(by)

    def dismiss(self) -> None:
        """Close the list at the user's request."""
        dismissed = self._completion.start if self._completion else None
        self.close()
        self._dismissed, self._wanted = dismissed, True

    def close(self) -> None:
        """Close the list because the text has changed."""
        self._completion = self._dismissed = None
        self._wanted = False
        self._list.close()

    def accept(self, text: str) -> tuple[str, int, int] | None:
        """Close the list. Returns the text to insert with its start and end index; None if nothing changes."""
        completion, candidate = self._completion, self._list.chosen
        self.close()
        if completion is None or candidate is None or not completion.changes(text, candidate):
            return None
        after, cursor = completion.apply(text, candidate)
        return after[completion.start : cursor], completion.start, len(text) - (len(after) - cursor)
