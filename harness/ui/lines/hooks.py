"""Hooks in one line each: what one changed, and the first failure of each. One that let everything pass is silent."""

from harness.events import Event, HookFailed, HookOutcome, HookRan
from harness.ui.lines.line import Line, Tone

_DID = {
    HookOutcome.ADDED: "told the model",
    HookOutcome.CHANGED: "changed the input",
    HookOutcome.ALLOWED: "allowed it",
    HookOutcome.ASKED: "wants you to be asked",
    HookOutcome.DENIED: "did not allow it",
    HookOutcome.BLOCKED: "objects",
    HookOutcome.STOPPED: "ends the turn",
}


def hook_line(event: Event) -> Line | None:
    """What to print for an event of a hook; None for any other, and for one that says nothing to a person."""
    match event:
        case HookRan(outcome=outcome) if outcome in _DID:
            detail = f": {event.detail}" if event.detail else ""
            ends = outcome is HookOutcome.STOPPED
            return Line("·", f"{_name(event)} {_DID[outcome]}{detail}", Tone.TROUBLE if ends else Tone.QUIET)
        case HookFailed(times=1):
            then = "it is required, so this counts as a no" if event.required else "the turn goes on; told once"
            return Line("!", f"{_name(event)} failed: {event.why} ({then})", Tone.TROUBLE)
        case _:
            return None


def _name(event: HookRan | HookFailed) -> str:
    return f"hook {event.name} ({event.point.replace('_', ' ')})"
