"""The running state of a conversation: history, counters, spend.

Every change is an event first. `emit` is the one place where events leave an agent: the journal writes each event
before any subscriber receives it, so that a front end never shows more than was recorded.
"""

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from operator import add, sub
from typing import Any, Literal

from harness.base.secrets import Masking
from harness.events import (
    Block,
    BoardOpened,
    CacheMissed,
    Denial,
    Event,
    HistoryReplaced,
    Message,
    MessageAdded,
    Origin,
    OutputCapChanged,
    PlanChanged,
    PlanItem,
    PromptListsRead,
    ReplyReceived,
    RequestSent,
    SpendChanged,
    StepStarted,
    ThinkingOmitted,
    Usage,
)
from harness.journal import (
    SessionState,
    rewind_point,
    surviving,
)
from harness.model import history

NOTHING_SPENT = SpendChanged(requests=0, usage=Usage(), cost_usd=0.0, retry_usage=Usage(), retry_cost_usd=0.0)


class Conversation:
    """Messages, counters and spend of one session."""

    def __init__(
        self,
        record: Callable[[Event], Iterable[Event] | None],
        state: SessionState | None = None,
        *,
        messages: Sequence[Message] = (),
        masking: Masking | None = None,
    ) -> None:
        """
        Args:
            record: called with each event before any subscriber; returns what is shown without being recorded.
            state: what a journal holds, to continue from; None: a new conversation.
            messages: the history of a new conversation.
            masking: removes known keys from every event and message; None: one without keys.
        """
        state = state or SessionState(messages=tuple(messages))
        self._record = record
        self.masking = masking or Masking()
        """What takes known keys out of every event and message."""
        self._messages = list(map(self.masking.value, state.messages))
        self._listener: Callable[[Event], None] | None = None
        self._subscribers: list[Callable[[Event], None]] = []
        self.rewind_points = state.rewind_points
        """The prompts in the history that a rewind can go back to, oldest first."""
        self.turn = state.turn
        self.step = state.step
        self.own_commands = state.own_commands
        """Shell commands of the user so far."""
        self.spend = state.spend or NOTHING_SPENT
        self.shortenings = state.shortenings
        """How often the history was made shorter."""
        self.raised_caps = dict(state.raised_caps)
        """Output caps that were raised in the session, in tokens, by model."""
        self.plans = state.plans
        """The plan that holds, and those that it may be taken back to."""
        self.asked = state.asked
        """The last request of a turn. Thinking in the history is bound to its model, system prompt and tools; None: for
        what it was written is not known."""
        self.plain_until = state.plain_until
        """Messages before this index are sent without thinking blocks, and stay so: they were written for another
        prompt, or the blocks after an edit would no longer be valid."""
        if self.plain_until < sys.maxsize:
            self.plain_until = history.plain_after(state.messages, self._messages, self.plain_until)
        self.lists = state.lists
        """What the system prompt lists; None: nothing yet."""
        self.board = state.board
        """File name of its task board; empty: it uses none."""
        self.measured = state.measured
        """Sizes that were known when the conversation was opened, by model."""
        self.message_id = state.message_id
        """The server's id of the last reply of a turn; empty: there is none."""
        self.cache_misses = state.cache_misses
        """Why the prompt cache missed, oldest first."""
        self.denials: list[Denial] = []
        """Tool calls that were not allowed, also of subagents, oldest first."""

    @property
    def messages(self) -> tuple[Message, ...]:
        """The history, oldest first, as it was received."""
        return tuple(self._messages)

    @property
    def plan(self) -> tuple[PlanItem, ...]:
        """The plan that was accepted last; empty: there is none."""
        return self.plans.current

    def listen(self, listener: Callable[[Event], None] | None) -> None:
        """Let `listener` see every event after it was recorded; None ends that."""
        self._listener = listener

    def subscribe(self, subscriber: Callable[[Event], None]) -> None:
        """Call `subscriber` with every event after it was recorded and shown. It may emit events itself."""
        self._subscribers.append(subscriber)

    def emit(self, event: Event) -> None:
        """Record an event and pass it on."""
        event = self.masking.value(event)
        for unrecorded in self._record(event) or ():
            self.show(unrecorded)
        self.shortenings = self.shortenings.after(event)
        match event:
            case PlanChanged():
                self.plans = self.plans.changed(event.items, len(self._messages))
            case OutputCapChanged(model=model, session_cap=int(cap)):
                self.raised_caps[model] = cap
            case RequestSent(purpose="turn"):
                self.asked = event
            case PromptListsRead():
                self.lists = event
            case BoardOpened(board=board):
                self.board = board
            case ReplyReceived(message_id=id) if id:
                self.message_id = id
            case CacheMissed():
                self.cache_misses += (event,)
        self.show(event)
        for subscriber in self._subscribers:
            subscriber(event)

    def show(self, event: Event) -> None:
        """Pass an event on without recording it."""
        if self._listener is not None:
            self._listener(event)

    def add(self, role: Literal["user", "assistant"], content: Sequence[Block], origin: Origin) -> None:
        """Append a message. Empty content adds nothing, because the API rejects empty messages."""
        if content:
            message = self.masking.value(Message(role, tuple(content)))
            if origin is Origin.PROMPT:
                self.rewind_points += (rewind_point(self.turn, message, len(self._messages)),)
            self._messages.append(message)
            self.emit(MessageAdded(message, origin))

    def replace(
        self,
        messages: Sequence[Message],
        reason: Literal["compaction", "truncation", "clear", "rewind", "rollback", "thinking", "media", "repair"],
    ) -> None:
        """Replace the whole history. The new one is recorded before it counts.

        Where that reverts a plan, the plan that is valid again is emitted.
        """
        messages = kept = self.masking.value(tuple(messages))
        plain_until = history.plain_after(self._messages, kept, self.plain_until)
        replaced, plan = HistoryReplaced(kept, reason, plain_until), self.plan
        self.emit(replaced)
        self.rewind_points = surviving(self.rewind_points, self._messages, messages)
        self.plans = self.plans.replaced(self._messages, replaced)
        self._messages = list(messages)
        if self.plain_until < sys.maxsize:
            self.plain_until = plain_until
        if self.plan != plan:
            self.emit(PlanChanged(self.plan))

    def omit_thinking(self, reason: str, *, always: bool = False) -> None:
        """Send the present history without thinking blocks; `always`: also all that follows. No-op without any."""
        sent = self._messages[self.plain_until :]
        if not always and history.without_thinking(sent) == tuple(sent):
            return
        self.plain_until = sys.maxsize if always else len(self._messages)
        self.emit(ThinkingOmitted(None if always else self.plain_until, reason))

    def begin_step(self) -> int:
        """The loop goes round; returns the number of the new step."""
        self.step += 1
        self.emit(StepStarted(self.step))
        return self.step

    def add_spend(self, usage: Usage, cost_usd: float | None, *, wasted: bool) -> None:
        """Add the cost of a request; None: unknown. `wasted`: it failed or its answer was discarded."""
        cost, retry_usage, retry_cost = cost_usd or 0.0, Usage(), 0.0
        if wasted:
            retry_usage, retry_cost = usage, cost
        self._add(SpendChanged(1, usage, cost, retry_usage, retry_cost, unpriced=cost_usd is None))

    def add_spend_of_subagent(self, before: SpendChanged, after: SpendChanged) -> None:
        """Add what a subagent has spent between two of its states."""
        self._add(spent_since(before, after))

    def add_waste(self, usage: Usage, cost_usd: float | None) -> None:
        """Count a paid answer that was discarded as spend on retries."""
        self._add(SpendChanged(0, Usage(), 0.0, usage, cost_usd or 0.0))

    def _add(self, more: SpendChanged) -> None:
        self.spend = _combined(add, self.spend, more)
        self.emit(self.spend)


def spent_since(before: SpendChanged, after: SpendChanged) -> SpendChanged:
    """Spend between two states of one conversation."""
    return _combined(sub, after, before)


def _combined(operation: Callable[[Any, Any], Any], one: SpendChanged, other: SpendChanged) -> SpendChanged:
    """Each number of `one` with that of `other`."""
    return SpendChanged(*(operation(getattr(one, field.name), getattr(other, field.name)) for field in fields(one)))


def ignore(event: Event) -> None:
    """Record nothing: for an agent without a journal."""
