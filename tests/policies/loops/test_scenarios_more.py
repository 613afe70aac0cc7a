"""The scenarios themselves: as many as promised, and their steps right by a count done by hand."""

import re

from tests.policies.loops.scenarios_more import FIRST, SECOND
from tests.policies.loops.streams import Scenario, Step

ALL = (*FIRST, *SECOND)


def test_each_half_has_fifteen_loops_and_fifteen_pieces_of_work() -> None:
    for half in (FIRST, SECOND):
        assert [scenario.latest is None for scenario in half] == [False] * 15 + [True] * 15
    assert len({scenario.id for scenario in ALL}) == len({scenario.name for scenario in ALL}) == 60


def test_a_strong_loop_is_whole_at_its_step_and_work_never_is() -> None:
    counted = [one for one in ALL if one.id != "F-L09"]  # its cause is time, not the count of its copies
    strong = {one.id: None if one.weak else one.latest for one in counted}
    assert {one.id: first_whole(one) for one in counted} == strong


def first_whole(scenario: Scenario) -> int | None:
    """The first step at which the tail is a loop, by looking at every period and every tail."""
    interactions: list[object] = []
    errors: list[object] = []
    for number, step in enumerate(scenario.steps, start=1):
        if number in scenario.prompts:
            interactions, errors = [], []
        interactions.append(number if any(call.poll for call in step) else interaction(step))
        failing = all(not call.ok for call in step)
        errors.append((step[0].tool, step[0].result) if failing and len(step) == 1 else number)
        once = 3 if failing else 4
        if is_loop(interactions, once) or is_loop(errors, 4):
            return number
    return None


def interaction(step: Step) -> object:
    return frozenset((call.tool, call.arguments, blanked(call.result), call.ok) for call in step)


def blanked(result: str) -> str:
    """Without identifiers, times and durations; a bare number stays, for it may be progress."""
    return re.sub(r"\b(?=\d*[a-f])(?=[a-f]*\d)[0-9a-f]{4,}\b|\d+:\d\d:\d\d|\d+(\.\d+)? m?s\b", "", result)


def is_loop(symbols: list[object], once: int) -> bool:
    return any(
        len(symbols) >= copies * period and symbols[-copies * period :] == symbols[-period:] * copies
        for period in range(1, 65)
        for copies in [once if period == 1 else 3]
    )
