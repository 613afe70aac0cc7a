"""What happens between us and the model, event by event."""

from dataclasses import replace

from harness.events import (
    CompactionEnded,
    CompactionStarted,
    Event,
    FaultOccurred,
    LoopAnswered,
    LoopAsked,
    MessageAdded,
    ModelSwitched,
    Origin,
    OutputCapChanged,
    PartialDiscarded,
    ReplyReceived,
    RequestSent,
    RetryBudgetSpent,
    RetryEnded,
    RetryScheduled,
    SessionResumed,
    SessionStarted,
    SettingChanged,
    StepStarted,
    Transition,
    TransitionCode,
    TurnEnded,
    TurnStarted,
    WaitAnswered,
    WaitOffered,
)
from harness.ui.panel.state import ModelView, Phase

GOES_ON = (TransitionCode.MAX_OUTPUT_TOKENS_RECOVERY, TransitionCode.TOKEN_BUDGET_CONTINUATION)


def after(model: ModelView, event: Event, at: float, resting: Phase) -> ModelView:
    """The block after an event of Unix time `at`.

    Args:
        resting: the phase in which nothing is under way: IDLE or DECIDING.
    """
    match event:
        case SessionStarted(model=name, practice=practice):
            return ModelView(chosen=name, active=name, practice=practice, since=at)
        case SessionResumed(model=name, practice=practice):
            return ModelView(chosen=name, active=name, practice=practice, since=at, transition=model.transition)
        case SettingChanged(name="model", value=name):
            idle = model.phase is Phase.IDLE
            return replace(model, chosen=name, active=name if idle else model.active)
        case TurnStarted():
            begun = ModelView(chosen=model.chosen, active=model.chosen, practice=model.practice)
            return replace(begun, phase=Phase.DECIDING, since=at, transition=model.transition)
        case StepStarted():
            return _in(replace(model, discarded_characters=0), Phase.DECIDING, at)
        case RequestSent():
            return _asked(replace(model, chosen=model.chosen or event.model), event, at)
        case ReplyReceived():
            return _in(replace(model, fault=None), _resting(model, resting), at)
        case FaultOccurred(fault=fault, attempt=attempt):
            return _in(replace(model, fault=fault, attempt=attempt), _resting(model, resting), at)
        case MessageAdded(origin=Origin.REPLY) if model.fault is not None:
            return _kept(model, event)
        case PartialDiscarded(characters=characters):
            return replace(model, discarded_characters=model.discarded_characters + characters)
        case RetryScheduled():
            return _in(replace(model, retry=event), Phase.WAITING, at)
        case RetryBudgetSpent():
            return replace(model, retries_spent=event)
        case RetryEnded():
            return _in(replace(model, retry=None), _resting(model, resting), at)
        case WaitOffered():
            return _in(replace(model, offered=event), Phase.OFFERED, at)
        case WaitAnswered():
            return _in(replace(model, offered=None), _resting(model, resting), at)
        case LoopAsked():
            return _in(replace(model, loop=event), Phase.LOOP, at)
        case LoopAnswered():
            return _in(replace(model, loop=None), _resting(model, resting), at)
        case ModelSwitched(to_model=name, lasting=lasting):
            chosen = name if lasting else model.chosen
            return replace(model, active=name, chosen=chosen, switched=None if name == chosen else event)
        case OutputCapChanged():
            return replace(model, cap=event)
        case CompactionStarted():
            return _in(replace(model, compacting=event, compacted=None), Phase.COMPACTING, at)
        case CompactionEnded():
            return _in(replace(model, compacting=None, compacted=event, retry=None), resting, at)
        case Transition():
            return _in(_decided(model, event), resting, at)
        case TurnEnded():
            over = replace(model, retry=None, offered=None, loop=None, compacting=None, fault=None)
            return _in(over, Phase.IDLE, at)
        case _:
            return model


def in_phase(model: ModelView, phase: Phase, at: float) -> ModelView:
    """The block in a phase that others than the model's own events lead to."""
    return _in(model, phase, at)


def _in(model: ModelView, phase: Phase, at: float) -> ModelView:
    return model if model.phase is phase else replace(model, phase=phase, since=at)


def _resting(model: ModelView, resting: Phase) -> Phase:
    """The requests of a compaction come and go within it."""
    return Phase.COMPACTING if model.compacting else resting


def _asked(model: ModelView, event: RequestSent, at: float) -> ModelView:
    asked = replace(model, attempt=event.attempt, retry=None, offered=None, loop=None)
    if event.purpose == "summary":
        return asked
    return replace(asked, active=event.model, phase=Phase.ASKING, since=at)


def _kept(model: ModelView, event: MessageAdded) -> ModelView:
    calls = sum(block.get("type") == "tool_use" for block in event.message.content)
    characters = model.kept_characters + len(event.message.text)
    return replace(model, kept_characters=characters, kept_calls=model.kept_calls + calls)


def _decided(model: ModelView, event: Transition) -> ModelView:
    goes_on = event.code in GOES_ON
    return replace(
        model,
        transition=event,
        continuations=event.number if goes_on else 0,
        most_continuations=event.most if goes_on else 0,
    )
