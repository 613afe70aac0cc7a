"""A moment as a picture."""

import html
import re

import pytest

from harness.base.errors import HarnessError
from harness.ui.app.snapshot import parse_size, snapshot_svg
from tests.ui.app.stories import NAME, STORIES

pytestmark = pytest.mark.anyio


async def test_the_picture_has_the_texts_of_conversation_and_panel() -> None:
    svg = await snapshot_svg(STORIES["retry"], NAME, columns=120, rows=40)
    texts = html.unescape(" ".join(re.findall(r"<text[^>]*>(.*?)</text>", svg))).replace("\xa0", " ")
    for text in ("find where the config is read", "529 overloaded, try 3 of 10", "next try in", NAME):
        assert text in texts


async def test_the_panel_alone_and_before_anything_happened() -> None:
    assert "find where" not in (
        await snapshot_svg(STORIES["retry"], NAME, columns=80, rows=24, panel_only=True)
    ).replace("&#160;", " ")
    assert (await snapshot_svg((), NAME, columns=80, rows=24)).startswith("<svg")


async def test_an_unknown_theme_is_refused_with_the_nearest_ones() -> None:
    with pytest.raises(HarnessError, match="did you mean textual-dark"):
        await snapshot_svg(STORIES["calm"], NAME, columns=80, rows=24, theme="textual-drak")


@pytest.mark.parametrize(("text", "size"), [("120x36", (120, 36)), ("20X5", (20, 5)), ("400x200", (400, 200))])
def test_a_size_is_columns_and_rows(text: str, size: tuple[int, int]) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize(
    "text", ["", "x", "80", "80x", "x24", "19x24", "401x24", "80x4", "80x201", "80x24x1", "-80x24", "８²x24"]
)
def test_what_is_no_size_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(HarnessError, match="for example 120x36"):
        parse_size(text)
