"""A journal that is followed, as a test writes it."""

import asyncio
from collections.abc import AsyncGenerator, Sequence

from harness.journal.follow import FollowItem


class Feed:
    """What there is already, and what comes when it is put."""

    def __init__(self, there: Sequence[FollowItem], *more: FollowItem) -> None:
        self._coming: asyncio.Queue[FollowItem] = asyncio.Queue()
        self.closed = False
        """Whoever followed has gone."""
        for one in (*there, *more):
            self.put(one)

    def put(self, one: FollowItem) -> None:
        """The next thing that a follower is told."""
        self._coming.put_nowait(one)

    async def followed(self) -> AsyncGenerator[FollowItem, None]:
        """As `harness.journal.follow.follow` gives it; never ends by itself."""
        try:
            while True:
                yield await self._coming.get()
        finally:
            self.closed = True
