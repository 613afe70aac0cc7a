"""Numbers of things, as texts for a user write them."""

import pytest

from harness.base.external_text import counted


@pytest.mark.parametrize(
    ("number", "words", "text"),
    [
        (0, ("line",), "0 lines"),
        (1, ("line",), "1 line"),
        (2, ("line",), "2 lines"),
        (2_000, ("line",), "2,000 lines"),
        (1, ("entry", "entries"), "1 entry"),
        (3, ("entry", "entries"), "3 entries"),
    ],
)
def test_one_thing_is_singular(number: int, words: tuple[str, ...], text: str) -> None:
    assert counted(number, *words) == text
