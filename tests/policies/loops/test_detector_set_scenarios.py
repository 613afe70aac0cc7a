"""True loops are found in time; legitimate work is left alone. The second half of the sixty is not run here."""

import pytest

from harness.events import Projection
from tests.policies.loops.building import found_at, verdicts
from tests.policies.loops.scenarios import FIRST, FIXTURE
from tests.policies.loops.streams import Scenario

ALL = (*FIXTURE, *FIRST)


@pytest.mark.parametrize("scenario", [one for one in ALL if one.latest], ids=lambda one: str(one.id))
def test_a_loop_is_found_in_time(scenario: Scenario) -> None:
    assert 1 <= found_at(scenario, strong=not scenario.weak) <= (scenario.latest or 0)


@pytest.mark.parametrize("scenario", [one for one in ALL if not one.latest], ids=lambda one: str(one.id))
def test_legitimate_work_is_left_alone(scenario: Scenario) -> None:
    assert found_at(scenario) == 0


def test_what_may_be_work_gives_only_a_weak_sign() -> None:
    (stagnating,) = (one for one in FIXTURE if one.id == "T9")
    found = [loop for loops in verdicts(stagnating) for loop in loops]
    assert {loop.projection for loop in found} == {Projection.STAGNATION}
    assert all(loop.weak for loop in found)
