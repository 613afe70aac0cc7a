"""The advice about a fault: commands where a user can type them, and none without one."""

import re
from dataclasses import replace

import pytest

from harness.events import FaultKind
from harness.policies.recovery import Remedy, decide
from harness.policies.recovery.messages import advice
from tests.policies.recovery.cases import FRESH, LIMITS, ORDINARY, SERVER, fault


def test_without_a_user_no_advice_names_a_command() -> None:
    spent = {"retries": 10, "tried": frozenset(Remedy), "compacted": True, "lowered": 9, "continuations": 9}
    unattended = replace(FRESH, attended=False, **spent)  # type: ignore[arg-type]
    reasons = {kind: decide(unattended, fault(kind), LIMITS, ORDINARY).reason for kind in FaultKind}
    told = {kind: f"{reason} {advice(kind, attended=False)}" for kind, reason in reasons.items()}
    assert {kind: text for kind, text in told.items() if re.search(r"(?<!\w)/[a-z]+", text)} == {}


@pytest.mark.parametrize(("most", "words"), [(1, "gave up after 1 retry;"), (2, "gave up after 2 retries;")])
def test_one_retry_is_one(most: int, words: str) -> None:
    decision = decide(replace(FRESH, retries=most), SERVER, replace(LIMITS, retries_per_request=most), ORDINARY)
    assert words in decision.reason
