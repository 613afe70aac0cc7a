"""The state of one turn, and what a user can ask for while it runs."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from dataclasses import dataclass

from harness.engine.conversation import Conversation
from harness.events import Block, Event, Fault, SpendChanged, TurnEnded
from harness.events.messages import paragraphs
from harness.model.server_tools import cited
from harness.policies.recovery import RetryWait, RunTools, Stop, TurnState


@dataclass(slots=True)
class Turn:
    """A turn under way."""

    number: int
    state: TurnState
    began: float
    """Unix time in seconds."""
    spend_before: SpendChanged
    step_before: int
    denials_before: int = 0
    answer: str = ""
    """Text since the last tool results: the answer when the turn ends."""
    content: tuple[Block, ...] = ()
    """The blocks with this text."""
    fault: Fault | None = None
    """Outcome of the last model call, if it failed."""
    wait: RetryWait | None = None
    """Due before the next request."""
    fresh_connection: bool = False
    """Send the next request over a new connection."""

    def add(self, content: tuple[Block, ...]) -> None:
        """Append blocks to the answer; they repeat nothing of it."""
        self.content += content
        self.answer = paragraphs(self.content)

    def begin_paragraph(self) -> None:
        """Separate what follows from the answer so far."""
        if self.answer:
            self.add(({"type": "text", "text": "\n\n"},))

    def begin_answer(self) -> None:
        """Tools have run: what follows is the answer."""
        self.answer, self.content = "", ()

    def ended(self, stop: Stop, conversation: Conversation, now: float) -> TurnEnded:
        """The last event of the turn; `now` is Unix time."""
        spend, before = conversation.spend, self.spend_before
        history = (block for message in conversation.messages for block in message.content)
        return TurnEnded(
            turn=self.number,
            code=stop.code,
            reason=stop.reason,
            answer=self.answer,
            usage=spend.usage - before.usage,
            cost_usd=spend.cost_usd - before.cost_usd,
            steps=conversation.step - self.step_before,
            requests=spend.requests - before.requests,
            duration_s=now - self.began,
            unpriced=spend.unpriced - before.unpriced,
            sources=cited(self.content, history),
            denials=tuple(conversation.denials[self.denials_before :]),
        )


@dataclass(slots=True)
class ToolRestriction:
    """The tools of the turn under way, for an agent and its subagents."""

    only: frozenset[str] | None = None
    """None: all tools."""

    def allows(self, name: str) -> bool:
        """The tool may be called in this turn."""
        return self.only is None or name in self.only

    @contextmanager
    def to(self, only: frozenset[str] | None) -> Iterator[None]:
        """Restrict the block to these tools; None: to none in particular."""
        self.only = only
        try:
            yield
        finally:
            self.only = None


def cut_blocks(decision: RunTools) -> Iterator[Block]:
    """The cut calls of a reply as the history keeps them: without input, to be answered by an error."""
    for cut in decision.cut_calls:
        yield {"type": "tool_use", "id": cut.id, "name": cut.name, "input": {}}


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


class Signals:
    """Requests of the user during a turn, set by the front end and read by the engine."""

    def __init__(self) -> None:
        self.interrupt = asyncio.Event()
        """End the turn."""
        self.retry_now = asyncio.Event()
        """End the wait for a retry."""
        self.reconnect = asyncio.Event()
        """Drop the silent connection and try again."""
        self.other_model = asyncio.Event()
        """Go on with the next fallback instead of waiting."""
        self._closed = False

    def close(self) -> None:
        """Interrupt this turn and every later one."""
        self._closed = True
        self.interrupt.set()

    def reset(self) -> None:
        """Clear all requests, before a new turn."""
        for signal in (self.interrupt, self.retry_now, self.reconnect, self.other_model):
            signal.clear()
        if self._closed:
            self.interrupt.set()
