"""What the page about tools says is so."""

import re

import pytest

from harness.tools import Effect
from harness.tools.tool import category_of
from tests.pages.blocks import text

TEXT = text("docs/tools.md")


def test_the_page_names_every_effect_in_its_order() -> None:
    assert re.findall(r"^\| `([A-Z]+)` \|", TEXT, re.MULTILINE) == [effect.name for effect in Effect]


@pytest.mark.parametrize(
    "error", [TimeoutError(), ConnectionError(), FileNotFoundError(), PermissionError(), OSError(), ValueError()]
)
def test_an_exception_counts_as_the_page_says(error: Exception) -> None:
    named = [line for line in TEXT.splitlines() if f"`{type(error).__name__}`" in line]
    [line] = named or [line for line in TEXT.splitlines() if "raises anything else" in line]
    assert f"`broken`, category `{category_of(error)}` | yes |" in line
