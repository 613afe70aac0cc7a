"""Run the loop detectors over streams with a known answer: loops found, delay, and false alarms.

Thresholds may be tuned with the first half of the sixty streams; the second half shows how
far the results generalise.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass

from tests.policies.loops.building import found_at
from tests.policies.loops.scenarios import FIRST, FIXTURE, SECOND
from tests.policies.loops.streams import Scenario


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the detectors said of one scenario."""

    scenario: Scenario
    found: int
    """The step, from 1, at which a loop was found: a strong one unless doubt is allowed; 0: none."""

    @property
    def right(self) -> bool:
        """A loop in time, and silence at work."""
        latest = self.scenario.latest
        return self.found == 0 if latest is None else 1 <= self.found <= latest


def outcomes(scenarios: Sequence[Scenario]) -> list[Outcome]:
    """One for each scenario."""
    return [Outcome(one, found_at(one, strong=one.latest is not None and not one.weak)) for one in scenarios]


def lines(title: str, scenarios: Sequence[Scenario]) -> list[str]:
    """The figures of one set, and a line for each scenario that went wrong."""
    found = outcomes(scenarios)
    loops = [one for one in found if one.scenario.latest is not None]
    work = [one for one in found if one.scenario.latest is None]
    in_time, alarms = sum(one.right for one in loops), sum(not one.right for one in work)
    figures = f"{in_time} of {len(loops)} loops found in time, {alarms} false alarms in {len(work)} pieces of work"
    return [f"{title:<12} {figures}", *(wrong(one) for one in found if not one.right)]


def wrong(outcome: Outcome) -> str:
    """What went wrong, in one line."""
    one = outcome.scenario
    wanted = "silence was wanted" if one.latest is None else f"wanted by step {one.latest}"
    said = f"found at step {outcome.found}" if outcome.found else "not found"
    return f"  {one.id}: {one.name}: {said}, {wanted}"


def main() -> int:
    """Print the figures; exit code 1 when the fixture or the first half is not wholly right."""
    for title, scenarios in (("fixture", FIXTURE), ("first half", FIRST), ("second half", SECOND)):
        print("\n".join(lines(title, scenarios)))
    return int(not all(one.right for one in outcomes((*FIXTURE, *FIRST))))


if __name__ == "__main__":
    sys.exit(main())
