"""The queue of a conversation, and the task that runs it.

Prompts and commands wait in one queue; background results wait in the session. `TurnQueue` decides what starts next,
`TurnLoop` runs one item at a time to its end. A typed line, an arrival or a stop only changes the queue and wakes the
loop. Both are independent of the front end.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from itertools import islice


@dataclass(frozen=True, slots=True)
class TypedLine:
    """A line typed by the user."""

    text: str


@dataclass(frozen=True, slots=True)
class Delivery:
    """A turn without a prompt, which delivers background results to the model."""


Item = TypedLine | Delivery


@dataclass(frozen=True, slots=True)
class QueuedLine:
    """A line that waits for its turn."""

    text: str
    after: int = 0
    """Number of the newest text that was given to the running turn before it was typed; 0: none."""


class TurnQueue:
    """Decides which item runs next, one at a time. Pure: no I/O, no clock, no tasks."""

    def __init__(self) -> None:
        self._lines: deque[QueuedLine] = deque()
        self._running: Item | None = None
        self._stopping = False
        self._before_stop = 0
        """How many of the oldest lines were queued when the running item was last stopped."""
        self._held = True
        self._closed = False

    @property
    def lines(self) -> tuple[str, ...]:
        """Queued lines, oldest first."""
        return tuple(line.text for line in self._lines)

    @property
    def newest(self) -> QueuedLine | None:
        """The line that was typed last."""
        return self._lines[-1] if self._lines else None

    def __len__(self) -> int:
        return len(self._lines)

    @property
    def running(self) -> Item | None:
        """The running item."""
        return self._running

    @property
    def stopping(self) -> bool:
        """The user has stopped the running item."""
        return self._stopping

    def first(self, count: int) -> tuple[str, ...]:
        """The oldest `count` queued lines."""
        return tuple(line.text for line in islice(self._lines, count))

    def put(self, line: str, after: int = 0) -> None:
        """Append a line; `after` as in `QueuedLine`."""
        self._lines.append(QueuedLine(line, after))

    def put_first(self, line: str) -> None:
        """Insert a line that was typed before all others."""
        self._lines.appendleft(QueuedLine(line))

    def take_last(self) -> str | None:
        """Remove and return the newest line; None: there is none."""
        line = self._lines.pop().text if self._lines else None
        self._before_stop = min(self._before_stop, len(self._lines))
        return line

    def clear(self) -> tuple[QueuedLine, ...]:
        """Remove and return all lines."""
        removed = tuple(self._lines)
        self._lines.clear()
        self._before_stop = 0
        return removed

    def begin(self, *, arrived: bool) -> Item | None:
        """Start and return the next item; None: an item is running, or there is none.

        Typed lines come first, then a delivery if background results have `arrived`.
        """
        if self._closed or self._running is not None:
            return None
        if self._lines:
            self._running = TypedLine(self._lines.popleft().text)
        elif arrived and not self._held:
            self._running = Delivery()
        return self._running

    def hold(self) -> None:
        """Start no delivery until `release`. A new queue is held."""
        self._held = True

    def release(self) -> None:
        """Let arrivals start turns, after the current one."""
        self._held = False

    def stop(self) -> bool:
        """Mark the running item as stopped. Returns False if it was stopped before or nothing is running.

        The lines that are queued now will not run; those that are typed later will.
        """
        if self._running is None:
            return False
        first, self._stopping, self._before_stop = not self._stopping, True, len(self._lines)
        return first

    def end(self) -> tuple[QueuedLine, ...]:
        """The item has ended. Returns the lines to give back to the user: those queued before its stop."""
        if self._stopping:
            self.hold()
        given_back = tuple(self._lines.popleft() for _ in range(self._before_stop))
        self._stopping, self._running, self._before_stop = False, None, 0
        return given_back

    def close(self) -> None:
        """Start nothing more."""
        self._closed = True


@dataclass(frozen=True, slots=True)
class ItemEnd:
    """The end of an item."""

    item: Item
    given_back: tuple[QueuedLine, ...]
    """Queued lines that will not run, because the user stopped the item."""
    stopped: bool
    """The user stopped it."""
    at_once: bool
    """It was cancelled."""
    error: BaseException | None


class TurnLoop:
    """A task that runs the items of a queue."""

    def __init__(
        self,
        carry_out: Callable[[Item], Awaitable[None]],
        ended: Callable[[ItemEnd], None],
        arrived: Callable[[], bool],
    ) -> None:
        """
        Args:
            carry_out: runs an item to its end; its errors are passed to `ended`.
            ended: called after each item. Must not raise.
            arrived: whether background results are waiting.
        """
        self.queue = TurnQueue()
        """Call `wake` after changing it."""
        self._carry_out = carry_out
        self._ended = ended
        self._arrived = arrived
        self._wake = asyncio.Event()
        self._item: asyncio.Future[None] | None = None
        self._loop: asyncio.Task[None] | None = None

    @property
    def busy(self) -> bool:
        """An item is running or queued."""
        return self.queue.running is not None or len(self.queue) > 0

    def start(self) -> None:
        """Start the task."""
        self._loop = asyncio.create_task(self._run(), name="turns")

    def put(self, line: str, after: int = 0) -> None:
        """Append a line."""
        self.queue.put(line, after)
        self.wake()

    def wake(self) -> None:
        """Check the queue again."""
        self._wake.set()

    def end_at_once(self) -> None:
        """Cancel the running item."""
        if self._item is not None:
            self._item.cancel()

    async def aclose(self) -> None:
        """Cancel the running item without calling `ended`, and start nothing more."""
        self.queue.close()
        if self._loop is not None:
            self._loop.cancel()
            await asyncio.wait({self._loop})

    async def run_next(self) -> bool:
        """Run the next item to its end; False: there is none. For a front end that calls `start` never."""
        item = self.queue.begin(arrived=self._arrived())
        if item is not None:
            await self._run_item(item)
        return item is not None

    async def _run(self) -> None:
        while True:
            self._wake.clear()
            if not await self.run_next():
                await self._wake.wait()

    async def _run_item(self, item: Item) -> None:
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
            self.queue.hold()  # or the undelivered results would start the next turn at once
        stopped = self.queue.stopping
        self._ended(ItemEnd(item, self.queue.end(), stopped, at_once, error))
