"""A machine whose clock is five minutes off: requests are held and let out by the clock of the database."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager

import pytest

from harness.base.clock import SystemClock
from harness.engine.model.shared_endpoints import SharedEndpoints
from harness.events import Fault, FaultKind, HoldReason
from harness.fleet.database import FleetClock, FleetDatabase
from harness.policies.admission.shared_endpoint import Hold
from harness.policies.breakers.breaker import HALF_OPEN, Breaker, BreakerLimits
from harness.slots.client import SharedSlots
from harness.slots.store import SqliteSlotStore
from tests.fleet.postgres import new_scope, shared_server

pytestmark = pytest.mark.anyio
LIMITS = BreakerLimits(threshold=1, pauses=(0.5,))
MINUTES = 300.0
CLOCKS: tuple[Callable[[], float], ...] = (time.time, lambda: time.time() + MINUTES, lambda: time.time() - MINUTES)


@asynccontextmanager
async def machines(url: str) -> AsyncIterator[list[SharedEndpoints]]:
    scope = new_scope()
    async with AsyncExitStack() as stack:
        found = list[SharedEndpoints]()
        for clock in CLOCKS:
            database = FleetDatabase(url, clock=FleetClock(clock))
            slots = SharedSlots(SqliteSlotStore(database.place("slots", scope)), owner="s", clock=SystemClock())
            stack.push_async_callback(slots.aclose)
            found.append(SharedEndpoints(slots, clock=database.clock, limit=4))
            stack.push_async_callback(found[-1].aclose)
            await found[-1].refresh()
        yield found


@pytest.fixture
def url() -> str:
    return shared_server().url


@pytest.mark.parametrize("opens", range(3))
async def test_nobody_probes_before_the_database_says_so_and_then_one(url: str, opens: int) -> None:
    async with machines(url) as several:
        one = several[opens]
        others = [other for other in several if other is not one]
        one.put({"m": Breaker().failed(one.time(), LIMITS)})
        await one.refresh()
        asks = [other.new_ask() for other in others]
        for other, ask in zip(others, asks, strict=True):
            hold = await other.ask("m", ask, LIMITS)
            assert hold is not None
            assert hold.why is HoldReason.OPEN
            assert hold.until is not None
            assert 0 < hold.until - other.time() <= 0.75
        await asyncio.sleep(0.6)  # the pause itself is the subject
        answers = [await other.ask("m", ask, LIMITS) for other, ask in zip(others, asks, strict=True)]
        assert answers == [None, Hold(HoldReason.PROBE)]
        await one.refresh()
        assert [other.now.of("m").state for other in several if other is not others[1]] == [HALF_OPEN] * 2


async def test_a_retry_after_ends_by_the_database(url: str) -> None:
    async with machines(url) as several:
        ask = several[1].new_ask()
        several[1].leave("m", ask, Fault(FaultKind.RATE_LIMIT, "too many", retry_after_s=30.0))
        several[1].put({})
        await several[1].refresh()
        for other in several:
            hold = await other.ask("m", other.new_ask(), LIMITS)
            assert hold is not None
            assert hold.until is not None
            assert 28 < hold.until - other.time() <= 31
        assert 28 < several[0].limits["m"].wait_until - time.time() <= 31
