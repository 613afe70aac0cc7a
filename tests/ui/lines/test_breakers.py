"""What the breakers do, in one line each."""

import pytest

from harness.events import (
    BreakerChanged,
    BreakerState,
    CascadeChanged,
    CascadePhase,
    ChangeReason,
    Dispatch,
    Dispatched,
    DispatchReason,
    Event,
    Failure,
    FailureCategory,
    FailureCharged,
    FreshnessLabel,
    LateResult,
    ResultLabelled,
)
from harness.ui.lines.breakers import health_line

CLOSED, OPEN, HALF_OPEN = BreakerState.CLOSED, BreakerState.OPEN, BreakerState.HALF_OPEN
FAILED = Failure(FailureCategory.TIMEOUT, "timed out", "timeout")


def decided(dispatch: Dispatch, reason: DispatchReason, detail: str = "", in_place_of: str = "") -> Dispatched:
    """A decision about bash."""
    return Dispatched("1", "bash", dispatch, reason, 0, 0, detail, in_place_of=in_place_of)


def changed(before: BreakerState, after: BreakerState, why: ChangeReason, key: str = "grep") -> BreakerChanged:
    """A breaker that failed three times in a row, in step 4."""
    return BreakerChanged(key, before, after, why, 3, 1, 4, 7 if after is OPEN else None, "timed out")


def charged(cost: int, consumed: int) -> FailureCharged:
    """A failure, with a budget of 5."""
    return FailureCharged("grep", FAILED, 4, cost, consumed, 5)


@pytest.mark.parametrize(
    ("event", "line"),
    [
        (decided(Dispatch.CALL, DispatchReason.HEALTHY), None),
        (decided(Dispatch.SKIP, DispatchReason.OPEN, "it failed"), None),  # told with the end of the call
        (decided(Dispatch.PROBE, DispatchReason.PROBE_DUE, "bash is tried once"), "◌ bash is tried once"),
        (decided(Dispatch.CALL, DispatchReason.HEALTHY, in_place_of="grep"), "→ bash in place of grep"),
        (changed(CLOSED, CLOSED, ChangeReason.FAILED), None),
        (changed(OPEN, HALF_OPEN, ChangeReason.PROBE_GIVEN), None),
        (
            changed(CLOSED, OPEN, ChangeReason.THRESHOLD),
            "✗ grep is open: it failed 3 times in a row (timed out); tried again from step 7 on",
        ),
        (changed(HALF_OPEN, CLOSED, ChangeReason.PROBE_SUCCEEDED), "✓ grep works again"),
        (changed(HALF_OPEN, OPEN, ChangeReason.PROBE_LOST), "→ grep is open: probe lost"),
        (changed(OPEN, OPEN, ChangeReason.ISOLATED), "→ grep is open: isolated"),
        (changed(HALF_OPEN, CLOSED, ChangeReason.PROBE_SUCCEEDED, "model:claude"), "✓ claude works again"),
        (charged(1, 3), None),
        (charged(0, 4), None),
        (charged(1, 4), "! failure budget: 4 of 5 used; one more failure pauses the turn"),
        (charged(1, 5), "! failure budget: 5 of 5 used; the turn pauses"),
        (
            CascadeChanged("s", CascadePhase.SUSPECTED, ("a", "b"), "the network", 4),
            "! a, b fail in the same way: the network",
        ),
        (
            CascadeChanged("s", CascadePhase.SYSTEMIC, ("a", "b", "c"), "the network", 4, 7),
            "✗ a, b, c fail from one cause: the network; one of them is tried from step 7 on",
        ),
        (
            CascadeChanged("s", CascadePhase.SYSTEMIC, ("a", "b", "c"), "the network", 4),
            "✗ a, b, c fail from one cause: the network; /confirm when it is over",
        ),
        (
            CascadeChanged("s", CascadePhase.RECOVERING, ("b",), "the network", 4),
            "◌ that seems to be over; still to be tried: b",
        ),
        (
            CascadeChanged("s", CascadePhase.OVER, (), "the network", 4),
            "✓ all tools that failed together work again",
        ),
        (LateResult("grep", 0, 2), "· a result of grep came too late to count"),
        (
            ResultLabelled("1", "grep", FreshnessLabel.STALE, "it is old"),
            "! grep: the result is stale: it is old",
        ),
    ],
)
def test_what_a_person_reads(event: Event, line: str | None) -> None:
    found = health_line(event)
    assert (str(found) if found else None) == line
