"""Work that needs a slot of the machine besides one of its own session."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from threading import Event

import pytest

from harness.base.clock import SystemClock
from harness.events import Notice, WorkEnd
from harness.policies.admission.controller import AdmissionLimits
from harness.slots.client import SharedSlots
from harness.slots.store import QueuePosition, SlotClaim, SlotsError
from tests.engine.admission.callers import NOTHING, Callers
from tests.engine.hand_clock import quiet
from tests.slots.memory import InMemorySlotStore

pytestmark = pytest.mark.anyio

OK = WorkEnd.SUCCEEDED


@pytest.fixture
def store() -> InMemorySlotStore:
    """What two sessions of one machine share."""
    return InMemorySlotStore()


@pytest.fixture
async def sessions(store: InMemorySlotStore) -> AsyncIterator[tuple[SharedSlots, SharedSlots]]:
    """Two sessions on one machine."""
    one, other = (SharedSlots(store, owner=name, clock=SystemClock()) for name in ("one", "other"))
    yield one, other
    await one.aclose()
    await other.aclose()


async def until(holds: Callable[[], bool]) -> None:
    """Wait for an effect of another thread."""
    async with asyncio.timeout(60):
        while not holds():  # noqa: ASYNC110 (the slot thread sends no event)
            await asyncio.sleep(0.002)


async def test_two_sessions_together_run_no_more_than_one_may(sessions: tuple[SharedSlots, SharedSlots]) -> None:
    limits = AdmissionLimits(max_concurrent=2)
    one, other = Callers(limits, shared=sessions[0]), Callers(limits, shared=sessions[1])
    one.ask("a", "b", "c")
    await until(lambda: len(one.begun) == 2)
    other.ask("d")
    await asyncio.sleep(0.05)
    assert other.begun == []
    assert other.runner.status.running == other.runner.status.starting == ("d",)  # here it counts as running
    await one.ends_with(OK, 1)
    await until(lambda: len(one.begun) + len(other.begun) == 3)
    assert one.inside + other.inside == 2


@pytest.mark.parametrize(
    ("stop", "fate"),
    [
        (lambda callers: callers.tasks[1].cancel(), "cancelled"),
        (lambda callers: callers.runner.end("a"), "ended"),
        (lambda callers: callers.runner.configure(AdmissionLimits(max_concurrent=0)), "none_allowed"),
        (lambda callers: asyncio.ensure_future(callers.runner.aclose()), "shutting_down"),
    ],
    ids=["cancelled", "its key ends", "none may run", "it closes"],
)
async def test_waiting_for_a_slot_of_the_machine_can_be_stopped(
    sessions: tuple[SharedSlots, SharedSlots], store: InMemorySlotStore, stop: Callable[[Callers], object], fate: str
) -> None:
    taken = await sessions[1].acquire("another", 1)
    callers = Callers(AdmissionLimits(max_concurrent=1), shared=sessions[0])
    callers.ask("a")
    await until(lambda: len(store.entries(SystemClock().now())) == 2)
    stop(callers)
    await until(callers.tasks[1].done)
    await until(lambda: len(store.entries(SystemClock().now())) == 1)
    assert (callers.fate(1), callers.begun, callers.runner.status.running) == (fate, [], ())
    await sessions[1].release(taken)


@pytest.mark.parametrize("rounds", range(12))
async def test_wherever_a_cancellation_falls_the_slot_of_the_machine_is_given_back(
    sessions: tuple[SharedSlots, SharedSlots], store: InMemorySlotStore, rounds: int
) -> None:
    callers = Callers(AdmissionLimits(max_concurrent=1), shared=sessions[0])
    callers.ask("a")
    await quiet(rounds)
    callers.tasks[1].cancel()
    await until(callers.tasks[1].done)
    callers.ask("b")
    await until(lambda: 2 in callers.ends)
    assert [entry.claim.label for entry in store.entries(SystemClock().now())] == ["b"]
    await callers.ends_with(OK, 2)
    await callers.tasks[2]
    assert store.entries(SystemClock().now()) == ()
    callers.runner.end("a")
    callers.runner.end("b")
    assert callers.controller.sizes() == NOTHING


class SlowStore(InMemorySlotStore):
    """A store that gives back no slot until it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.let_go = Event()

    def release(self, claim_id: str) -> None:
        """Waits."""
        self.let_go.wait(60)
        super().release(claim_id)


async def test_a_second_cancellation_does_not_keep_the_slot_and_the_controller_closes_when_it_is_back() -> None:
    store = SlowStore()
    shared = SharedSlots(store, owner="one", clock=SystemClock())
    callers = Callers(shared=shared)
    callers.ask("a")
    await until(lambda: callers.begun == [1])
    callers.tasks[1].cancel()
    await quiet()
    callers.tasks[1].cancel()
    await until(callers.tasks[1].done)
    closing = asyncio.ensure_future(callers.runner.aclose())
    await quiet()
    assert not closing.done()
    store.let_go.set()
    await closing
    assert store.entries(SystemClock().now()) == ()
    await shared.aclose()


class BrokenStore(InMemorySlotStore):
    """A store that cannot be used from some moment on."""

    broken = True

    def ask(self, claim: SlotClaim, limit: int, now: float) -> QueuePosition:
        """Raises SlotsError when it is broken."""
        self._check()
        return super().ask(claim, limit, now)

    def release(self, claim_id: str) -> None:
        """Raises SlotsError when it is broken."""
        self._check()
        super().release(claim_id)

    def renew(self, claim_ids: Sequence[str], now: float) -> tuple[str, ...]:
        """Raises SlotsError when it is broken."""
        self._check()
        return super().renew(claim_ids, now)

    def _check(self) -> None:
        if self.broken:
            raise SlotsError("The file of the slots cannot be read.")


async def test_where_slots_cannot_be_shared_it_is_said_once_and_the_work_is_done_all_the_same() -> None:
    shared = SharedSlots(BrokenStore(), owner="one", clock=SystemClock())
    callers = Callers(AdmissionLimits(max_concurrent=2), shared=shared)
    callers.ask("a", "b", "c")
    await until(lambda: len(callers.begun) == 2)
    await callers.ends_with(OK, 1)
    await until(lambda: len(callers.begun) == 3)
    notices = [event for event in callers.events if isinstance(event, Notice)]
    assert [notice.level for notice in notices] == ["warning"]
    assert "The file of the slots cannot be read." in notices[0].text
    await shared.aclose()


async def test_a_slot_that_cannot_be_given_back_does_not_spoil_the_result() -> None:
    store = BrokenStore()
    store.broken = False
    shared = SharedSlots(store, owner="one", clock=SystemClock())
    callers = Callers(shared=shared)
    callers.ask("a")
    await until(lambda: callers.begun == [1])
    store.broken = True
    await callers.ends_with(OK, 1)
    assert await callers.tasks[1] is OK
    assert [event.level for event in callers.events if isinstance(event, Notice)] == ["warning"]
    await shared.aclose()
