"""A conversation: every change of its state is an event.

`emit` is the one place where events leave an agent. The journal writes each event first, then the state follows
(`harness.journal.after`), then front end and subscribers receive it, so no view shows more than was recorded.
"""

import asyncio
import sys
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import fields, replace
from operator import add, sub
from typing import Any, Literal

from harness.base.secrets import Masking
from harness.events import (
    Block,
    Denial,
    Event,
    HistoryReplaced,
    Message,
    MessageAdded,
    Origin,
    PlanChanged,
    PlanItem,
    SpendChanged,
    StepStarted,
    ThinkingOmitted,
    TurnStarted,
    Usage,
)
from harness.journal import RewindPoint, SessionState, after
from harness.model import history

NOTHING_SPENT = SpendChanged(requests=0, usage=Usage(), cost_usd=0.0, retry_usage=Usage(), retry_cost_usd=0.0)


class Conversation:
    """The state of one session, and the events that change it."""

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
            record: called with each event before any subscriber; returns events to show without recording them.
            state: what a journal holds, to continue from; None: a new conversation.
            messages: the history of a new conversation.
            masking: removes known keys from every event and message; None: one without keys.
        """
        self.masking = masking or Masking()
        """What takes known keys out of every event and message."""
        self.state = _masked(state or SessionState(messages=tuple(messages)), self.masking)
        """What the events so far have led to."""
        self.denials: list[Denial] = []
        """Tool calls that were not allowed since the last turn ended, also of subagents, oldest first."""
        self._record = record
        self._listener: Callable[[Event], None] | None = None
        self._subscribers: list[Callable[[Event], None]] = []

    @property
    def messages(self) -> tuple[Message, ...]:
        """The history, oldest first, as it was received."""
        return tuple(self.state.messages)

    @property
    def rewind_points(self) -> tuple[RewindPoint, ...]:
        """The prompts in the history that a rewind can go back to, oldest first."""
        return self.state.rewind_points

    @property
    def plan(self) -> tuple[PlanItem, ...]:
        """The plan that was accepted last; empty: there is none."""
        return self.state.plans.current

    @property
    def turn(self) -> int:
        """Number of the current or last turn."""
        return self.state.turn

    @property
    def step(self) -> int:
        """Number of the current or last step."""
        return self.state.step

    @property
    def spend(self) -> SpendChanged:
        """Cost of the session so far."""
        return self.state.spend or NOTHING_SPENT

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
        self.state = after(self.state, event)
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
            self.emit(MessageAdded(Message(role, tuple(content)), origin))

    def replace(
        self,
        messages: Sequence[Message],
        reason: Literal["compaction", "truncation", "clear", "rewind", "rollback", "thinking", "media", "repair"],
        turn: int = 0,
    ) -> None:
        """Replace the whole history; `turn`: the first turn that a rewind takes back.

        Where that reverts a plan, the plan that is valid again is emitted.
        """
        replacement, plan = self.masking.value(tuple(messages)), self.plan
        plain_until = history.plain_after(self.messages, replacement, self.state.plain_until)
        self.emit(HistoryReplaced(replacement, reason, plain_until, turn))
        if self.plan != plan:
            self.emit(PlanChanged(self.plan))

    def omit_thinking(self, reason: str, *, always: bool = False) -> None:
        """Send the present history without thinking blocks; `always`: also all that follows. No-op without any."""
        sent = self.messages[self.state.plain_until :]
        if always or history.without_thinking(sent) != sent:
            self.emit(ThinkingOmitted(None if always else len(self.messages), reason))

    def begin_turn(self, prompt: str) -> None:
        """Begin the next turn; an empty prompt: none was typed."""
        self.emit(TurnStarted(self.turn + 1, prompt))

    def begin_step(self) -> int:
        """Begin the next step and return its number."""
        self.emit(StepStarted(self.step + 1))
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

    def take_denials(self) -> tuple[Denial, ...]:
        """The denials, which the turn that ends reports; the next one reports those after them."""
        taken, self.denials[:] = tuple(self.denials), ()
        return taken

    def _add(self, more: SpendChanged) -> None:
        self.emit(_combined(add, self.spend, more))


class TurnLock:
    """Lets turns, commands and rewinds of one conversation come one after another, in the order they were asked for."""

    def __init__(self, conversation: Conversation) -> None:
        self._conversation = conversation
        self._one_at_a_time = asyncio.Lock()

    @property
    def at_rest(self) -> bool:
        """Nothing runs now."""
        return not self._one_at_a_time.locked()

    def alone(self) -> AbstractAsyncContextManager[None]:
        """Wait for the end of whatever runs, and keep out everything else until the block is left."""
        return self._one_at_a_time

    async def events(self, work: Callable[[], Coroutine[None, None, None]]) -> AsyncGenerator[Event, None]:
        """The events of `work`, which begins after earlier work has ended.

        Raises what `work` raises. Closing the iterator early cancels `work` and waits for its end.
        """
        queue: asyncio.Queue[Event | None] = asyncio.Queue()
        async with self.alone():
            self._conversation.listen(queue.put_nowait)
            task = asyncio.ensure_future(work())
            task.add_done_callback(lambda _: queue.put_nowait(None))
            try:
                while (event := await queue.get()) is not None:
                    yield event
                await task
            finally:
                self._conversation.listen(None)
                if not task.done():
                    task.cancel()
                    await asyncio.wait({task})


def spent_since(before: SpendChanged, after: SpendChanged) -> SpendChanged:
    """Spend between two states of one conversation."""
    return _combined(sub, after, before)


def _combined(operation: Callable[[Any, Any], Any], one: SpendChanged, other: SpendChanged) -> SpendChanged:
    """Each number of `one` with that of `other`."""
    return SpendChanged(*(operation(getattr(one, field.name), getattr(other, field.name)) for field in fields(one)))


def _masked(state: SessionState, masking: Masking) -> SessionState:
    """The state without known keys; thinking behind a message that this changes is left out."""
    masked = masking.value(state)
    if state.plain_until == sys.maxsize:
        return masked
    return replace(masked, plain_until=history.plain_after(state.messages, masked.messages, state.plain_until))


def ignore(event: Event) -> None:
    """Record nothing: for an agent without a journal."""
