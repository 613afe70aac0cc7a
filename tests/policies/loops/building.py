"""What the detectors are shown in tests: observations made from the calls of a stream, on a virtual clock."""

from collections.abc import Iterator

from harness.events import ErrorClass, Loop
from harness.policies.loops.detector_set import Detectors
from harness.policies.loops.digests import action_of, digest, normalised_result, result_of
from harness.policies.loops.observations import ObservedCall, Poll, Visit
from tests.policies.loops.streams import Made, Scenario


def call(
    made: Made, step: int = 1, at: float = 0.0, *, poll: Poll | None = None, error: str | None = None
) -> ObservedCall:
    """The observation of one call; by default the signature of a failure is its text."""
    failed = digest(normalised_result(made.result)) if error is None else error
    return ObservedCall(
        number=step,
        step=step,
        at=at,
        wall=1.7e9 + at,
        call_id=f"call_{step}",
        tool=made.tool,
        action=action_of(made.tool, {"input": made.arguments}),
        result=result_of(made.result),
        ok=made.ok,
        error="" if made.ok else failed,
        error_class=None if made.ok else ErrorClass.UNKNOWN,
        mutates=made.mutates,
        poll=poll or (Poll() if made.poll else None),
        summary=f"{made.tool} {made.arguments}".strip(),
    )


def visit(node: str, state: str = "", number: int = 1) -> Visit:
    """The observation of one visit."""
    return Visit(number=number, step=number, at=float(number), wall=1.7e9 + number, node=node, state=state)


class Watch:
    """Detectors that are shown steps, on a virtual clock."""

    def __init__(self, detectors: Detectors | None = None) -> None:
        self.detectors = detectors or Detectors()
        self.step = 0
        self.at = 0.0

    def observe(
        self, *calls: Made, after: float = 5.0, poll: Poll | None = None, error: str | None = None
    ) -> tuple[Loop, ...]:
        """One step, some seconds after the last one; returns the verdicts after it."""
        self.step += 1
        self.at += after
        self.detectors.observe_step([call(made, self.step, self.at, poll=poll, error=error) for made in calls])
        return self.detectors.verdicts()


def verdicts(scenario: Scenario, detectors: Detectors | None = None) -> Iterator[tuple[Loop, ...]]:
    """The verdicts after each step of a scenario."""
    watch = Watch(detectors)
    for number, step in enumerate(scenario.steps, start=1):
        if number in scenario.prompts:
            watch.detectors.forget()
        yield watch.observe(*step, after=scenario.apart_s)


def found_at(scenario: Scenario, *, strong: bool = False) -> int:
    """The step, from 1, at which any loop, or any strong one, is found; 0: none."""
    steps = enumerate(verdicts(scenario), start=1)
    return next((number for number, loops in steps if any(not (strong and loop.weak) for loop in loops)), 0)
