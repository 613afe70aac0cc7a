"""One errno, many wordings: every reporter's text maps to the same cause, and to no other."""

import errno
import os
import tomllib
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.events import FailureCategory
from harness.policies.breakers.failure_signature import CAUSES, NO_GUESS, signature_of, suspected_root

WORDINGS = tomllib.loads(Path(__file__).with_name("failures.toml").read_text("utf-8"))["system"]


@pytest.mark.parametrize("texts", WORDINGS.values(), ids=WORDINGS)
def test_one_cause_has_one_signature_from_every_reporter_and_in_whatever_category(texts: list[str]) -> None:
    categories = [one for one in FailureCategory if one is not FailureCategory.TIMEOUT]
    (signature,) = {signature_of(category, text, "tool") for category in categories for text in texts}
    assert suspected_root(signature) != NO_GUESS


def test_different_causes_have_different_signatures() -> None:
    first = [signature_of(FailureCategory.CRASHED, texts[0]) for texts in WORDINGS.values()]
    assert all(one != other for one, other in combinations(first, 2))


@pytest.mark.parametrize(
    "text",
    [
        "make: *** [all] Error 28",
        "exit 13",
        "gave up after 28 attempts",
        "the file ENOSPCX is odd",
        "gaierro: [Errno -2]",
        "no space in the name",
    ],
)
def test_numbers_and_words_that_only_look_like_an_errno_are_none(text: str) -> None:
    known = {cause.signature for cause in CAUSES}
    assert signature_of(FailureCategory.CRASHED, text) not in known


NAMES = {name: cause.signature for cause in CAUSES for name in cause.names}
SAID = [(text, cause.signature) for cause in CAUSES for text in (*cause.names, *cause.phrases)]
SAID += [
    (form.format(code), NAMES[name])
    for code, name in errno.errorcode.items()
    if name in NAMES
    for form in ("[Errno {}] x", "(os error {})", "OSError({}, 'x')", "errno={}")
]
SAID += [
    (os.strerror(code), NAMES[name])
    for code, name in errno.errorcode.items()
    if name in NAMES and name not in ("ENFILE", "ENETDOWN")
]
PLAIN = st.lists(
    st.sampled_from(["cp:", "writing", "/var/x", "'a b'", "step", "42", "Error:", "at", "10:31:02", "npm"])
)


def test_every_wording_of_a_cause_is_known_by_itself_in_every_category() -> None:
    others = [category for category in FailureCategory if category is not FailureCategory.TIMEOUT]
    assert [(text, one) for text, cause in SAID for one in others if signature_of(one, text) != cause] == []


@given(st.sampled_from(SAID), PLAIN, PLAIN, st.sampled_from(FailureCategory))
def test_what_is_said_around_a_cause_does_not_change_it(
    said: tuple[str, str], before: list[str], after: list[str], category: FailureCategory
) -> None:
    text, signature = said
    whole = " ".join([*before, text, *after])
    expected = "timeout" if category is FailureCategory.TIMEOUT else signature
    assert signature_of(category, whole) == expected
