"""Shared slots for a session on an event loop."""

import asyncio
import random
import secrets
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import ParamSpec, TypeVar

from harness.base.clock import Clock
from harness.slots.store import ClaimEntry, SlotClaim, SlotsError, SlotStore, this_process
from harness.slots.store_pause import StorePause

LEASE_S = 10.0
"""Lease of the slots of a session."""
BEATS = 0.3
"""Share of a lease after which it is renewed: three heartbeats in a row may fail."""
LOOK_AGAIN_S = (0.1, 0.25)
"""Shortest and longest delay before asking again; drawn at random, so that not all ask at once."""

P = ParamSpec("P")
T = TypeVar("T")


def ignore(_: str) -> None:
    """Do nothing about it."""


class SharedSlots:
    """The slots of one session: asks, waits, renews and releases.

    Uses the store from one thread of its own and closes it at the end. Idle while nothing is held or awaited.
    """

    def __init__(
        self,
        store: SlotStore,
        *,
        owner: str,
        clock: Clock,
        lease_s: float = LEASE_S,
        lost: Callable[[str], None] = ignore,
        draw: random.Random | None = None,
    ) -> None:
        """Args:
        owner: the session, for display.
        lease_s: seconds after which slots of an unresponsive process are free.
        lost: called with a claim whose slot was taken away because it was not renewed in time, such as after the laptop
            slept. Its work still runs and is not counted.
        draw: source of the random delays.
        """
        self._store = store
        self._owner = this_process(owner)
        self.clock = clock
        self._lease_s = lease_s
        self._lost = lost
        self._draw = draw or random.Random()
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="slots")
        self._waiting: set[str] = set()
        self._held: set[str] = set()
        self._renewed = clock.now()
        self._heartbeat: asyncio.Task[None] | None = None
        self._asked = False
        """The store was used, so its thread runs."""
        self._closed = False
        self.pause = StorePause()
        """Whether the store is away, for all who use it."""

    @property
    def held(self) -> frozenset[str]:
        """The claims that hold a slot."""
        return frozenset(self._held)

    async def acquire(self, key: str, limit: int) -> str:
        """Wait for a slot and return the claim that holds it. Leaves the queue when cancelled.

        Args:
            key: the purpose of the slot, for display.
            limit: slots on this machine.

        Raises SlotsError if the store cannot be used, or was closed.
        """
        claim = SlotClaim(secrets.token_hex(8), self._owner, key, self._lease_s)
        self._waiting.add(claim.id)
        try:
            while not (await self._call(self._store.ask, claim, limit, self.clock.now())).started:
                await self.clock.sleep(self._draw.uniform(*LOOK_AGAIN_S))
            self._check_open()
        except BaseException:
            self._withdraw(claim.id)
            raise
        finally:
            self._waiting.discard(claim.id)
        self._held.add(claim.id)
        self._keep_renewing()
        return claim.id

    async def release(self, claim: str) -> None:
        """Release a slot, also while being cancelled; a lost claim may be released, too.

        Raises SlotsError if the slot is left to the end of its lease.
        """
        self._held.discard(claim)
        await asyncio.shield(self._call(self._store.release, claim))

    async def change(self, name: str, change: Callable[[str | None], str | None]) -> str | None:
        """Replace a text that all sessions share, see `SlotStore.change`. Raises SlotsError."""
        return await self._call(self._store.change, name, change)

    async def entries(self) -> tuple[ClaimEntry, ...]:
        """The running and waiting claims of this machine. Raises SlotsError."""
        return await self._call(self._store.entries, self.clock.now())

    async def aclose(self) -> None:
        """Release everything and close the store; waiters get a SlotsError."""
        if self._closed:
            return
        self._closed = True
        if self._heartbeat is not None:
            self._heartbeat.cancel()
            await asyncio.wait([self._heartbeat])
        for claim in sorted(self._held | self._waiting):
            self._withdraw(claim)
        self._held.clear()
        if self._asked:
            await asyncio.wrap_future(self._thread.submit(self._store.close))
            self._thread.shutdown(wait=False)
        else:
            self._store.close()  # it has nothing open, so a thread would be started for nothing

    def _withdraw(self, claim: str) -> None:
        """Release without waiting; if it fails, the lease ends the claim."""
        with suppress(RuntimeError):  # the thread has gone, and everything was given back before
            self._thread.submit(self._store.release, claim)

    def _keep_renewing(self) -> None:
        if self._heartbeat is None or self._heartbeat.done():
            self._renewed = self.clock.now()
            self._heartbeat = asyncio.create_task(self._renew(), name="slots heartbeat")

    async def _renew(self) -> None:
        while self._held:
            await self.clock.sleep(BEATS * self._lease_s)
            asked, now = tuple(sorted(self._held)), self.clock.now()
            try:
                still = await self._call(self._store.renew, asked, now)
            except SlotsError:
                if now - self._renewed < self._lease_s:
                    continue
                still = ()
            self._renewed = now
            for claim in asked:
                if claim not in still and claim in self._held:
                    self._held.discard(claim)
                    self._lost(claim)

    async def _call(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        self._check_open()
        self._asked = True
        return await asyncio.wrap_future(self._thread.submit(work, *args, **kwargs))

    def _check_open(self) -> None:
        if self._closed:
            raise SlotsError("The slots of this session are closed.")
