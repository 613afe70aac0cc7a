"""What a session was when its journal ended: a fold over the records."""

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from harness.events import (
    OWN_COMMAND,
    OWN_EFFORT,
    CacheMissed,
    CompactionEnded,
    Event,
    HistoryReplaced,
    Message,
    MessageAdded,
    ModelSwitched,
    Origin,
    OutputCapChanged,
    PlanChanged,
    PromptListsRead,
    ReplyReceived,
    RequestSent,
    SessionResumed,
    SessionStarted,
    SettingChanged,
    SpendChanged,
    StepStarted,
    ThinkingOmitted,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)
from harness.journal.compaction_count import Shortenings
from harness.journal.plans import Plans
from harness.journal.records import Record
from harness.journal.rewind_points import RewindPoint, rewind_point, surviving

TITLE_CHARACTERS = 80
RESIZED = frozenset({"compaction", "truncation", "clear", "rewind"})
"""Replacements of a history after which the last known size says nothing any more."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What is known of the size of a conversation in the tokens of one model."""

    ratio: float
    """Tokens of the model for one token of our own count."""
    exact: bool
    """Our own count was made with the vocabulary."""
    known: tuple[int, int] | None
    """The last size that the server reported: by our own count, and in tokens of the model; None: it holds no more."""


@dataclass(frozen=True, slots=True)
class SessionState:
    """All that a session needs to go on, or a list needs to show it."""

    session_id: str = ""
    workspace: str = ""
    forked_from: str | None = None
    title: str = ""
    """The first prompt in one short line; empty when nothing was said yet."""
    model: str = ""
    """The model that was chosen last; a fallback that held for one turn does not count (recovery C4)."""
    effort: str = ""
    """The effort that was chosen last; empty: the model's own."""
    messages: tuple[Message, ...] = ()
    """The history as it stood. After a crash it may hold tool calls without results; it is repaired before it is
    sent, not here (recovery F1)."""
    rewind_points: tuple[RewindPoint, ...] = ()
    """The prompts in it that a rewind can go back to, oldest first."""
    turn: int = 0
    step: int = 0
    own_commands: int = 0
    """Commands that the person ran."""
    interrupted: bool = False
    """The last turn began and never ended (recovery K3)."""
    last_prompt: str = ""
    spend: SpendChanged | None = None
    """The last reckoning; None when no request was sent."""
    shortenings: Shortenings = field(default_factory=Shortenings)
    """How often the history was made shorter."""
    raised_caps: Mapping[str, int] = field(default_factory=dict)
    """Output caps that were raised, in tokens, by model."""
    plans: Plans = field(default_factory=Plans)
    """The plan that holds, and those before it."""
    asked: RequestSent | None = None
    """The last request of a turn."""
    plain_until: int = 0
    """Messages before this index are sent without thinking blocks."""
    lists: PromptListsRead | None = None
    """What the system prompt listed."""
    measured: Mapping[str, Measured] = field(default_factory=dict)
    """By model."""
    message_id: str = ""
    """The server's id of the last reply of a turn."""
    cache_misses: tuple[CacheMissed, ...] = ()
    started_at: float = 0.0
    """Unix time of the first record."""
    updated_at: float = 0.0
    """Unix time of the last record."""


def replay(records: Iterable[Record]) -> SessionState:
    """The state after `records`, which are in the order of the file."""
    state = SessionState()
    messages: list[Message] = []
    points: list[RewindPoint] = []
    plans = Plans()
    started_at = updated_at = 0.0
    asked = ""
    for record in records:
        match record.event:
            case MessageAdded(message=message, origin=origin):
                if origin is Origin.PROMPT:
                    points.append(rewind_point(state.turn, message, len(messages)))
                messages.append(message)
            case PlanChanged(items=items):
                plans = plans.changed(items, len(messages))
            case HistoryReplaced(messages=replacement) as event:
                plans = plans.replaced(messages, event)
                points = list(surviving(points, messages, replacement))
                messages = list(replacement)
                if event.reason in RESIZED:
                    state = _resized(state)
                if state.plain_until < sys.maxsize:
                    plain_until = len(messages) if event.plain_until is None else event.plain_until
                    state = replace(state, plain_until=plain_until)
            case ReplyReceived(counted=counted, usage=usage) as event:
                state = replace(state, message_id=event.message_id or state.message_id)
                if counted and usage.prompt:
                    measured = Measured(event.ratio, event.exact, (counted, usage.prompt + usage.output))
                    state = replace(state, measured={**state.measured, asked: measured})
            case event:
                asked = event.model if isinstance(event, RequestSent) else asked
                state = _after(state, event)
        started_at, updated_at = started_at or record.at, record.at
    return replace(
        state,
        messages=tuple(messages),
        rewind_points=tuple(points),
        plans=plans,
        started_at=started_at,
        updated_at=updated_at,
    )


def _resized(state: SessionState) -> SessionState:
    """The same after the history was made another one: the last known sizes hold no more."""
    return replace(state, measured={model: replace(one, known=None) for model, one in state.measured.items()})


def _after(state: SessionState, event: Event) -> SessionState:
    match event:
        case SessionStarted():
            return replace(
                state,
                session_id=event.session_id,
                workspace=event.workspace,
                forked_from=event.forked_from,
                model=event.model,
                effort=event.effort,
            )
        case SessionResumed():
            return replace(state, model=event.model, effort=event.effort)
        case SettingChanged(name="effort", value=effort):
            return replace(state, effort="" if effort == OWN_EFFORT else effort)
        case SettingChanged(name="model", value=model):
            return _resized(replace(state, model=model))
        case ModelSwitched(lasting=lasting, to_model=model):
            return _resized(replace(state, model=model) if lasting else state)
        case TurnStarted(turn=turn, prompt=prompt):
            title = state.title or title_of(prompt)
            return replace(state, turn=turn, title=title, last_prompt=prompt, interrupted=True)
        case TurnEnded():
            return replace(state, interrupted=False)
        case StepStarted(step=step):
            return replace(state, step=step)
        case ToolStarted(call_id=call_id) if call_id.startswith(OWN_COMMAND):
            return replace(state, own_commands=state.own_commands + 1)
        case SpendChanged():
            return replace(state, spend=event)
        case OutputCapChanged(model=model, session_cap=int(cap)):
            return replace(state, raised_caps={**state.raised_caps, model: cap})
        case RequestSent(purpose="turn"):
            return replace(state, asked=event)
        case ThinkingOmitted(before=None):
            return replace(state, plain_until=sys.maxsize)
        case ThinkingOmitted(before=int(before)) if state.plain_until < sys.maxsize:
            return replace(state, plain_until=before)
        case PromptListsRead():
            return replace(state, lists=event)
        case CacheMissed():
            return replace(state, cache_misses=(*state.cache_misses, event))
        case CompactionEnded():
            return replace(state, shortenings=state.shortenings.after(event))
        case _:
            return state


def title_of(prompt: str) -> str:
    """A prompt as one line of at most 80 characters."""
    line = " ".join(prompt.split())
    return line if len(line) <= TITLE_CHARACTERS else line[: TITLE_CHARACTERS - 1] + "…"
