"""Events of the dispatch layer in one line each."""

from harness.events import (
    BreakerChanged,
    BreakerState,
    CascadeChanged,
    CascadePhase,
    ChangeReason,
    Dispatch,
    Dispatched,
    Event,
    FailureCharged,
    LateResult,
    ResultLabelled,
)
from harness.ui.lines.line import Line, Tone


def health_line(event: Event) -> Line | None:
    """What to print for an event of the dispatch layer; None for one that says nothing to a person."""
    match event:
        case Dispatched(dispatch=Dispatch.PROBE):
            return Line("◌", event.detail, Tone.TROUBLE)
        case Dispatched(in_place_of=skipped) if skipped:
            return Line("→", f"{event.tool} in place of {skipped}")
        case BreakerChanged() if event.before is not event.after or event.why in BY_HAND:
            return _changed(event)
        case FailureCharged() if event.cost and event.consumed >= event.budget - 1:
            left = "one more failure pauses the turn" if event.consumed < event.budget else "the turn pauses"
            return Line("!", f"failure budget: {event.consumed} of {event.budget} used; {left}", Tone.TROUBLE)
        case CascadeChanged():
            return _cascade(event)
        case LateResult():
            return Line("·", f"a result of {event.tool} came too late to count")
        case ResultLabelled():
            return Line("!", f"{event.tool}: the result is {event.label}: {event.evidence}", Tone.TROUBLE)
        case _:
            return None


BY_HAND = frozenset({ChangeReason.TRIPPED, ChangeReason.ISOLATED, ChangeReason.RELEASED, ChangeReason.RESET})


def _changed(event: BreakerChanged) -> Line | None:
    name = event.key.removeprefix("model:")
    match event.why:
        case ChangeReason.THRESHOLD | ChangeReason.PROBE_FAILED:
            times = "once" if event.failures == 1 else f"{event.failures} times in a row"
            probe = f"; tried again from step {event.probe_at} on" if event.probe_at is not None else ""
            detail = f" ({event.detail})" if event.detail else ""
            return Line("✗", f"{name} is open: it failed {times}{detail}{probe}", Tone.BAD)
        case ChangeReason.PROBE_SUCCEEDED:
            return Line("✓", f"{name} works again")
        case ChangeReason.PROBE_GIVEN:
            return None  # the decision about the call has said so, or the turn that begins on its own model
        case _:
            tone = Tone.QUIET if event.after is BreakerState.CLOSED else Tone.TROUBLE
            return Line("→", f"{name} is {event.after.value}: {event.why.value.replace('_', ' ')}", tone)


def _cascade(event: CascadeChanged) -> Line:
    tools = ", ".join(event.tools)
    match event.phase:
        case CascadePhase.SUSPECTED:
            return Line("!", f"{tools} fail in the same way: {event.root}", Tone.TROUBLE)
        case CascadePhase.SYSTEMIC:
            when = (
                f"one of them is tried from step {event.probe_at} on"
                if event.probe_at is not None
                else "/confirm when it is over"
            )
            return Line("✗", f"{tools} fail from one cause: {event.root}; {when}", Tone.BAD)
        case CascadePhase.RECOVERING:
            return Line("◌", f"that seems to be over; still to be tried: {tools}", Tone.TROUBLE)
        case CascadePhase.OVER:
            return Line("✓", "all tools that failed together work again")
