"""Knowledge about the endpoints of models: among the agents of a program, and among the programs of a person."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from math import inf
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from harness.engine.conversation import Conversation
from harness.engine.model.shared_endpoints import EndpointMove, ModelEndpoints, SharedEndpoints, merged, read, written
from harness.events import BreakerChanged, ChangeReason, Event, Fault, FaultKind, HoldReason
from harness.policies.admission.shared_endpoint import BELIEVED_S, Hold
from harness.policies.breakers.breaker import CLOSED, HALF_OPEN, OPEN, Breaker, BreakerLimits
from harness.policies.recovery import TurnState
from harness.policies.recovery.state import Endpoints
from harness.slots.client import SharedSlots
from harness.slots.store import SlotsError, SlotStore, SqliteSlotStore
from harness.slots.store_pause import AGAIN_S, StorePause
from tests.engine.hand_clock import HandClock
from tests.slots.memory import InMemorySlotStore
from tests.whole import WHOLE

pytestmark = pytest.mark.anyio

LIMITS = BreakerLimits(threshold=2, pauses=(60.0,), lease=inf)
LARGE, SMALL = "claude-large", "claude-small"
ONCE = Breaker().failed(0.0, LIMITS)
OPENED = ONCE.failed(0.0, LIMITS)
CLOSED_AGAIN = OPENED.probing(60.0, LIMITS).succeeded()


def text_with(text: str | None, own: Mapping[str, Breaker], now: float) -> str:
    """The text after a program has moved these breakers."""
    moves = {model: EndpointMove(now, breaker) for model, breaker in own.items()}
    return written(merged(read(text, now), moves, "a session"))


@asynccontextmanager
async def programs(clock: HandClock, *stores: SlotStore) -> AsyncIterator[list[SharedEndpoints]]:
    """What each of several programs knows; the stores keep one and the same text."""
    slots = [SharedSlots(store, owner="s", clock=clock) for store in stores]
    known = [SharedEndpoints(one, address="https://here", clock=clock) for one in slots]
    yield known
    for endpoints, one in zip(known, slots, strict=True):
        await endpoints.aclose()
        await one.aclose()


@pytest.fixture(params=["memory", "sqlite"])
def pair(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], tuple[SlotStore, SlotStore]]:
    """Makes the stores of two programs."""
    if request.param == "sqlite":
        return lambda: (SqliteSlotStore(tmp_path / "slots.sqlite"), SqliteSlotStore(tmp_path / "slots.sqlite"))
    memory = InMemorySlotStore()
    return lambda: (memory, memory)


async def test_what_one_program_has_found_out_another_knows_when_it_asks(
    pair: Callable[[], tuple[SlotStore, SlotStore]],
) -> None:
    async with programs(HandClock(), *pair()) as (one, other):
        one.put({LARGE: OPENED})
        assert other.now.of(LARGE) == Breaker()
        await one.aclose()  # it is written
        await other.refresh()
        assert other.now.of(LARGE) == OPENED
        one.put({LARGE: CLOSED_AGAIN})
        await one.aclose()
        await other.refresh()
        assert other.now.of(LARGE) == CLOSED_AGAIN


async def test_programs_that_move_different_breakers_at_once_lose_nothing(
    pair: Callable[[], tuple[SlotStore, SlotStore]],
) -> None:
    async with programs(HandClock(), *pair()) as (one, other):
        one.put({LARGE: OPENED})
        other.put({SMALL: ONCE})
        await asyncio.gather(one.refresh(), other.refresh())
        await asyncio.gather(one.refresh(), other.refresh())
        assert one.now == other.now
        assert (one.now.of(LARGE), one.now.of(SMALL)) == (OPENED, ONCE)


class SlowCells:
    """A text that is there only when the test says so."""

    def __init__(self, text: str) -> None:
        self.pause = StorePause()
        self.text: str | None = text
        self.given = asyncio.Event()

    async def change(self, name: str, change: Callable[[str | None], str | None]) -> str | None:
        """Read first, answer later."""
        self.text = change(self.text)
        answer = self.text
        await self.given.wait()
        return answer


async def test_a_move_while_the_text_is_read_stays_and_of_others_their_changes_are_taken() -> None:
    cells = SlowCells(text_with(None, {LARGE: ONCE, SMALL: ONCE}, 0.0))
    endpoints = SharedEndpoints(cells, clock=HandClock())
    reading = asyncio.create_task(endpoints.refresh())
    await asyncio.sleep(0)
    endpoints.put({LARGE: OPENED})
    cells.given.set()
    await reading
    await endpoints.aclose()
    assert (endpoints.now.of(LARGE), endpoints.now.of(SMALL)) == (OPENED, ONCE)
    assert read(cells.text, 0.0)[LARGE].breaker == OPENED


async def test_when_nothing_can_be_shared_every_process_continues_alone(caplog: pytest.LogCaptureFixture) -> None:
    class Broken:
        pause = StorePause()

        async def change(self, name: str, change: Callable[[str | None], str | None]) -> str | None:
            raise SlotsError("The disk is gone.")

    with caplog.at_level(logging.WARNING):
        endpoints = SharedEndpoints(Broken(), clock=HandClock(), log=logging.getLogger("tests"))
        endpoints.put({LARGE: OPENED})
        await endpoints.refresh()
        endpoints.put({SMALL: ONCE})
        await endpoints.refresh()
        await endpoints.aclose()
    assert (endpoints.now.of(LARGE), endpoints.now.of(SMALL)) == (OPENED, ONCE)
    assert len(caplog.records) == 1


class Interrupted:
    """Cells that are away as long as the test says."""

    def __init__(self) -> None:
        self.pause = StorePause()
        self.away, self.asked, self.text = True, 0, ""

    async def change(self, name: str, change: Callable[[str | None], str | None]) -> str | None:
        self.asked += 1
        if self.away:
            raise SlotsError("The database is away.")
        self.text = change(self.text or None) or ""
        return self.text


async def test_after_an_outage_sharing_goes_on_with_what_was_moved_meanwhile(caplog: pytest.LogCaptureFixture) -> None:
    cells, clock = Interrupted(), HandClock()
    with caplog.at_level(logging.INFO):
        endpoints = SharedEndpoints(cells, clock=clock, log=logging.getLogger("tests"))
        endpoints.put({LARGE: OPENED, SMALL: OPENED})
        await endpoints.refresh()
        await endpoints.refresh()
        assert cells.asked == 1  # the store is left alone for a while
        cells.away, moved = False, clock.now()
        cells.text = text_with(None, {SMALL: ONCE}, moved + 1)
        clock.move(AGAIN_S)
        await endpoints.refresh()
        await endpoints.aclose()
    assert (endpoints.now.of(LARGE), endpoints.now.of(SMALL)) == (OPENED, ONCE)
    kept = read(cells.text, clock.now())
    assert kept[LARGE].breaker == OPENED
    assert (kept[LARGE].at, kept[SMALL].breaker) == (moved, ONCE)
    assert [record.levelname for record in caplog.records] == ["WARNING", "INFO"]


async def test_no_other_probe_begins_before_the_result_of_the_first_is_known(
    pair: Callable[[], tuple[SlotStore, SlotStore]],
) -> None:
    clock = HandClock()
    async with programs(clock, *pair()) as (one, other):
        one.put({LARGE: OPENED})
        await one.refresh()
        clock.move(60.0)
        probe, next_probe = one.new_ask(), other.new_ask()
        assert await one.ask(LARGE, probe, LIMITS) is None
        one.leave(LARGE, probe, Fault(FaultKind.OVERLOADED, "busy"))
        await one.refresh()  # as before the decision about an overload
        assert await other.ask(LARGE, next_probe, LIMITS) == Hold(HoldReason.PROBE)
        one.put({LARGE: one.now.of(LARGE).failed(clock.now(), LIMITS)})
        await one.refresh()
        assert await other.ask(LARGE, next_probe, LIMITS) == Hold(HoldReason.OPEN, 120.0)


# ── the text ────────────────────────────────────────────────────────────────────────────────────


def test_what_is_old_is_not_believed_also_when_others_have_written_since() -> None:
    text = text_with(None, {LARGE: OPENED}, 1000.0)
    later = text_with(text, {SMALL: ONCE}, 1000.0 + BELIEVED_S)
    assert set(read(later, 1000.0 + BELIEVED_S)) == {LARGE, SMALL}
    assert set(read(later, 1000.5 + BELIEVED_S)) == {SMALL}
    assert set(read(text, 999.0 - BELIEVED_S)) == set()  # by a clock that was set back


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        "[" * 100_000,
        json.dumps({LARGE: []}),
        json.dumps({LARGE: {"at": 0, "breaker": {"failures": "many"}}}),
        json.dumps({LARGE: {"at": 0, "breaker": {"state": "ajar"}}}),
        json.dumps({LARGE: {"at": 0, "breaker": {"state": "open"}}}),  # never closes: a turn could not try it
        json.dumps({LARGE: {"at": 0, "breaker": {"state": "open", "due": float("nan")}}}),
        json.dumps({LARGE: {"at": float("nan"), "breaker": {}}}),
        json.dumps({LARGE: {"at": 0, "breaker": {"failures": -3}}}),
        '{"x": {"at": 0, "breaker": {"generation": ' + "9" * 5000 + "}}}",
    ],
)
def test_a_damaged_text_says_nothing_and_is_replaced(text: str) -> None:
    assert read(text, 0.0) == {}
    assert read(text_with(text, {SMALL: OPENED}, 0.0), 0.0)[SMALL].breaker == OPENED


moves = st.lists(st.sampled_from(("overloaded", "answered", "disturbed", "turned_to")), max_size=12)


def moved(endpoints: Endpoints, how: str, model: str, now: float) -> Endpoints:
    """What a request to a model has led to."""
    match how:
        case "overloaded":
            return endpoints.overloaded(model, now, LIMITS)
        case "answered":
            return endpoints.answered(model, now, LIMITS)
        case "turned_to":
            return endpoints.turned_to(model, now, LIMITS)
        case _:
            return endpoints.disturbed(model, now)


@given(moves, st.floats(0, 1e9))
def test_whatever_a_breaker_has_been_through_is_read_as_it_was_written(how: list[str], now: float) -> None:
    endpoints = Endpoints()
    for one in how:
        endpoints = moved(endpoints, one, LARGE, now)
    told = read(text_with(None, endpoints.breakers, now), now)
    assert {model: one.breaker for model, one in told.items()} == endpoints.breakers


# ── the conversations of a program ──────────────────────────────────────────────────────────────

AGENTS = range(2)
REQUESTS = ("overloaded", "overloaded", "overloaded", "answered", "disturbed", "turned_to")
steps = st.lists(
    st.tuples(
        st.sampled_from(("begin", "latest", "keep", "keep", *REQUESTS)),
        st.sampled_from(AGENTS),
        st.sampled_from((LARGE, LARGE, LARGE, SMALL)),
    ),
    min_size=12,
    max_size=50,
)


class NaiveAgent:
    """Knows what it took over last, and on top of it what it has moved itself."""

    def __init__(self) -> None:
        self.taken: dict[str, Breaker] = {}
        self.own: dict[str, Breaker] = {}

    def of(self, model: str) -> Breaker:
        """The state of a model for this agent."""
        return self.own.get(model, self.taken.get(model, Breaker()))


@settings(max_examples=200 if WHOLE else 60, deadline=None)
@given(steps)
@example(
    [
        *(("overloaded", 1, LARGE), ("overloaded", 1, LARGE), ("keep", 1, LARGE), ("answered", 1, LARGE)),
        *(("begin", 0, LARGE), ("keep", 1, LARGE), ("overloaded", 0, LARGE), ("keep", 0, LARGE), ("keep", 1, LARGE)),
    ]
)
def test_each_agent_writes_what_it_has_moved_and_leaves_the_rest_to_others(taken: list[tuple[str, int, str]]) -> None:
    asyncio.run(as_the_naive_agents(taken))


async def as_the_naive_agents(taken: list[tuple[str, int, str]]) -> None:
    """Every step leaves real and naive agents, and what they share, in the same state."""
    shared = SharedEndpoints()
    told: list[list[Event]] = [[] for _ in AGENTS]
    kept = [ModelEndpoints(Conversation(told[agent].append), shared) for agent in AGENTS]
    states = [TurnState(LARGE, (), one.begin()) for one in kept]
    world: dict[str, Breaker] = {}
    naive = [NaiveAgent() for _ in AGENTS]
    now = 0.0
    for step, agent, model in taken:
        now += 7.0
        mine = naive[agent]
        match step:
            case "begin" | "latest":
                states[agent] = (
                    TurnState(LARGE, (), kept[agent].begin())
                    if step == "begin"
                    else await kept[agent].latest(states[agent], Fault(FaultKind.NETWORK, "refused"))
                )
                mine.taken, mine.own = dict(world), {}
            case "keep":
                kept[agent].keep(states[agent])
                world.update(mine.own)
                mine.taken.update(mine.own)
                mine.own = {}
                check_told(told[agent], shared.now)
            case _:
                after = moved(states[agent].endpoints, step, model, now)
                states[agent] = TurnState(LARGE, (), after)
                if after.of(model) != mine.of(model):
                    mine.own[model] = after.of(model)
                if mine.own.get(model) == mine.taken.get(model, Breaker()):
                    mine.own.pop(model, None)
        assert all(states[agent].endpoints.of(model) == mine.of(model) for model in (LARGE, SMALL))
        assert all(shared.now.of(model) == world.get(model, Breaker()) for model in (LARGE, SMALL))


def check_told(events: list[Event], now: Endpoints) -> None:
    """Check that the changes reported to one conversation are consecutive and end in the breakers' state."""
    state = {f"model:{model}": CLOSED for model in (LARGE, SMALL)}
    for event in events:
        assert isinstance(event, BreakerChanged)
        assert event.before is state[event.key]
        assert event.after is not event.before
        state[event.key] = event.after
    assert state == {f"model:{model}": now.of(model).state for model in (LARGE, SMALL)}


def test_a_breaker_that_others_have_opened_and_closed_meanwhile_is_not_reported() -> None:
    shared, told = SharedEndpoints(), list[Event]()
    kept = ModelEndpoints(Conversation(told.append), shared)
    shared.put({LARGE: CLOSED_AGAIN})
    kept.keep(TurnState(LARGE, (), kept.begin()))
    assert told == []
    shared.put({LARGE: OPENED})
    kept.keep(TurnState(LARGE, (), kept.begin()))
    (event,) = told
    assert isinstance(event, BreakerChanged)
    assert (event.before, event.after, event.why) == (CLOSED, OPEN, ChangeReason.THRESHOLD)
    assert (event.key, event.failures, event.detail) == (f"model:{LARGE}", OPENED.failures, "overloaded")
    shared.put({LARGE: OPENED.probing(60.0, LIMITS)})
    kept.keep(TurnState(LARGE, (), kept.begin()))
    assert isinstance(told[-1], BreakerChanged)
    assert (told[-1].after, told[-1].detail) == (HALF_OPEN, "")
    shared.put({LARGE: CLOSED_AGAIN})
    kept.keep(TurnState(LARGE, (), kept.begin()))
    assert isinstance(told[-1], BreakerChanged)
    assert (told[-1].after, told[-1].why, told[-1].detail) == (CLOSED, ChangeReason.PROBE_SUCCEEDED, "")
