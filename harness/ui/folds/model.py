"""The exchange with the model, folded from events."""

from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType
from typing import NamedTuple

from harness.base.clock import time_of_day
from harness.events import (
    CompactionEnded,
    CompactionStarted,
    Event,
    Fault,
    FaultOccurred,
    HoldReason,
    LoopAnswered,
    LoopAsked,
    MessageAdded,
    ModelSwitched,
    Origin,
    OutputCapChanged,
    PartialDiscarded,
    ReplyReceived,
    RequestHeld,
    RequestLimitSet,
    RequestSent,
    RetryBudgetSpent,
    RetryEnded,
    RetryScheduled,
    SessionResumed,
    SessionStarted,
    SettingChanged,
    SilenceHint,
    StepStarted,
    Transition,
    TransitionCode,
    TurnEnded,
    TurnStarted,
    WaitAnswered,
    WaitOffered,
)

GOES_ON = (TransitionCode.MAX_OUTPUT_TOKENS_RECOVERY, TransitionCode.TOKEN_BUDGET_CONTINUATION)


HELD = MappingProxyType(
    {
        HoldReason.LIMIT: "as many requests as may are in flight",
        HoldReason.RETRY_AFTER: "the server asked to wait",
        HoldReason.OPEN: "another session found it overloaded; it is tested again",
        HoldReason.PROBE: "another request tests whether it has recovered",
    }
)
"""Why a request waits for other sessions."""


class Phase(Enum):
    """What the turn does now."""

    IDLE = "idle"
    """No turn runs."""
    ASKING = "asking"
    """A request is out, without a reply so far."""
    THINKING = "thinking"
    """Thinking streams in."""
    ANSWERING = "answering"
    """The answer streams in."""
    WAITING = "waiting"
    """Waits for a retry, or for other sessions."""
    OFFERED = "offered"
    """The server asks for a long wait; waits for the user's choice."""
    COMPACTING = "compacting"
    TOOLS = "tools"
    """Tools run."""
    PERMISSION = "permission"
    """A tool call waits for permission."""
    QUESTION = "question"
    """A question waits for the user's answer."""
    LOOP = "loop"
    """A loop was found; waits for the user's choice."""
    DECIDING = "deciding"
    """A reply or tool results have arrived, and the next step is being decided."""


class ModelStatus(NamedTuple):
    """The exchange with the model."""

    chosen: str = ""
    """The model that the session has chosen."""
    active: str = ""
    """The model asked now; a fallback if it is not `chosen`."""
    practice: bool = False
    phase: Phase = Phase.IDLE
    since: float = 0.0
    """Unix time at which this phase began."""
    attempt: int = 0
    """Of the last request; 1 for its first."""
    retry: RetryScheduled | None = None
    """The retry waited for."""
    held: RequestHeld | None = None
    """The request that waits for other sessions."""
    limits: Mapping[str, RequestLimitSet] = MappingProxyType({})
    """The limits of requests that all sessions share, by model."""
    offered: WaitOffered | None = None
    """The long wait that the user is asked about."""
    loop: LoopAsked | None = None
    """The loop that the user is asked about."""
    fault: Fault | None = None
    """The last fault of the current request; None after a good reply."""
    kept_characters: int = 0
    """Characters of this turn that were kept although a later part failed."""
    kept_calls: int = 0
    """Complete tool calls, likewise."""
    discarded_characters: int = 0
    """Characters of this step that were shown and then discarded."""
    transition: Transition | None = None
    cap: OutputCapChanged | None = None
    """The last change of the output cap in this turn."""
    continuations: int = 0
    """Continuations in a row."""
    most_continuations: int = 0
    """Their limit; 0: unknown."""
    compacting: CompactionStarted | None = None
    compacted: CompactionEnded | None = None
    """The last compaction of this turn, or a manual one after it."""
    switched: ModelSwitched | None = None
    """The last switch in this turn, unless back to the chosen model."""
    retries_spent: RetryBudgetSpent | None = None
    """The shared retry budget was exhausted in this turn."""
    silence: SilenceHint | None = None
    """Transient, so never replayed."""
    streamed_characters: int = 0
    """Characters of the streaming reply so far, likewise."""


def after(model: ModelStatus, event: Event, at: float, resting: Phase) -> ModelStatus:
    """The status after an event of Unix time `at`.

    Args:
        resting: the phase to return to when an activity ends: IDLE or DECIDING.
    """
    match event:
        case SessionStarted(model=name, practice=practice):
            return ModelStatus(chosen=name, active=name, practice=practice, since=at)
        case SessionResumed(model=name, practice=practice):
            return ModelStatus(chosen=name, active=name, practice=practice, since=at, transition=model.transition)
        case SettingChanged(name="model", value=name):
            idle = model.phase is Phase.IDLE
            return model._replace(chosen=name, active=name if idle else model.active)
        case TurnStarted():
            begun = ModelStatus(chosen=model.chosen, active=model.chosen, practice=model.practice, limits=model.limits)
            return begun._replace(phase=Phase.DECIDING, since=at, transition=model.transition)
        case StepStarted():
            return _in(model._replace(discarded_characters=0), Phase.DECIDING, at)
        case RequestSent():
            return _asked(model._replace(chosen=model.chosen or event.model), event, at)
        case ReplyReceived():
            return _in(model._replace(fault=None), _resting(model, resting), at)
        case FaultOccurred(fault=fault, attempt=attempt):
            return _in(model._replace(fault=fault, attempt=attempt), _resting(model, resting), at)
        case MessageAdded(origin=Origin.REPLY) if model.fault is not None:
            return _kept(model, event)
        case PartialDiscarded(characters=characters):
            return model._replace(discarded_characters=model.discarded_characters + characters)
        case RetryScheduled():
            return _in(model._replace(retry=event), Phase.WAITING, at)
        case RequestHeld():
            return _in(model._replace(held=event), Phase.WAITING, at)
        case RequestLimitSet(model=name, limit=limit):
            others = {other: one for other, one in model.limits.items() if other != name}
            return model._replace(limits=others if limit is None and not event.wait_until else {**others, name: event})
        case RetryBudgetSpent():
            return model._replace(retries_spent=event)
        case RetryEnded():
            return _in(model._replace(retry=None), _resting(model, resting), at)
        case WaitOffered():
            return _in(model._replace(offered=event), Phase.OFFERED, at)
        case WaitAnswered():
            return _in(model._replace(offered=None), _resting(model, resting), at)
        case LoopAsked():
            return _in(model._replace(loop=event), Phase.LOOP, at)
        case LoopAnswered():
            return _in(model._replace(loop=None), _resting(model, resting), at)
        case ModelSwitched(to_model=name, lasting=lasting):
            chosen = name if lasting else model.chosen
            return model._replace(active=name, chosen=chosen, held=None, switched=None if name == chosen else event)
        case OutputCapChanged():
            return model._replace(cap=event)
        case CompactionStarted():
            return _in(model._replace(compacting=event, compacted=None), Phase.COMPACTING, at)
        case CompactionEnded():
            return _in(model._replace(compacting=None, compacted=event, retry=None), resting, at)
        case Transition():
            return _in(_decided(model, event), resting, at)
        case TurnEnded():
            over = model._replace(retry=None, held=None, offered=None, loop=None, compacting=None, fault=None)
            return _in(over, Phase.IDLE, at)
        case _:
            return model


def in_phase(model: ModelStatus, phase: Phase, at: float) -> ModelStatus:
    """The status in another phase, such as that of a tool."""
    return _in(model, phase, at)


def _in(model: ModelStatus, phase: Phase, at: float) -> ModelStatus:
    return model if model.phase is phase else model._replace(phase=phase, since=at)


def _resting(model: ModelStatus, resting: Phase) -> Phase:
    """The requests of a compaction are part of it."""
    return Phase.COMPACTING if model.compacting else resting


def _asked(model: ModelStatus, event: RequestSent, at: float) -> ModelStatus:
    asked = model._replace(attempt=event.attempt, retry=None, held=None, offered=None, loop=None)
    if event.purpose == "summary":
        return asked
    return asked._replace(active=event.model, phase=Phase.ASKING, since=at)


def _kept(model: ModelStatus, event: MessageAdded) -> ModelStatus:
    calls = sum(block.get("type") == "tool_use" for block in event.message.content)
    characters = model.kept_characters + len(event.message.text)
    return model._replace(kept_characters=characters, kept_calls=model.kept_calls + calls)


def _decided(model: ModelStatus, event: Transition) -> ModelStatus:
    goes_on = event.code in GOES_ON
    return model._replace(
        transition=event,
        continuations=event.number if goes_on else 0,
        most_continuations=event.most if goes_on else 0,
    )


def held_in_words(held: RequestHeld) -> str:
    """Why a request waits, for the user."""
    until = (
        "" if held.until is None else f" {'by' if held.why is HoldReason.OPEN else 'until'} {time_of_day(held.until)}"
    )
    return f"{HELD[held.why]}{until}"


def limit_in_words(limit: RequestLimitSet) -> str:
    """A limit of requests for the user, with its reason."""
    waits = f"the server asked to wait until {time_of_day(limit.wait_until)}" if limit.wait_until else ""
    if limit.limit is None:
        return waits or "the limit of requests has ended"
    most = f"at most {limit.limit} of {limit.most} requests at a time"
    return f"{most}, refused at {time_of_day(limit.refused_at)}{waits and '; '}{waits}"
