"""A followed journal that a test writes to."""

import asyncio
from collections.abc import AsyncGenerator, Sequence

from harness.journal.follow import FollowItem


class Feed:
    """The existing items, then each item passed to `put`."""

    def __init__(self, there: Sequence[FollowItem], *more: FollowItem) -> None:
        self._coming: asyncio.Queue[FollowItem] = asyncio.Queue()
        self.closed = False
        """The follower has closed the feed."""
        for one in (*there, *more):
            self.put(one)

    def put(self, one: FollowItem) -> None:
        """Send the next item to the follower."""
        self._coming.put_nowait(one)

    async def followed(self) -> AsyncGenerator[FollowItem, None]:
        """Like `harness.journal.follow.follow`; ends only when closed."""
        try:
            while True:
                yield await self._coming.get()
        finally:
            self.closed = True
