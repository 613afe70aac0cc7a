"""Display of web tools: one line per use, numbered sources below the answer, no cursor movement."""

import io

from harness.events import Source, TransitionCode, TurnEnded, Usage, WebUsed
from harness.ui.lines.events import line_of, source_lines
from harness.ui.plain.printer import LinePrinter
from harness.ui.transcript.entries import NoteEntry, TurnEndEntry
from harness.ui.transcript.fold import Transcript

SOURCES = (Source("https://a.example/x", "A page"), Source("https://b.example/\x1b[2J", "Clears\nthe screen"))
END = TurnEnded(1, TransitionCode.COMPLETED, "answered", "Yes.", Usage(), 0.0, 1, 1, 1.0, sources=SOURCES)


def test_a_use_is_one_line_and_an_error_says_its_code() -> None:
    assert str(line_of(WebUsed("web_search", "two\nlines", "3 results"))) == "✓ web_search two lines: 3 results"
    failed = line_of(WebUsed("web_fetch", "https://a.example", "url_not_accessible", failed=True))
    assert str(failed) == "✗ web_fetch https://a.example: failed, url_not_accessible"


def test_sources_are_numbered_one_line_each() -> None:
    assert [str(line) for line in source_lines(SOURCES)] == [
        "[1] A page https://a.example/x",
        "[2] Clears the screen https://b.example/\x1b[2J",
    ]


def test_plain_lines_show_them_below_the_answer_with_controls_spelt_out() -> None:
    out = io.StringIO()
    LinePrinter(out).show(END)
    first, second, end = out.getvalue().splitlines()
    assert first == "[1] A page https://a.example/x"
    assert "\x1b" not in second
    assert second.endswith(r"\x1b[2J")
    assert end.startswith("· 1.0 s")


def test_the_screen_shows_them_above_the_end_of_the_turn() -> None:
    transcript = Transcript()
    transcript.on_event(END, 0.0)
    *notes, ended = transcript.entries
    assert [str(note.line)[:3] for note in notes if isinstance(note, NoteEntry)] == ["[1]", "[2]"]
    assert isinstance(ended, TurnEndEntry)
