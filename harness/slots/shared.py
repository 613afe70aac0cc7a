"""Slots that all sessions of a person share, for whoever runs on an event loop."""

import asyncio
import random
import secrets
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import ParamSpec, TypeVar

from harness.base.clock import Clock
from harness.slots.owners import this_process
from harness.slots.store import Claim, Entry, SlotsError, Store

LEASE_S = 10.0
"""How long the slots of a session last that nobody hears of any more."""
BEATS = 0.3
"""Share of a lease after which it is renewed: three heartbeats in a row may fail."""
LOOK_AGAIN_S = (0.1, 0.25)
"""Shortest and longest pause of one who waits; each is drawn, so that not all come at once."""

P = ParamSpec("P")
T = TypeVar("T")


def ignore(_: str) -> None:
    """Do nothing about it."""


class SharedSlots:
    """The slots of one session: asks, waits, renews and gives back.

    It uses the store from one thread of its own, and closes it in the end. While nothing is held and nobody waits
    it does nothing at all.
    """

    def __init__(
        self,
        store: Store,
        *,
        owner: str,
        clock: Clock,
        lease_s: float = LEASE_S,
        lost: Callable[[str], None] = ignore,
        draw: random.Random | None = None,
    ) -> None:
        """
        Args:
            owner: the session, to show to a person.
            lease_s: seconds after which slots of a process that does not answer any more are free.
            lost: told of a claim whose slot was taken away because it was not renewed in time, as after the laptop
                slept. Its work still runs; it counts nowhere.
            draw: where the pauses of those who wait come from.
        """
        self._store = store
        self._owner = this_process(owner)
        self._clock = clock
        self._lease_s = lease_s
        self._lost = lost
        self._draw = draw or random.Random()
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="slots")
        self._waiting: set[str] = set()
        self._held: set[str] = set()
        self._renewed = clock.now()
        self._heartbeat: asyncio.Task[None] | None = None
        self._asked = False
        """The store was asked something, so that its thread runs."""
        self._closed = False

    @property
    def held(self) -> frozenset[str]:
        """The claims that hold a slot."""
        return frozenset(self._held)

    async def acquire(self, key: str, limit: int) -> str:
        """Wait for a slot and return the claim that holds it. Cancelled, it leaves the queue.

        Args:
            key: what the slot is for, to show to a person.
            limit: how many may be taken on this machine.

        Raises SlotsError when the store cannot be used, or was closed.
        """
        claim = Claim(secrets.token_hex(8), self._owner, key, self._lease_s)
        self._waiting.add(claim.id)
        try:
            while not (await self._call(self._store.ask, claim, limit, self._clock.now())).started:
                await self._clock.sleep(self._draw.uniform(*LOOK_AGAIN_S))
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
        """Give a slot back, also when whoever does so is cancelled; a lost claim may be given back as well.

        Raises SlotsError when that is left to the lease.
        """
        self._held.discard(claim)
        await asyncio.shield(self._call(self._store.release, claim))

    async def change(self, name: str, change: Callable[[str | None], str | None]) -> str | None:
        """Replace a text that all sessions share, see `Store.change`. Raises SlotsError."""
        return await self._call(self._store.change, name, change)

    async def entries(self) -> tuple[Entry, ...]:
        """Who runs and who waits on this machine. Raises SlotsError."""
        return await self._call(self._store.entries, self._clock.now())

    async def aclose(self) -> None:
        """Give everything back and close the store; those who wait get a SlotsError when they look again."""
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
        """Release without waiting for it: after whatever the thread still does, and if it fails the lease ends it."""
        with suppress(RuntimeError):  # the thread has gone, and everything was given back before
            self._thread.submit(self._store.release, claim)

    def _keep_renewing(self) -> None:
        if self._heartbeat is None or self._heartbeat.done():
            self._renewed = self._clock.now()
            self._heartbeat = asyncio.create_task(self._renew(), name="slots heartbeat")

    async def _renew(self) -> None:
        while self._held:
            await self._clock.sleep(BEATS * self._lease_s)
            asked, now = tuple(sorted(self._held)), self._clock.now()
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
