"""The rows of a diff: numbers that are those of the files, and the words that changed."""

from hypothesis import given
from hypothesis import strategies as st

from harness.tools.diff import unified_diff
from harness.ui.lines.diff import DiffKind, DiffRow, diff_lines, diff_rows, path_of_diff, with_changed_words

LINES = st.lists(
    st.sampled_from(["a", "b = 1", "b = 2", "", "-- x", "++ y", "@@ -1 +1 @@", "    deep(1)"]), max_size=40
)


@given(LINES, LINES)
def test_each_row_is_the_line_of_that_number(before: list[str], after: list[str]) -> None:
    plain = diff_rows(
        unified_diff("".join(f"{line}\n" for line in before), "".join(f"{line}\n" for line in after), "a").text
    )
    rows = with_changed_words(plain)
    assert all(with_changed_words(plain, most) == rows[:most] for most in range(len(rows) + 1))
    for row in rows:
        match row.kind:
            case DiffKind.REMOVED:
                assert before[row.number - 1] == row.text
            case DiffKind.ADDED | DiffKind.SAME:
                assert after[row.number - 1] == row.text
    gone = sum(row.kind is DiffKind.REMOVED for row in rows)
    assert len(before) - gone == len(after) - sum(row.kind is DiffKind.ADDED for row in rows)
    for row in rows:
        assert not row.changed or row.kind in (DiffKind.ADDED, DiffKind.REMOVED)
        assert all(0 <= start < end <= len(row.text) for start, end in row.changed)


def marked(row: DiffRow) -> list[str]:
    return [row.text[start:end] for start, end in row.changed]


def test_the_changed_words_are_marked_in_lines_that_are_alike() -> None:
    before = "def load(path):\n    return 1\nold words entirely\n"
    after = "def load(path, timeout_s=5.0):\n    return 2\nnothing like that\n"
    rows = with_changed_words(diff_rows(unified_diff(before, after, "a.py").text))
    assert [marked(row) for row in rows] == [[], ["1"], [], [", timeout_s=5.0"], ["2"], []]


def test_as_plain_lines_it_has_numbers_and_no_headers() -> None:
    numbers = [f"x{number}" for number in range(1, 21)]
    text = unified_diff("\n".join(numbers), "\n".join(["x1", "new\x1b", *numbers[2:19], "end"]), "a.py").text
    assert path_of_diff(text) == "b/a.py"
    assert list(diff_lines(text)) == [
        *(" 1   x1", " 2 - x2", " 2 + new\\x1b", " 3   x3", " 4   x4", " 5   x5", "   ⋮"),
        *("17   x17", "18   x18", "19   x19", "20 - x20", "   \\ No newline at end of file", "20 + end"),
        "   \\ No newline at end of file",
    ]


def test_a_diff_that_was_cut_says_so_in_a_row() -> None:
    assert list(diff_lines("--- a/x\n+++ b/x\n@@ -1 +1,3 @@\n-a\n+b\n… 2 more lines\n"))[-1] == "  ⋮ 2 more lines"
