"""A diff on the screen."""

import pytest
from textual.content import Content

from harness.tools.diff import unified_diff
from harness.ui.lines.diff import diff_rows, with_changed_words
from harness.ui.transcript.diff import diff_content

DIFF = unified_diff(
    "# one\ndef f(a):\n    return 'a'\n", "# two " + "words " * 9 + "\ndef f(a, b):\n\treturn 'a'\n", "a"
)


def drawn(path: str, width: int, *, wrapped: bool = True) -> list[Content]:
    return diff_content(with_changed_words(diff_rows(DIFF.text)), path, width, wrapped=wrapped)


def styles(line: Content) -> list[tuple[str, str]]:
    return [(line.plain[span.start : span.end], str(span.style)) for span in line.spans]


@pytest.mark.parametrize("width", [14, 30, 80])
@pytest.mark.parametrize("wrapped", [True, False])
def test_changed_lines_are_tinted_over_the_whole_width(width: int, wrapped: bool) -> None:
    for number, row in enumerate(drawn("a.py", width, wrapped=wrapped)):
        tint = "on $diff-removed" if number < 3 else "on $diff-added"
        for line in row.split("\n"):
            assert line.cell_length == width
            assert (line.plain, tint) in styles(line)
    assert any("\n" in row.plain for row in drawn("a.py", width)) is (width < 80)
    assert not any("\n" in row.plain for row in drawn("a.py", width, wrapped=False))


def test_both_sides_have_the_colours_of_code_and_marks_on_the_changed_words() -> None:
    rows = drawn("b/a.py", 80)
    assert any(text == "def" and "$" in style for text, style in styles(rows[1]))
    assert any(text == "def" and "$" in style for text, style in styles(rows[4]))
    assert (", b", "bold on $diff-added-word") in styles(rows[4])
    assert ("- ", "bold $text-error") in styles(rows[1])
    assert not any(text == "def" for text, _ in styles(drawn("b/unknown", 80)[1]))
