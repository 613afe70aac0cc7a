"""Texts, numbers and names in little room."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from textual.content import Content

from harness.ui.panel.layout import (
    LABEL,
    bar,
    cell,
    count,
    flowing,
    headed,
    hung,
    in_cells,
    labelled,
    one_line,
    priced,
    wrapped,
)

WIDTHS = st.integers(1, 12)


def names(letters: str) -> st.SearchStrategy[list[str]]:
    """Some names of such letters, alike and not."""
    return st.lists(st.text(letters, min_size=1, max_size=14), min_size=1, max_size=6, unique=True)


@pytest.mark.parametrize(
    ("names", "width", "shown"),
    [
        (["bash", "grep"], 6, ["bash  ", "grep  "]),
        (
            ["bash", "list_background", "read_background", "kill_background"],
            12,
            ["bash        ", "list_b…round", "read_b…round", "kill_b…round"],
        ),
        (["mcp__github__search", "mcp__gitlab__search"], 12, ["mcp__gith…ch", "mcp__gitl…ch"]),
        (["天気予報を見る"], 9, ["天気…見る"]),
        (["list_background"], 1, ["…"]),
        (["ab👨\u200d👩\u200d👧cd_of_somebody"], 8, ["ab👨\u200d👩\u200d👧…ody"]),
    ],
)
def test_they_are_cut_where_they_differ_least(names: list[str], width: int, shown: list[str]) -> None:
    assert list(in_cells(names, width)) == shown


@given(names("ab_天気e\u0301"), WIDTHS)
def test_each_has_exactly_the_width(names: list[str], width: int) -> None:
    for name, shown in zip(names, in_cells(names, width), strict=True):
        assert cell_len(shown) == width
        assert (shown.rstrip() == name.rstrip()) or ("…" in shown and cell_len(name) > width)


@given(names("ab_"), WIDTHS)
def test_no_other_place_to_cut_leaves_more_of_them_apart(names: list[str], width: int) -> None:
    long = [name for name in names if len(name) > width]
    tails = range(width)
    apart = [len({f"{name[: width - 1 - tail]}…{name[len(name) - tail :]}" for name in long}) for tail in tails]
    shown = dict(zip(names, in_cells(names, width), strict=True))
    assert len({shown[name] for name in long}) == max(apart)


# ── numbers ─────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("number", "shown"),
    [
        *((0, "0"), (999, "999"), (1_000, "1k"), (1_234, "1.2k"), (9_949, "9.9k"), (9_950, "10k"), (41_200, "41k")),
        *((999_499, "999k"), (999_500, "1M"), (1_000_000, "1M"), (1_250_000, "1.2M"), (1_260_000, "1.3M")),
    ],
)
def test_a_number_of_tokens_has_at_most_two_digits_and_a_unit(number: int, shown: str) -> None:
    assert count(number) == shown


@pytest.mark.parametrize(
    ("cost", "unpriced", "shown"),
    [
        *((0.0, 0, "$0.0000"), (0.0012, 0, "$0.0012"), (0.00999, 0, "$0.0100"), (0.01, 0, "$0.01"), (1.25, 0, "$1.25")),
        *((0.0, 1, "cost unknown"), (1.25, 2, "≥ $1.25")),
    ],
)
def test_a_price_is_as_exact_as_it_is_small_and_says_what_is_not_known(cost: float, unpriced: int, shown: str) -> None:
    assert priced(cost, unpriced) == shown


@pytest.mark.parametrize(
    ("share", "shown"), [(0.0, "░░░░"), (0.01, "▓░░░"), (0.5, "▓▓░░"), (0.99, "▓▓▓▓"), (7.0, "▓▓▓▓"), (-1.0, "░░░░")]
)
def test_a_bar_shows_any_share_and_never_more_than_all(share: float, shown: str) -> None:
    assert bar(share, 4) == shown


# ── texts ───────────────────────────────────────────────────────────────────────────────────────────


def plain(lines: list[Content]) -> list[str]:
    return [line.plain for line in lines]


def test_a_text_is_cut_or_padded_to_its_cells_and_no_wide_character_is_halved() -> None:
    assert [cell("abc", width) for width in (0, 1, 2, 3, 5)] == ["", "…", "a…", "abc", "abc  "]
    assert cell("天気", 3) == "天…"
    assert cell("天気", 2) == " …"
    assert one_line(Content("abcd"), 4).plain == "abcd"
    assert one_line(Content("abcde"), 4).plain == "abc…"


def test_a_long_text_is_wrapped_into_so_many_lines_and_the_last_is_cut() -> None:
    text = "one two\nthree four five six"
    assert plain(wrapped(text, 20, indent=4)) == ["    one two three", "    four five six"]
    assert plain(wrapped(text, 20, most=1, indent=4)) == ["    one two three f…"]
    assert plain(wrapped(text, 20, most=3, indent=4, hang=2)) == [
        *("    one two three", "      four five six"),
    ]
    assert plain(wrapped("ab cd", LABEL + 1)) == [f"{'':{LABEL}}ab cd"]  # never narrower than can be read
    assert plain(wrapped("a\x1b[31m", 20, indent=0)) == ["a\\x1b[31m"]
    assert wrapped(" ", 20) == []


def test_a_label_is_before_the_first_line_only() -> None:
    assert plain(headed("loop", "one two three four five", 20)) == [
        "loop     one two",
        "         three four…",
    ]
    assert plain(headed("loop", "", 20)) == ["loop     "]
    assert plain(hung("plan", Content("one two three four five six"), 20)) == [
        "plan     one two",
        "         three four",
    ]
    assert labelled("a very long label", "text").plain == "a very … text"


def test_parts_are_side_by_side_while_they_fit() -> None:
    parts = [Content(text) for text in ("aaaa", "bbbb", "cc")]
    assert plain(flowing(parts, LABEL + 11)) == [f"{'':{LABEL}}aaaa   bbbb", f"{'':{LABEL}}cc"]
    assert plain(flowing(parts, LABEL + 10)) == [f"{'':{LABEL}}aaaa", f"{'':{LABEL}}bbbb   cc"]
    assert plain(flowing(parts, LABEL + 12, gap=" · ")) == [f"{'':{LABEL}}aaaa · bbbb", f"{'':{LABEL}}cc"]
    assert flowing([], 20) == []
