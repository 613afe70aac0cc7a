"""The turn queue: order kept, nothing lost, nothing run twice, under any interleaving."""

import asyncio
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.ui.turn_queue import Delivery, Item, ItemEnd, TurnLoop, TurnQueue, TypedLine

pytestmark = pytest.mark.anyio

STEPS = st.lists(
    st.sampled_from(
        ["type", "type", "type", "arrive", "stop", "end", "end", "fail", "kill", "release", "hold", "take", "clear"]
    ),
    max_size=60,
)
"""Events of a conversation; "end", "fail" and "kill" apply to the running item."""


class Naive:
    """The rules again, without regard to cost: all lines and arrivals in one list."""

    def __init__(self) -> None:
        self.typed = 0
        self.arrived = False
        self.held = True
        self.waiting: list[str] = []
        self.running: str | None = None
        self.stopped = False
        self.doomed: list[str] = []
        self.begun: list[str] = []
        self.returned: list[str] = []

    def step(self, step: str) -> None:
        """Apply this event, then start every item that can start."""
        match step:
            case "type":
                self.typed += 1
                self.waiting = [*self.waiting, f"line {self.typed}"]
            case "arrive":
                self.arrived = True
            case "stop" if self.running:
                self.stopped, self.doomed = True, self.waiting
            case "release":
                self.held = False
            case "hold":
                self.held = True
            case "take":
                self.returned, self.waiting = self.returned + self.waiting[-1:], self.waiting[:-1]
            case "clear":
                self.returned, self.waiting = self.returned + self.waiting, []
            case "end" | "fail" | "kill" if self.running:
                if step == "fail" and self.running == "delivery":
                    self.held = True
                if self.stopped:
                    self.held = True
                    self.returned += [line for line in self.waiting if line in self.doomed]
                    self.waiting = [line for line in self.waiting if line not in self.doomed]
                self.running, self.stopped = None, False
        if self.running is None and self.waiting:
            self.running, self.waiting = self.waiting[0], self.waiting[1:]
            self.begun.append(self.running)
        elif self.running is None and self.arrived and not self.held:
            self.running = "delivery"
            self.begun.append(self.running)
            self.arrived = False


class Stage:
    """A loop whose items end on demand, with a log."""

    def __init__(self) -> None:
        self.arrived = False
        self.begun: list[str] = []
        self.returned: list[str] = []
        self.ends: list[ItemEnd] = []
        self.now: asyncio.Future[None] | None = None
        self.loop = TurnLoop(self._carry_out, self._ended, lambda: self.arrived)

    async def _carry_out(self, item: Item) -> None:
        assert self.now is None, "two things run at the same time"
        self.begun.append(item.text if isinstance(item, TypedLine) else "delivery")
        self.arrived = self.arrived and not isinstance(item, Delivery)
        self.now = asyncio.get_running_loop().create_future()
        try:
            await self.now
        finally:
            self.now = None

    def _ended(self, ended: ItemEnd) -> None:
        self.ends.append(ended)
        self.returned += [line.text for line in ended.given_back]

    async def step(self, step: str, line: str) -> None:
        """Let this happen, and wait until nothing moves."""
        match step:
            case "type":
                self.loop.put(line)
            case "arrive":
                self.arrived = True
                self.loop.wake()
            case "stop":
                self.loop.queue.stop()
            case "release":
                self.loop.queue.release()
                self.loop.wake()
            case "hold":
                self.loop.queue.hold()
            case "take":
                last = self.loop.queue.take_last()
                self.returned += [] if last is None else [last]
            case "clear":
                removed = list(self.loop.queue.lines)
                assert [line.text for line in self.loop.queue.clear()] == list(removed)
                self.returned += removed
            case "end" if self.now is not None:
                self.now.set_result(None)
            case "fail" if self.now is not None:
                self.now.set_exception(RuntimeError("it failed"))
            case "kill":
                self.loop.end_at_once()
        await rest()


async def rest() -> None:
    """Let every runnable task run."""
    for _ in range(12):
        await asyncio.sleep(0)


@given(STEPS)
async def test_the_loop_does_what_the_rules_say(steps: list[str]) -> None:
    naive, stage = Naive(), Stage()
    stage.loop.start()
    await rest()
    for step in steps:
        naive.step(step)
        await stage.step(step, f"line {naive.typed}")
        assert (stage.begun, stage.returned) == (naive.begun, naive.returned)
        assert list(stage.loop.queue.lines) == naive.waiting
        assert (stage.now is not None) == (naive.running is not None)
    every = [f"line {number}" for number in range(1, naive.typed + 1)]
    seen = [line for line in stage.begun if line != "delivery"]
    assert sorted([*seen, *stage.returned, *stage.loop.queue.lines]) == sorted(every), "lost, or there twice"
    assert seen == sorted(seen, key=every.index)
    await stage.loop.aclose()
    assert stage.now is None


async def test_a_line_that_is_put_while_an_item_runs_or_ends_runs_after_those_before_it() -> None:
    begun = list[str]()

    async def carry_out(item: Item) -> None:
        assert isinstance(item, TypedLine)
        begun.append(item.text)
        if item.text == "first":
            loop.put("third")

    def ended(ended: ItemEnd) -> None:
        if ended.item == TypedLine("first"):
            loop.put("fourth")

    loop = TurnLoop(carry_out, ended, lambda: False)
    loop.start()
    loop.put("first")
    loop.put("second")
    await rest()
    await rest()
    await loop.aclose()
    assert begun == ["first", "second", "third", "fourth"]


async def of_many(count: int, carry_out: Callable[[Item], None]) -> list[ItemEnd]:
    """So many lines, put at once, run to their end."""
    ends, done = list[ItemEnd](), asyncio.Event()

    async def do(item: Item) -> None:
        carry_out(item)

    def ended(end: ItemEnd) -> None:
        ends.append(end)
        if len(ends) == count:
            done.set()

    loop = TurnLoop(do, ended, lambda: False)
    for number in range(count):
        loop.put(f"line {number}")
    loop.start()
    async with asyncio.timeout(60):
        await done.wait()
    await loop.aclose()
    return ends


async def test_thousands_of_lines_run_in_their_order_and_nest_nothing() -> None:
    ends = await of_many(5_000, lambda item: None)
    assert [end.item for end in ends] == [TypedLine(f"line {number}") for number in range(5_000)]
    assert all(end.error is None for end in ends)


async def test_a_line_that_fails_loses_no_other() -> None:
    def fails(item: Item) -> None:
        raise ValueError(item)

    ends = await of_many(3, fails)
    assert [str(end.error) for end in ends] == [str(TypedLine(f"line {number}")) for number in range(3)]


async def test_a_delivery_that_fails_is_not_begun_again_and_again() -> None:
    stage = Stage()
    stage.loop.queue.release()
    stage.loop.start()
    await stage.step("arrive", "")
    stage.arrived = True  # it failed before delivery to the model
    await stage.step("fail", "")
    assert (stage.begun, stage.now) == (["delivery"], None)
    await stage.step("type", "go on")
    assert stage.begun == ["delivery", "go on"]
    await stage.loop.aclose()


async def test_what_waits_when_the_loop_is_closed_is_not_begun() -> None:
    stage = Stage()
    stage.loop.start()
    await stage.step("type", "first")
    await stage.step("type", "second")
    await stage.loop.aclose()
    assert (stage.begun, stage.ends) == (["first"], [])
    assert stage.loop.queue.begin(arrived=True) is None


def test_nothing_begins_while_something_runs() -> None:
    queue = TurnQueue()
    queue.put("first")
    queue.put("second")
    queue.release()
    assert queue.begin(arrived=True) == TypedLine("first")
    assert queue.begin(arrived=True) is None
    assert queue.end() == ()
    assert [queue.begin(arrived=True), queue.end(), queue.begin(arrived=True)] == [TypedLine("second"), (), Delivery()]
