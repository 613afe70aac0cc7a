"""What the executor uses: waits for its turn, renews, gives back, and learns what it lost."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from harness.base.clock import SystemClock
from harness.slots.client import BEATS, LEASE_S, LOOK_AGAIN_S, SharedSlots, ignore
from harness.slots.store import SlotsError, SlotStore, SqliteSlotStore
from tests.slots.memory import InMemorySlotStore

HEARTBEAT_S = BEATS * LEASE_S

pytestmark = pytest.mark.anyio


class HandClock:
    """A manual clock; advancing it wakes the sleepers that are due."""

    def __init__(self) -> None:
        self.time = 1_800_000_000.0
        self.sleepers: dict[asyncio.Future[None], float] = {}
        self.changed = asyncio.Event()

    def now(self) -> float:
        return self.time

    async def sleep(self, seconds: float) -> None:
        sleeper: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.sleepers[sleeper] = self.time + seconds
        self.changed.set()
        try:
            await sleeper
        finally:
            del self.sleepers[sleeper]
            self.changed.set()

    async def turn(self, seconds: float) -> None:
        """Be `seconds` later, at once: who slept less than that wakes up once."""
        self.time += seconds
        for sleeper, until in self.sleepers.items():
            if until <= self.time and not sleeper.done():
                sleeper.set_result(None)
        await asyncio.sleep(0)  # they are no longer among the sleepers

    async def sleeping(self, count: int) -> None:
        """Wait until so many sleep; a store answers from a thread."""
        async with asyncio.timeout(60):
            while len(self.sleepers) != count:
                self.changed.clear()
                await self.changed.wait()


async def no_heart_beats() -> None:
    """Wait for every heartbeat to end."""
    beating = [task for task in asyncio.all_tasks() if task.get_name() == "slots heartbeat"]
    if beating:
        await asyncio.wait(beating, timeout=60)
    assert all(task.done() for task in beating)


def slots_of(
    store: SlotStore, clock: HandClock | None = None, owner: str = "s1", lost: Callable[[str], None] = ignore
) -> SharedSlots:
    return SharedSlots(store, owner=owner, clock=clock or SystemClock(), draw=Random(7), lost=lost)


async def test_a_free_slot_is_there_at_once_and_can_be_given_back() -> None:
    store, clock = InMemorySlotStore(), HandClock()
    slots = slots_of(store, clock)
    claim = await slots.acquire("a1", 1)
    (entry,) = store.entries(clock.now())
    assert (entry.claim.id, entry.claim.label, entry.claim.owner.session) == (claim, "a1", "s1")
    assert slots.held == {claim}
    await slots.release(claim)
    assert (store.entries(clock.now()), slots.held) == ((), frozenset())
    await slots.aclose()


async def test_who_waits_looks_again_after_a_short_pause_that_is_drawn() -> None:
    store, clock = InMemorySlotStore(), HandClock()
    first, second = slots_of(store, clock), slots_of(store, clock, "s2")
    claim = await first.acquire("a1", 1)
    waits = asyncio.create_task(second.acquire("b1", 1))
    await clock.sleeping(2)  # the heartbeat of the first and the second's pause
    shortest, longest = LOOK_AGAIN_S
    pause = min(clock.sleepers.values()) - clock.now()
    assert shortest <= pause <= longest
    await first.release(claim)
    await clock.turn(longest)
    assert await waits in second.held
    await first.aclose()
    await second.aclose()


async def test_cancelled_while_it_waits_it_leaves_the_queue() -> None:
    store, clock = InMemorySlotStore(), HandClock()
    slots = slots_of(store, clock)
    claim = await slots.acquire("a1", 1)
    waits = asyncio.create_task(slots.acquire("a2", 1))
    await clock.sleeping(2)
    waits.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waits
    assert [entry.claim.id for entry in await slots.entries()] == [claim]
    await slots.aclose()


async def test_cancelled_in_the_very_step_that_gives_it_a_slot_it_gives_it_back() -> None:
    store, clock = InMemorySlotStore(), HandClock()
    slots = slots_of(store, clock)
    for turns in range(12):
        asks = asyncio.create_task(slots.acquire("a1", 1))
        for _ in range(turns):
            await asyncio.sleep(0)
        asks.cancel()
        await asyncio.gather(asks, return_exceptions=True)
        if not asks.cancelled():
            await slots.release(asks.result())
        assert await slots.entries() == ()
    await slots.aclose()


async def test_cancelled_while_it_gives_a_slot_back_it_has_given_it_back() -> None:
    store, clock = InMemorySlotStore(), HandClock()
    slots = slots_of(store, clock)
    for turns in range(1, 6):
        gives_back = asyncio.create_task(slots.release(await slots.acquire("a1", 1)))
        for _ in range(turns):
            await asyncio.sleep(0)
        gives_back.cancel()
        await asyncio.gather(gives_back, return_exceptions=True)
        assert await slots.entries() == ()
    await slots.aclose()


async def test_what_is_held_is_renewed_and_nothing_beats_when_nothing_is_held() -> None:
    store, clock = InMemorySlotStore(), HandClock()
    slots = slots_of(store, clock)
    claim = await slots.acquire("a1", 1)
    for _ in range(10):
        await clock.sleeping(1)
        await clock.turn(HEARTBEAT_S)
    await clock.sleeping(1)
    assert [entry.expires - clock.now() for entry in store.entries(clock.now())] == [LEASE_S]
    await slots.release(claim)
    await clock.turn(HEARTBEAT_S)
    await no_heart_beats()
    await slots.aclose()


async def test_a_holder_that_slept_too_long_learns_that_it_lost_its_slot() -> None:
    store, clock, lost = InMemorySlotStore(), HandClock(), asyncio.Queue[str]()
    slept, other = slots_of(store, clock, lost=lost.put_nowait), slots_of(store, clock, "s2")
    claim = await slept.acquire("a1", 1)
    await clock.sleeping(1)
    clock.time += LEASE_S
    taken = await other.acquire("b1", 1)
    await clock.turn(0)
    assert await asyncio.wait_for(lost.get(), 60) == claim
    assert not slept.held
    await slept.release(claim)
    assert [entry.claim.id for entry in await other.entries()] == [taken]
    await slept.aclose()
    await other.aclose()


async def test_a_store_that_fails_for_a_whole_lease_has_lost_everything(tmp_path: Path) -> None:
    file = tmp_path / "state" / "slots.sqlite"
    clock, lost = HandClock(), list[str]()
    slots = slots_of(SqliteSlotStore(file), clock, lost=lost.append)
    claim = await slots.acquire("a1", 1)
    file.parent.rename(tmp_path / "away")
    file.parent.write_text("no folder")
    for _ in range(4):
        await clock.sleeping(1)
        assert lost == []
        await clock.turn(HEARTBEAT_S)
    await no_heart_beats()
    assert lost == [claim]
    await slots.aclose()


async def test_a_store_that_cannot_be_used_is_said_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("no folder")
    slots = slots_of(SqliteSlotStore(tmp_path / "state" / "slots.sqlite"))
    with pytest.raises(SlotsError, match="HARNESS_SHARED_ADMISSION=off"):
        await slots.acquire("a1", 1)
    await slots.aclose()


async def test_closing_gives_everything_back_and_takes_nothing_in() -> None:
    before = asyncio.all_tasks()
    store, clock = InMemorySlotStore(), HandClock()
    slots = slots_of(store, clock)
    await asyncio.gather(*(slots.acquire(f"a{number}", 3) for number in range(3)))
    waits = asyncio.create_task(slots.acquire("a4", 3))
    await clock.sleeping(2)
    await slots.aclose()
    await slots.aclose()
    await clock.turn(1.0)
    for late in (waits, slots.acquire("a5", 3)):
        with pytest.raises(SlotsError, match="closed"):
            await late
    assert store.entries(clock.now()) == ()
    assert asyncio.all_tasks() == before


async def test_sessions_in_one_file_take_turns_and_never_run_more_than_may(tmp_path: Path) -> None:
    sessions = [slots_of(SqliteSlotStore(tmp_path / "slots.sqlite"), owner=f"s{number}") for number in range(4)]
    running, most = 0, 0

    async def work(slots: SharedSlots, number: int) -> None:
        nonlocal running, most
        claim = await slots.acquire(f"a{number}", 3)
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.01)
        running -= 1
        await slots.release(claim)

    await asyncio.gather(*(work(slots, number) for slots in sessions for number in range(3)))
    assert most == 3
    assert await sessions[0].entries() == ()
    for slots in sessions:
        await slots.aclose()


async def test_a_text_is_shared_by_all_sessions(tmp_path: Path) -> None:
    one, other = (slots_of(SqliteSlotStore(tmp_path / "slots.sqlite")) for _ in range(2))
    await one.change("endpoint", lambda text: f"{text} 1")
    assert await other.change("endpoint", lambda text: f"{text} 2") == "None 1 2"
    await one.aclose()
    await other.aclose()
