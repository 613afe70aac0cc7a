"""TOML from a folder that was cloned."""

import time
import tomllib

import pytest

from harness.base.toml import MOST_PARTS, toml_of


@pytest.mark.parametrize(
    "text",
    [
        "\n" + "a." * 50_000 + "a = 1",
        "[" + "a." * 50_000 + "a]",
        "[[" + "a . " * 50_000 + "a]]",
        "x = {" + "'a'." * 50_000 + "a = 1}",
        "x = {b = 1, " + '"a".' * 50_000 + "a = 1}",
    ],
    ids=["key", "table", "array", "inline", "second"],
)
def test_a_key_of_very_many_parts_is_refused_at_once(text: str) -> None:
    began = time.process_time()
    with pytest.raises(tomllib.TOMLDecodeError, match=f"more than {MOST_PARTS} parts"):
        toml_of(text)
    assert time.process_time() - began < 2


@pytest.mark.parametrize(
    "text",
    [',"' * 100_000, "{ [" * 100_000, "a" * 500_000, '"' * 500_000, "," + "\t" * 500_000, ",[ " * 100_000],
    ids=["quotes", "brackets", "word", "quote", "blanks", "commas"],
)
def test_looking_for_one_takes_no_longer_than_the_text(text: str) -> None:
    began = time.process_time()
    with pytest.raises((tomllib.TOMLDecodeError, RecursionError)):
        toml_of(text)
    assert time.process_time() - began < 2


def test_what_people_write_is_read_as_before() -> None:
    text = 'a.b."c.d" = 1\n[[reply]]\ntext = "' + "One. Two, three.four. " * 100 + '"\ntools = [ { name = "x.y" } ]\n'
    assert toml_of(text) == tomllib.loads(text)
