"""True loops are found no later than a prototype found them; legitimate work is left alone (B5, resilience 3.4)."""

import pytest

from harness.events import Projection
from tests.escape.building import Watch
from tests.escape.scenarios import Scenario, loops, work


def found_at(scenario: Scenario) -> int:
    """The step, from 1, at which any loop is found; 0: none."""
    watch = Watch()
    return next((number for number, step in enumerate(scenario.steps, 1) if watch.see(*step)), 0)


@pytest.mark.parametrize("scenario", loops(), ids=lambda one: one.id)
def test_a_loop_is_found_in_time(scenario: Scenario) -> None:
    assert 1 <= found_at(scenario) <= scenario.found_by


@pytest.mark.parametrize("scenario", work(), ids=lambda one: one.id)
def test_legitimate_work_is_left_alone(scenario: Scenario) -> None:
    assert found_at(scenario) == 0


def test_what_may_be_work_is_only_a_weak_sign() -> None:
    stagnating = next(one for one in loops() if one.id == "T9")
    watch = Watch()
    verdicts = [watch.see(*step) for step in stagnating.steps]
    assert {loop.projection for loops in verdicts for loop in loops} == {Projection.STAGNATION}
    assert all(loop.weak for loops in verdicts for loop in loops)
