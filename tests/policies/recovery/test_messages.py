"""What is advised about a fault: commands where a user can type them, and none where nobody can."""

import re
from dataclasses import replace

import pytest

from harness.events import FaultKind
from harness.policies.recovery import Stop, decide
from harness.policies.recovery.messages import advice
from harness.policies.recovery.state import OneTimeRemedy
from tests.policies.recovery.cases import FRESH, LIMITS, ORDINARY, SERVER, fault


@pytest.mark.parametrize("kind", FaultKind)
def test_without_a_user_no_advice_names_a_command(kind: FaultKind) -> None:
    spent = {"retries": 10, "tried": frozenset(OneTimeRemedy), "compacted": True, "lowered": 9, "continuations": 9}
    decision = decide(replace(FRESH, attended=False, **spent), fault(kind), LIMITS, ORDINARY)  # type: ignore[arg-type]
    assert isinstance(decision, Stop)
    assert not re.search(r"(?<!\w)/[a-z]+", decision.reason), decision.reason
    assert not re.search(r"(?<!\w)/[a-z]+", advice(kind, attended=False))


@pytest.mark.parametrize(("most", "words"), [(1, "gave up after 1 retry;"), (2, "gave up after 2 retries;")])
def test_one_retry_is_one(most: int, words: str) -> None:
    decision = decide(replace(FRESH, retries=most), SERVER, replace(LIMITS, retries_per_request=most), ORDINARY)
    assert words in decision.reason
