"""One thing at a time in a conversation, and its events to whoever asked for it."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import AbstractAsyncContextManager

from harness.engine.conversation import Conversation
from harness.events import Event


class TurnTaking:
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
        """What is emitted while `work` runs; it begins when whatever ran before has ended.

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
