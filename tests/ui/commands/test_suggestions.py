"""What an unknown command was meant to be: by meaning or a slip, never by letters alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.ui.commands.commands import COMMANDS, OF_THE_SCREEN, TAKEN
from harness.ui.commands.suggestions import MEANINGS, suggestion

EVERY = {*COMMANDS, *OF_THE_SCREEN}
WORDS = {**MEANINGS, **{name: name for name in EVERY}}


def test_every_meaning_leads_from_a_word_that_is_no_command_to_one_that_is() -> None:
    assert set(MEANINGS.values()) <= EVERY
    assert not set(MEANINGS) & TAKEN


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        *(
            ("new", "clear"),
            ("tokens", "context"),
            ("settings", "config"),
            ("approvals", "mode"),
            ("todo", "checklist"),
        ),
        *(
            ("compcat", "compact"),
            ("modell", "model"),
            ("modes", "mode"),
            ("sesions", "sessions"),
            ("tokesn", "context"),
        ),
        *(("node", ""), ("nonsense", ""), ("code", ""), ("more", ""), ("", ""), ("x" * 10_000, "")),
    ],
)
def test_a_word_is_taken_for_what_it_means(typed: str, meant: str) -> None:
    assert suggestion(typed, EVERY) == meant


def slips(word: str) -> set[str]:
    """All words of which this is one by a naive count: a letter dropped, added or swapped with its neighbour."""
    swapped = {"".join((*word[:i], word[i + 1], word[i], *word[i + 2 :])) for i in range(len(word) - 1)}
    return {word[:i] + word[i + 1 :] for i in range(len(word))} | swapped


@given(st.text("adeimostx", min_size=1, max_size=7))
def test_nothing_is_suggested_without_a_meaning_or_a_slip(typed: str) -> None:
    meant = suggestion(typed, EVERY)
    near = [word for word in WORDS if word in slips(typed) or typed in slips(word)]
    assert meant == WORDS.get(typed, meant) or typed in EVERY
    assert not meant or typed in WORDS or meant in {WORDS[word] for word in near}
    assert not meant or typed in WORDS or not EVERY.intersection(near) or meant in near
