"""No name leads out of its folder."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.memory.memory import LONGEST_NAME, MOST_NAME_BYTES, refusal, slug


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("Indentation", "indentation"),
        ("  How we_release/today ", "how-we-release-today"),
        ("../../etc/passwd", "etc-passwd"),
        ("..", ""),
        (".hidden", "hidden"),
        ("a\0b\nc", "a-b-c"),
        ("説明 その１", "説明-その1"),
        ("Straße", "strasse"),
        ("हिन्दी", "हिन्दी"),
        ("x" * 99, "x" * LONGEST_NAME),
    ],
)
def test_a_name_becomes_one_that_every_disk_takes(name: str, kept: str) -> None:
    assert slug(name) == kept


@given(st.text(max_size=120))
def test_it_is_one_part_of_a_path_and_stays_itself(name: str) -> None:
    kept = slug(name)
    assert slug(kept) == kept
    assert len(kept) <= LONGEST_NAME
    assert len(kept.encode()) <= MOST_NAME_BYTES
    assert not set(kept) & set('/\\.:*?"<>| \0')
    assert kept == kept.strip("-")


def test_what_is_reserved_is_refused() -> None:
    assert "reserved" in refusal(slug("CON"))
    assert "reserved" in refusal(slug("forget"))
    assert refusal("")
    assert refusal("forgetting") == ""
