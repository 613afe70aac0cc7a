"""The drawing of s11 places every kind of fault."""

from chapters.s11_error_recovery.drawings import WAYS, kinds
from harness.events import FaultKind
from harness.policies.recovery.transitions import REMEDIES


def test_every_first_remedy_is_one_of_the_ways_back() -> None:
    placed = {remedy for _, remedies in WAYS for remedy in remedies}
    assert placed == set(REMEDIES.values())
    assert {kind for _, remedies in WAYS for kind in kinds(remedies)} == set(FaultKind)
