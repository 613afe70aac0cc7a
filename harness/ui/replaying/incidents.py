"""Which events somebody looks for who replays a session."""

from harness.events import (
    BreakerChanged,
    BreakerState,
    CascadeChanged,
    CompactionStarted,
    Event,
    FaultOccurred,
    Intervened,
    LoopFound,
    ModelSwitched,
    OutputCapChanged,
    PauseReported,
    RetryScheduled,
    StuckReported,
    TransitionCode,
    TurnEnded,
)


def is_incident(event: Event) -> bool:
    """Whether something went wrong here, or was done about it, that a person may want to jump to."""
    match event:
        case FaultOccurred() | RetryScheduled() | ModelSwitched() | CompactionStarted():
            return True
        case CascadeChanged() | PauseReported():
            return True
        case LoopFound() | Intervened() | StuckReported():
            return True
        case BreakerChanged(before=before, after=BreakerState.OPEN):
            return before is not BreakerState.OPEN
        case OutputCapChanged():
            return event.to_cap > event.from_cap
        case TurnEnded(code=code):
            return code is not TransitionCode.COMPLETED
        case _:
            return False
