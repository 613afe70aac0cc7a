"""The state of a session, folded from its events: while it runs, and from the records of its journal.

`after` is the one fold. A conversation applies it to every event that it emits, `replay` to those that were recorded,
so a session that is resumed continues from the state that it had.
"""

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import islice, takewhile
from typing import Any

from harness.events import (
    OWN_COMMAND,
    OWN_EFFORT,
    BoardOpened,
    CacheMissed,
    CompactionEnded,
    Event,
    HistoryReplaced,
    MailDelivered,
    McpToolsListed,
    MemberStarted,
    Message,
    MessageAdded,
    ModelSwitched,
    Origin,
    OutputCapChanged,
    PlanChanged,
    PlanItem,
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
    WorktreeEntered,
)
from harness.journal.records import Record

TITLE_CHARACTERS = 80
MOST_BEHIND = 100
"""Prompts behind a compaction that a rewind can go back to; the messages from before it stay in memory for them."""
RESIZED = frozenset({"compaction", "truncation", "clear", "rewind"})
"""Replacements of a history that invalidate its last known size."""
TRUNCATING = frozenset({"clear", "rewind", "rollback"})
"""Replacements of a history that keep only its beginning; only these take a plan back."""


@dataclass(frozen=True, slots=True)
class RewindPoint:
    """A prompt in the history, and the position before it."""

    turn: int
    prompt: str
    index: int
    """Index of its message; a rewind keeps the messages before it."""
    history: Sequence[Message] | None = field(default=None, compare=False, repr=False)
    """The history that it belongs to, where that has been compacted; None: the present one."""


def _surviving(
    points: Iterable[RewindPoint], before: Sequence[Message], event: HistoryReplaced
) -> tuple[RewindPoint, ...]:
    """The points left when an event replaces the history `before`.

    A point survives while its prompt and everything before it do or, if messages only changed in place, while its
    prompt does. One that a compaction removes keeps the history from before it, until a rewind goes back to that.
    """
    after = event.messages
    same = _common_prefix(before, after)
    in_place = len(before) == len(after)
    kept: list[RewindPoint] = []
    for point in points:
        if point.history is not None:
            kept += _behind_a_compaction(point, event)
        elif point.index < same or (in_place and before[point.index] == after[point.index]):
            kept.append(point)
        elif event.reason in ("compaction", "truncation"):
            kept.append(replace(point, history=before))
    behind = sum(point.history is not None for point in kept)
    return tuple(kept[max(0, behind - MOST_BEHIND) :])


def _behind_a_compaction(point: RewindPoint, event: HistoryReplaced) -> Iterator[RewindPoint]:
    """The point after the event, unless it is gone."""
    if event.reason != "rewind" or not event.turn:
        yield from () if event.reason == "clear" else (point,)
    elif point.turn < event.turn:
        history = point.history or ()
        again = point.index < len(event.messages) == _common_prefix(history, event.messages)
        yield replace(point, history=None) if again else point


def _common_prefix(before: Sequence[Message], after: Sequence[Message]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(before, after, strict=False)))


@dataclass(frozen=True, slots=True)
class DeclaredPlan:
    """A plan, and where in the history it was declared."""

    items: tuple[PlanItem, ...]
    index: int
    """Index of the message with the result of the call."""


@dataclass(frozen=True, slots=True)
class PlanHistory:
    """The current plan and its predecessors.

    A plan stays current from turn to turn until another is declared. If the call that declared it is cut off the
    history, its predecessor becomes current again.
    """

    declared: tuple[DeclaredPlan, ...] = ()
    """Oldest first."""

    @property
    def current(self) -> tuple[PlanItem, ...]:
        """The current plan; empty if there is none."""
        return self.declared[-1].items if self.declared else ()

    def changed(self, items: tuple[PlanItem, ...], index: int) -> "PlanHistory":
        """The history after a declaration; declaring the current plan again changes nothing."""
        return self if items == self.current else PlanHistory((*self.declared, DeclaredPlan(items, index)))

    def replaced(self, before: Sequence[Message], event: HistoryReplaced) -> "PlanHistory":
        """The history after the messages `before` were replaced."""
        after = event.messages
        if event.reason in TRUNCATING:
            return PlanHistory(tuple(plan for plan in self.declared if plan.index < len(after)))
        if len(before) == len(after):
            return self
        same = _common_prefix(before, after)
        moved = (DeclaredPlan(plan.items, min(plan.index, same)) for plan in self.declared)
        return PlanHistory(tuple({plan.index: plan for plan in moved}.values()))  # the last one at each index


@dataclass(frozen=True, slots=True)
class CompactionCounts:
    """How often the history of a session was shortened, by method."""

    drains: int = 0
    """Times that old tool results were moved to files."""
    summaries: int = 0
    cuts: int = 0
    """Times that the oldest part was dropped because no summary was available."""
    drained: frozenset[str] = frozenset()
    """Ids of the calls whose results point to a file. Taken from events, because any text could claim it."""

    def after(self, event: Event) -> "CompactionCounts":
        """The counts after an event."""
        match event:
            case CompactionEnded(drained=ids) if ids:
                return replace(self, drains=self.drains + 1, drained=self.drained.union(ids))
            case CompactionEnded(method="summary", succeeded=True):
                return replace(self, summaries=self.summaries + 1)
            case CompactionEnded(method="truncation", tokens_before=before, tokens_after=after) if after < before:
                return replace(self, cuts=self.cuts + 1)
            case _:
                return self


@dataclass(frozen=True, slots=True)
class TokenMeasurement:
    """How the tokens of one model relate to our own count."""

    ratio: float
    """Tokens of the model per token of our own count."""
    exact: bool
    """Whether our own count used the vocabulary of the model."""
    known: tuple[int, int] | None
    """The last size the server reported: by our own count, and in tokens of the model; None if outdated."""


@dataclass(frozen=True, slots=True)
class SessionState:
    """Everything needed to resume a session or to list it."""

    session_id: str = ""
    workspace: str = ""
    forked_from: str | None = None
    title: str = ""
    """The first prompt in one short line; empty before the first turn."""
    model: str = ""
    """The model chosen last; a fallback for a single turn does not count."""
    effort: str = ""
    """The effort chosen last; empty: the default of the model."""
    messages: Sequence[Message] = ()
    """The history; a tuple except within `replay`. After a crash it may hold tool calls without results; it is repaired
    before it is sent."""
    rewind_points: tuple[RewindPoint, ...] = ()
    """The prompts that a rewind can return to, oldest first."""
    steered: tuple[str, ...] = ()
    """Texts that the user gave to running turns of this conversation, oldest first."""
    turn: int = 0
    step: int = 0
    own_commands: int = 0
    """Shell commands that the user ran."""
    interrupted: bool = False
    """Whether the last turn never ended."""
    last_prompt: str = ""
    spend: SpendChanged | None = None
    """None before the first request."""
    shortenings: CompactionCounts = field(default_factory=CompactionCounts)
    raised_caps: Mapping[str, int] = field(default_factory=dict)
    """Raised output caps in tokens, by model."""
    plans: PlanHistory = field(default_factory=PlanHistory)
    asked: RequestSent | None = None
    """The last request of a turn. Thinking in the history belongs to its model, system prompt and tools; None: to
    unknown ones."""
    last_model: str = ""
    """The model of the last request, of a turn or for a summary."""
    plain_until: int = 0
    """Messages before this index are sent without thinking blocks, and stay so: they were written for another prompt,
    or an edit invalidated the blocks after it."""
    lists: PromptListsRead | None = None
    """The lists in the system prompt."""
    server_tools: McpToolsListed | None = None
    """The tools of MCP servers that requests list; None: not chosen yet."""
    board: str = ""
    """File name of its task board; empty: it uses none."""
    worktree: str = ""
    """Name of the worktree that it works in; empty: it works in the user's own tree."""
    planning: int | None = None
    """Turns before plan mode began; None: it is off."""
    team: bool = False
    """It has had members."""
    mail_read: int = 0
    """Id of the last message that is in the history of a member."""
    mail_unmarked: int = 0
    """Messages behind it that are in the history as well, whose mark a crash has prevented."""
    measured: Mapping[str, TokenMeasurement] = field(default_factory=dict)
    """By model."""
    message_id: str = ""
    """The server's id of the last reply of a turn; empty: there is none."""
    cache_misses: tuple[CacheMissed, ...] = ()
    """Oldest first."""


class _Growing(Sequence[Message]):
    """Messages of which each state has more than the one before: all of them share one list.

    With tuples a replay copies the history at every message.
    """

    def __init__(self, messages: list[Message], length: int) -> None:
        self._shared = messages
        self._length = length

    def appended(self, message: Message) -> "_Growing":
        """These and one more."""
        shared = self._shared if len(self._shared) == self._length else self._shared[: self._length]
        shared.append(message)
        return _Growing(shared, len(shared))

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, index: Any) -> Any:
        return self._shared[: self._length][index] if isinstance(index, slice) else self._shared[index]

    def __iter__(self) -> Iterator[Message]:
        return islice(self._shared, self._length)


def replay(records: Iterable[Record]) -> SessionState:
    """The state after `records`, which are in the order of the file."""
    state = reduce(after, (record.event for record in records), SessionState(messages=_Growing([], 0)))
    return replace(state, messages=tuple(state.messages))


def _with(messages: Sequence[Message], message: Message) -> Sequence[Message]:
    return messages.appended(message) if isinstance(messages, _Growing) else (*messages, message)


def _all_of(messages: Sequence[Message], before: Sequence[Message]) -> Sequence[Message]:
    """Messages that replace the history `before`."""
    return _Growing(list(messages), len(messages)) if isinstance(before, _Growing) else messages


def after(state: SessionState, event: Event) -> SessionState:
    """The state after an event."""
    match event:
        case MessageAdded(message=message, origin=origin):
            points = state.rewind_points
            if origin is Origin.PROMPT:
                points += (RewindPoint(state.turn, message.typed, len(state.messages)),)
            if origin is Origin.STEERING:
                state = replace(state, steered=(*state.steered, message.typed))
            if origin is Origin.MAIL:
                state = replace(state, mail_unmarked=state.mail_unmarked + len(message.content))
            return replace(state, messages=_with(state.messages, message), rewind_points=points)
        case HistoryReplaced():
            return _replaced(state, event)
        case PlanChanged(items=items):
            return replace(state, plans=state.plans.changed(items, len(state.messages)))
        case ThinkingOmitted(before=None):
            return replace(state, plain_until=sys.maxsize)
        case ThinkingOmitted(before=int(before)) if state.plain_until < sys.maxsize:
            return replace(state, plain_until=before)
        case CompactionEnded():
            return replace(state, shortenings=state.shortenings.after(event))
        case RequestSent(model=model, purpose=purpose):
            return replace(state, last_model=model, asked=event if purpose == "turn" else state.asked)
        case ReplyReceived(counted=counted, usage=usage):
            measured = state.measured
            if counted and usage.prompt:
                known = TokenMeasurement(event.ratio, event.exact, (counted, usage.prompt + usage.output))
                measured = {**measured, state.last_model: known}
            return replace(state, message_id=event.message_id or state.message_id, measured=measured)
        case CacheMissed():
            return replace(state, cache_misses=(*state.cache_misses, event))
        case OutputCapChanged(model=model, session_cap=int(cap)):
            return replace(state, raised_caps={**state.raised_caps, model: cap})
        case SpendChanged():
            return replace(state, spend=event)
        case _:
            return _after(state, event)


def _replaced(state: SessionState, event: HistoryReplaced) -> SessionState:
    before, messages = state.messages, event.messages
    plain_until = state.plain_until
    if plain_until < sys.maxsize:
        plain_until = len(messages) if event.plain_until is None else event.plain_until
    replaced = replace(
        state,
        messages=_all_of(messages, before),
        rewind_points=_surviving(state.rewind_points, before, event),
        plans=state.plans.replaced(before, event),
        plain_until=plain_until,
    )
    return _resized(replaced) if event.reason in RESIZED else replaced


def _resized(state: SessionState) -> SessionState:
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
        case WorktreeEntered(name=name, path=path):
            return replace(state, worktree=name, workspace=path)
        case SettingChanged(name="effort", value=effort):
            return replace(state, effort="" if effort == OWN_EFFORT else effort)
        case SettingChanged(name="model", value=model):
            return _resized(replace(state, model=model))
        case SettingChanged(name="permission_mode", value="plan"):
            return replace(state, planning=state.turn - state.interrupted if state.planning is None else state.planning)
        case SettingChanged(name="permission_mode"):
            return replace(state, planning=None)
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
        case PromptListsRead():
            return replace(state, lists=event)
        case McpToolsListed():
            return replace(state, server_tools=event)
        case BoardOpened(board=board):
            return replace(state, board=board)
        case MemberStarted():
            return replace(state, team=True)
        case MailDelivered(ids=ids):
            return replace(state, mail_read=max(ids, default=state.mail_read), mail_unmarked=0)
        case _:
            return state


def title_of(prompt: str) -> str:
    """A prompt as one line of at most 80 characters."""
    line = " ".join(prompt.split())
    return line if len(line) <= TITLE_CHARACTERS else line[: TITLE_CHARACTERS - 1] + "…"
