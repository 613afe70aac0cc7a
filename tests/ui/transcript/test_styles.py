"""The styles of entries are defined in every theme, including the themes with the terminal's own colours."""

import pytest
from textual.app import ComposeResult
from textual.content import Content
from textual.css.errors import UnresolvedVariableError
from textual.widgets import Static

from harness.events import ToolOutcome, TransitionCode, TurnEnded, Usage
from harness.ui.app.readable_colours import ReadableColours
from harness.ui.lines.line import Line, Tone
from harness.ui.transcript.content import entry_content
from harness.ui.transcript.entries import (
    AnswerEntry,
    CallEntry,
    Entry,
    NoteEntry,
    PromptEntry,
    ThinkingEntry,
    TurnEndEntry,
)

pytestmark = pytest.mark.anyio

ENTRIES: list[Entry] = [
    PromptEntry(1, "hello", 0.0),
    ThinkingEntry("Hm.", done=True),
    AnswerEntry("**bold** `code` [a](b)\n\n> quote\n\n```python\nreturn 'x'  # y\n```\n\n|a|\n|-|\n|b|"),
    CallEntry("c", "edit", "x", 0.0, outcome=ToolOutcome.OK, detail="--- a\n+++ b\n@@ @@\n-x\n+y"),
    CallEntry("c", "grep", "x", 0.0, outcome=ToolOutcome.BROKEN, result="timed out", failures=3),
    NoteEntry(Line("↻", "retry", Tone.TROUBLE)),
    TurnEndEntry(TurnEnded(1, TransitionCode.MODEL_ERROR, "no", "", Usage(), 0.0, 1, 1, 1.0)),
]


class Showing(ReadableColours):
    """Shows the entries as one text."""

    def compose(self) -> ComposeResult:
        yield Static(Content("\n").join(entry_content(entry, 70, expanded=True) for entry in ENTRIES))


@pytest.mark.parametrize("theme", ["textual-dark", "textual-light", "ansi-dark", "ansi-light"])
async def test_every_style_is_known_to_the_theme(theme: str) -> None:
    app = Showing()
    async with app.run_test(size=(80, 40)) as pilot:
        app.theme = theme
        await pilot.pause()
        static = app.query_one(Static)
        styles = {str(span.style) for entry in ENTRIES for span in entry_content(entry, 70, expanded=True).spans}
        assert {"bold", "dim", "$text-warning", "$text-error", "$text-success", "bold $accent"} <= styles
        for style in styles:
            means = app.stylesheet.parse_style(style)
            assert means.foreground is not None or means.background is not None or "$" not in style, style
        with pytest.raises(UnresolvedVariableError):
            app.stylesheet.parse_style("$no-such-colour")
        lines = [static.render_line(line) for line in range(static.size.height)]
        assert "timed out (3rd)" in "\n".join(line.text for line in lines)
        assert len({segment.style.color for line in lines for segment in line if segment.style}) > 3
