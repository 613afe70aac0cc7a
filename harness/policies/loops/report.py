"""What the escape room sees, as lines of a terminal."""

from collections.abc import Iterator

from harness.events import Projection, Rung
from harness.policies.loops.messages import RUNGS
from harness.policies.loops.orchestrator import EscapeStatus, LoopStatus

WORDS = {
    Projection.ACTION: "the same calls, whatever came back",
    Projection.INTERACTION: "the same calls with the same results",
    Projection.ERROR: "the same tools with the same error",
    Projection.NODE: "the same parts of the plan",
    Projection.STATE: "the same states of the files",
    Projection.STAGNATION: "one call among others, without a change",
    Projection.POLL: "a poll that is asked too often",
    Projection.TEXT: "the same text",
}
"""What repeats, as a person would say it."""


def status_lines(status: EscapeStatus) -> Iterator[str]:
    """How near each projection is to a loop, the loops under way with their rungs, and the numbers (seed 001)."""
    width = max(map(len, WORDS.values()))
    yield f"{'what repeats':<{width}}  now  loop from"
    for run in status.runs:
        yield f"{WORDS[run.projection]:<{width}}  {run.matched:>3}  {run.wanted:>9}" + _period(run.period)
    for one in status.loops:
        yield ""
        yield from _loop_lines(one)
    if not status.loops:
        yield "no loop is under way"
    yield ""
    if status.active:
        yield "something is done about loops; /loops off ends that for this session"
    else:
        yield "loops are only told; /loops on does something about them"
    if changed := status.policy.differences():
        yield f"not as shipped: {' '.join(changed)}"


def _period(period: int) -> str:
    return f"  (a circle of {period})" if period > 1 else ""


def _loop_lines(one: LoopStatus) -> Iterator[str]:
    loop = one.loop
    meant = ", and it is meant" if one.silent else ""
    yield f"⟳ {loop.summary}: {loop.copies} times since step {one.since}{meant}"
    rungs = (use for use in one.ladder if use.quota and use.rung is not Rung.STOP)
    yield "  " + " · ".join(f"{RUNGS[use.rung]} {use.used} of {use.quota}" for use in rungs)
