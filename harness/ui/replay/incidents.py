"""Which events somebody looks for who replays a session."""

from harness.events import (
    AgentEnd,
    AgentEnded,
    BreakerChanged,
    BreakerState,
    CascadeChanged,
    CommandEnd,
    CommandEnded,
    CommandQuiet,
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
    WorkDropped,
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
        case AgentEnded(end=end):
            return end not in (AgentEnd.ANSWERED, AgentEnd.CANCELLED)
        case CommandEnded(end=end, exit_code=code):
            return end is not CommandEnd.STOPPED and (end is not CommandEnd.EXITED or code != 0)
        case CommandQuiet():
            return True
        case WorkDropped(dirty=dirty):
            return not dirty
        case OutputCapChanged():
            return event.to_cap > event.from_cap
        case TurnEnded(code=code):
            return code is not TransitionCode.COMPLETED
        case _:
            return False
