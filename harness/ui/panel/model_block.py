"""What happens between us and the model: one event further."""

from dataclasses import replace

from harness.events import (
    CompactionEnded,
    CompactionStarted,
    Event,
    FaultOccurred,
    Message,
    ModelSwitched,
    OutputCapChanged,
    PartialDiscarded,
    PermissionAnswered,
    PermissionAsked,
    ReplyReceived,
    RequestSent,
    RetryEnded,
    RetryScheduled,
    SessionResumed,
    SessionStarted,
    SettingChanged,
    SilenceHint,
    StepStarted,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
    ToolEnded,
    ToolStarted,
    Transition,
    TransitionCode,
    TurnEnded,
    TurnStarted,
    WaitAnswered,
    WaitOffered,
)
from harness.ui.panel.state import ModelView, Phase

STREAMED = (TextDelta, ThinkingDelta, ToolCallDelta)


def model_after(model: ModelView, event: Event, at: float, *, busy: bool) -> ModelView:
    """The block after an event.

    Args:
        model: the block before it.
        event: what happened.
        at: when, in Unix time.
        busy: whether tools still run after this event.
    """
    after = _changed(model, event, busy=busy)
    if after.silence is model.silence and after.silence is not None and not isinstance(event, SilenceHint):
        after = replace(after, silence=None)
    return replace(after, since=at) if after.phase is not model.phase else after


def _changed(model: ModelView, event: Event, *, busy: bool) -> ModelView:
    match event:
        case SessionStarted() | SessionResumed():
            return ModelView(event.model, event.model, event.practice)
        case SettingChanged(name="model", value=name):
            return replace(model, chosen=name, active=name)
        case TurnStarted():
            return ModelView(model.chosen, model.active, model.practice, Phase.DECIDING)
        case TurnEnded():
            return replace(model, phase=Phase.IDLE, retry=None, offered=None, compacting=None, fault=None)
        case StepStarted():
            return replace(model, discarded_characters=0, phase=Phase.DECIDING)
        case ToolStarted():
            return replace(model, phase=Phase.TOOLS)
        case ToolEnded() if model.phase is Phase.TOOLS and not busy:
            return replace(model, phase=Phase.DECIDING)
        case PermissionAsked():
            return replace(model, phase=Phase.PERMISSION)
        case PermissionAnswered() if model.phase is Phase.PERMISSION:
            return replace(model, phase=Phase.TOOLS if busy else Phase.DECIDING)
        case _:
            return _asked(_recovering(model, event), event)


def _asked(model: ModelView, event: Event) -> ModelView:
    """Requests and what comes back."""
    match event:
        case RequestSent(purpose="summary"):
            return replace(model, attempt=event.attempt, retry=None)
        case RequestSent():
            return replace(model, phase=Phase.ASKING, active=event.model, attempt=event.attempt, retry=None)
        case _ if isinstance(event, STREAMED) and model.phase is Phase.ASKING:
            return replace(model, phase=Phase.ANSWERING)
        case ReplyReceived() if model.phase is not Phase.COMPACTING:
            return replace(model, phase=Phase.DECIDING, fault=None, kept_characters=0, kept_calls=0)
        case ReplyReceived():
            return replace(model, fault=None)
        case FaultOccurred(fault=fault):
            phase = model.phase if model.phase is Phase.COMPACTING else Phase.DECIDING
            characters = len(Message("assistant", fault.kept).text)
            return replace(model, phase=phase, fault=fault, kept_characters=characters, kept_calls=len(fault.calls))
        case SilenceHint():
            return replace(model, silence=event)
        case Transition(code=code):
            after = replace(model, transition=event, phase=Phase.DECIDING)
            if code is TransitionCode.MAX_OUTPUT_TOKENS_RECOVERY and not event.number:
                return after  # an empty reply is asked for again; that is no continuation
            return replace(after, continuations=event.number, most_continuations=event.most)
        case _:
            return model


def _recovering(model: ModelView, event: Event) -> ModelView:
    """Decisions about what went wrong, and how they are carried out."""
    match event:
        case RetryScheduled():
            return replace(model, phase=Phase.WAITING, retry=event)
        case RetryEnded():
            compacting = model.compacting is not None
            return replace(model, phase=Phase.COMPACTING if compacting else Phase.DECIDING, retry=None)
        case WaitOffered():
            return replace(model, phase=Phase.OFFERED, offered=event)
        case WaitAnswered():
            return replace(model, phase=Phase.DECIDING, offered=None)
        case ModelSwitched(to_model=name):
            chosen = name if event.lasting else model.chosen
            return replace(model, chosen=chosen, active=name, switched=None if name == chosen else event)
        case OutputCapChanged():
            return replace(model, cap=event)
        case PartialDiscarded(characters=characters):
            return replace(model, discarded_characters=model.discarded_characters + characters)
        case CompactionStarted():
            return replace(model, phase=Phase.COMPACTING, compacting=event)
        case CompactionEnded():
            return replace(model, phase=Phase.DECIDING, compacting=None, compacted=event)
        case _:
            return model
