"""What runs next in a conversation, and the one task that runs it.

Prompts, commands after `/` and after `!` wait in one queue; what has arrived from the background waits in the session.
`TurnQueue` decides what starts, `TurnLoop` takes one item, carries it out to its end, and only then takes the next.
Everything else (a typed line, an arrival, a stop) changes the queue and wakes the loop; nothing starts work itself.
Neither knows what the user looks at, so that every front end can use them.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Typed:
    """A line that the user typed."""

    text: str


@dataclass(frozen=True, slots=True)
class Delivery:
    """A turn without a prompt: the model gets what has arrived from the background."""


Item = Typed | Delivery


class TurnQueue:
    """The order in which things run, one at a time. Pure: no I/O, no clock, no tasks."""

    def __init__(self) -> None:
        self._lines: deque[str] = deque()
        self._running: Item | None = None
        self._stopping = False
        self._held = True
        self._closed = False

    @property
    def lines(self) -> tuple[str, ...]:
        """The lines that wait, oldest first."""
        return tuple(self._lines)

    def __len__(self) -> int:
        return len(self._lines)

    @property
    def running(self) -> Item | None:
        """What runs now."""
        return self._running

    @property
    def stopping(self) -> bool:
        """The user has stopped what runs now."""
        return self._stopping

    def put(self, line: str) -> None:
        """Append a line."""
        self._lines.append(line)

    def begin(self, *, arrived: bool) -> Item | None:
        """Start the next item and return it; None: something runs, or there is nothing to start.

        Args:
            arrived: something from the background has not been delivered yet. Typed lines come first.
        """
        if self._closed or self._running is not None:
            return None
        if self._lines:
            self._running = Typed(self._lines.popleft())
        elif arrived and not self._held:
            self._running = Delivery()
        return self._running

    def hold(self) -> None:
        """Start no delivery until `release`; the next prompt takes along what has arrived."""
        self._held = True

    def release(self) -> None:
        """A turn begins: from its end on, arrivals start turns by themselves. A new queue holds them."""
        self._held = False

    def stop(self) -> bool:
        """The user stops what runs. Returns whether this is the first stop of it; False when nothing runs."""
        if self._running is None or self._stopping:
            return False
        self._stopping = True
        return True

    def end(self) -> tuple[str, ...]:
        """What ran has ended. Returns the lines that are the user's again: after a stop all that wait, else none."""
        stopped, self._stopping, self._running = self._stopping, False, None
        if not stopped:
            return ()
        self.hold()
        given_back = self.lines
        self._lines.clear()
        return given_back

    def close(self) -> None:
        """Start nothing any more."""
        self._closed = True


@dataclass(frozen=True, slots=True)
class Ended:
    """How an item came to its end."""

    item: Item
    given_back: tuple[str, ...]
    """Lines that waited and will not run, because the user stopped the item."""
    at_once: bool
    """It was cancelled, not waited for."""
    error: BaseException | None
    """What it raised."""


class TurnLoop:
    """Carries out the items of a queue, one after the other, in a task of its own."""

    def __init__(
        self,
        carry_out: Callable[[Item], Awaitable[None]],
        ended: Callable[[Ended], None],
        arrived: Callable[[], bool],
    ) -> None:
        """
        Args:
            carry_out: runs an item to its end. What it raises is handed to `ended`; the loop goes on.
            ended: called after each item, before the next one starts. Must not raise.
            arrived: whether something from the background has not been delivered yet.
        """
        self.queue = TurnQueue()
        """What waits and what runs. After a change to it, call `wake`."""
        self._carry_out = carry_out
        self._ended = ended
        self._arrived = arrived
        self._wake = asyncio.Event()
        self._item: asyncio.Future[None] | None = None
        self._loop: asyncio.Task[None] | None = None

    @property
    def busy(self) -> bool:
        """Something runs, or will as soon as the loop is reached."""
        return self.queue.running is not None or len(self.queue) > 0

    def start(self) -> None:
        """Begin to take items."""
        self._loop = asyncio.create_task(self._run(), name="turns")

    def put(self, line: str) -> None:
        """Append a line; it runs after everything before it has ended."""
        self.queue.put(line)
        self.wake()

    def wake(self) -> None:
        """Look at the queue again: something was typed, has arrived, or has changed."""
        self._wake.set()

    def end_at_once(self) -> None:
        """Cancel what runs instead of waiting for its end."""
        if self._item is not None:
            self._item.cancel()

    async def aclose(self) -> None:
        """End what runs, without a word to `ended`, and start nothing any more."""
        self.queue.close()
        if self._loop is not None:
            self._loop.cancel()
            await asyncio.wait({self._loop})

    async def _run(self) -> None:
        while True:
            self._wake.clear()
            item = self.queue.begin(arrived=self._arrived())
            if item is None:
                await self._wake.wait()
            else:
                await self._take(item)

    async def _take(self, item: Item) -> None:
        self._item = running = asyncio.ensure_future(self._carry_out(item))
        try:
            await asyncio.wait({running})
        finally:
            self._item = None
            if not running.done():
                running.cancel()
                await asyncio.wait({running})
        at_once = running.cancelled()
        error = None if at_once else running.exception()
        if error is not None and isinstance(item, Delivery):
            self.queue.hold()  # what has arrived still waits, and would be delivered again at once
        self._ended(Ended(item, self.queue.end(), at_once, error))
