"""Sessions whose store goes away: local limits hold, said once, and sharing comes back by itself."""

import asyncio
import logging
import signal
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import psutil
import pytest

from harness.engine.admission.runner import MachineSlots
from harness.events import Event, Notice
from harness.fleet.database import FleetDatabase
from harness.fleet.schema import VERSION
from harness.slots.client import SharedSlots
from harness.slots.store import SqliteSlotStore
from harness.slots.store_pause import AGAIN_S, TOGETHER
from tests.engine.hand_clock import HandClock
from tests.fleet.postgres import Server, needs_postgres

pytestmark = [needs_postgres, pytest.mark.stories, pytest.mark.anyio]


@pytest.fixture
def server() -> Iterator[Server]:
    """One that the test may hurt."""
    server = Server.made()
    server.initialize()
    yield server
    server.remove()


@contextmanager
def stopped(server: Server) -> Iterator[None]:
    server.stop()
    yield
    server.start()


@contextmanager
def read_only(server: Server) -> Iterator[None]:
    server.stop()
    server.start("-c", "default_transaction_read_only=on")
    yield
    server.stop()
    server.start()


@contextmanager
def frozen(server: Server) -> Iterator[None]:
    first = psutil.Process(int((server.data / "postmaster.pid").read_text().split()[0]))
    every = [first, *first.children(recursive=True)]
    for process in every:
        process.send_signal(signal.SIGSTOP)
    yield
    for process in every:
        process.send_signal(signal.SIGCONT)


@contextmanager
def older(server: Server) -> Iterator[None]:
    with ThreadPoolExecutor(1) as pool:  # the test has a loop of its own
        pool.submit(server.execute, "UPDATE harness.version SET number = 0").result()
        server.stop()
        server.start()
        yield
        pool.submit(server.execute, f"UPDATE harness.version SET number = {VERSION}").result()


OUTAGES: dict[str, Callable[[Server], object]] = {
    "cannot be reached": stopped,
    "is read-only": read_only,
    "does not answer in time": frozen,
    "older harness": older,
}


async def machine(server: Server, clock: HandClock, said: list[Event]) -> AsyncIterator[MachineSlots]:
    database = FleetDatabase(server.url, patience_s=0.5)
    shared = SharedSlots(SqliteSlotStore(database.place("slots", "all")), owner="s", clock=clock, lease_s=1e6)
    yield MachineSlots(shared, said.append, logging.getLogger("tests"))
    await shared.aclose()


@pytest.mark.parametrize("why", OUTAGES)
async def test_while_the_store_is_away_the_limit_counts_alone_and_then_all_again(server: Server, why: str) -> None:
    clock, said = HandClock(), list[Event]()
    outage = OUTAGES[why]
    async for slots in machine(server, clock, said):
        first = slots.ask("one", 1)
        assert first is not None
        assert await first is not None
        with outage(server):  # type: ignore[attr-defined]
            alone = slots.ask("two", 1)
            assert alone is not None
            assert await alone is None
            assert slots.ask("three", 1) is None  # the store is left alone for a while
            clock.move(AGAIN_S)
            again = slots.ask("four", 1)
            assert again is not None
            assert await again is None
        assert [(type(one), one.level) for one in said if isinstance(one, Notice)] == [(Notice, "warning")]
        assert why in str(said[0])
        clock.move(AGAIN_S)
        second = slots.ask("five", 2)
        assert second is not None
        assert await asyncio.wait_for(second, 60) is not None
        assert [one.text for one in said[1:] if isinstance(one, Notice)] == [TOGETHER]
        for asked in (first, second):
            returned = slots.give_back(asked)
            assert returned is not None
            await returned
        assert len(said) == 2
