"""Names in a column that is too narrow for some of them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from harness.ui.panel.layout import in_cells

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
