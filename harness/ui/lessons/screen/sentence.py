"""The sentence of the moment, large and clear."""

from textual.content import Content
from textual.events import Resize
from textual.widgets import Static

from harness.base.terminal_text import visible
from harness.ui.transcript.wrap import hanging


class Saying(Static):
    """Where the learner is, and what there is to understand here."""

    DEFAULT_CSS = """
    Saying {
        height: auto;
        max-height: 45vh;
        padding: 0 2;
        border-left: thick $primary;
        margin: 0 0 0 0;
        &.-trouble { border-left: thick $error; }
    }
    """

    def __init__(self) -> None:
        super().__init__(markup=False)
        self._said = ("", "", "")

    def say(self, where: str, sentence: str, trouble: str = "") -> None:
        """Say this; `trouble` is what went wrong, below it."""
        if self._said != (where, sentence, trouble):
            self._said = where, sentence, trouble
            self.set_class(bool(trouble), "-trouble")
            self._redraw()

    def _redraw(self) -> None:
        where, sentence, trouble = self._said
        columns = max(10, self.content_region.width)
        lines = [
            Content.styled(visible(where), "$text-accent"),
            hanging(Content(""), Content.styled(visible(sentence), "bold"), columns),
        ]
        if trouble:
            lines.append(hanging(Content(""), Content.styled(visible(trouble), "$text-error"), columns))
        self.update(Content("\n").join(lines))

    def on_resize(self, event: Resize) -> None:
        self._redraw()
