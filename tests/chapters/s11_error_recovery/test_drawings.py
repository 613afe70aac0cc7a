"""The drawing of s11 places every kind of fault."""

from chapters.s11_error_recovery.drawings import WAYS, kinds
from harness.events import FaultKind
from harness.policies.recovery.transitions import Response


def test_every_response_is_one_of_the_ways_back() -> None:
    placed = [response for _, responses in WAYS for response in responses]
    assert set(placed) == set(Response)
    assert {kind for _, responses in WAYS for kind in kinds(responses)} == set(FaultKind)
