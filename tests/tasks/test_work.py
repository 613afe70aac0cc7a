"""What one agent does on a board: claims are renewed while it holds them, and what it loses it learns."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from harness.events import Event, HookPoint, Json, Notice, TaskChanged, TaskState
from harness.policies.tasks.decisions import Changes, TaskDraft
from harness.policies.tasks.task import Actor, Role, TaskAction, TaskLimits
from harness.slots.store import this_process
from harness.tasks import TaskBoard
from harness.tasks.board import BoardError
from harness.tasks.work import RENEWALS, WATCH_S, TaskWork
from tests.engine.hand_clock import HandClock
from tests.processes.traces import until

pytestmark = pytest.mark.anyio

LIMITS = TaskLimits(lease_s=60.0)
PART_S = LIMITS.lease_s / RENEWALS


class Here:
    """Two agents on one board, whose clock the test moves."""

    def __init__(self, file: Path) -> None:
        self.clock = HandClock()
        self.clock.time = 1_800_000_000.0
        self.file = file
        self.board = TaskBoard(file, this_process("s1"), limits=LIMITS, clock=self.clock)
        self.events: list[Event] = []
        self.woken: list[tuple[str, str]] = []
        self.lead = self.work(Actor("s1", Role.LEAD))
        self.ann = self.work(Actor("s1/a1"))

    def work(self, actor: Actor) -> TaskWork:
        def wake(who: str, text: str) -> None:
            self.woken.append((who, text))

        async def refuses(point: HookPoint, task: Json) -> str:
            return ""

        return TaskWork(self.board, actor, self.clock, emit=self.events.append, wake=wake, refuses=refuses)

    async def look(self) -> None:
        """Move the clock to the next look of the watch, and let it end."""
        (before,) = self.clock.sleepers
        self.clock.move(WATCH_S)
        await until(lambda: bool(self.clock.sleepers) and self.clock.sleepers[0] is not before)

    async def later(self, seconds: float) -> None:
        """Move the clock while the renewal sleeps, and let it do its work."""
        await until(lambda: bool(self.clock.sleepers))
        (before,) = self.clock.sleepers
        self.clock.move(seconds)
        await until(lambda: before not in self.clock.sleepers and (bool(self.clock.sleepers) or not self.ann.claims))


@asynccontextmanager
async def here(folder: Path) -> AsyncIterator[Here]:
    one = Here(folder / "board.sqlite")
    assert isinstance(await one.lead.create([TaskDraft("a"), TaskDraft("b", needs=("t1",))]), Changes)
    try:
        yield one
    finally:
        await one.ann.aclose()
        await one.lead.aclose()
        one.board.close()


async def test_a_claim_is_renewed_for_as_long_as_it_is_held(tmp_path: Path) -> None:
    async with here(tmp_path) as one:
        assert isinstance(await one.ann.claim(), Changes)
        for _ in range(2 * RENEWALS):
            await one.later(PART_S)
        assert (await one.ann.tasks())[1].state is TaskState.IN_PROGRESS
        assert isinstance(await one.ann.act("t1", TaskAction.COMPLETE, "seen"), Changes)
        assert one.ann.claims == ()
        await until(lambda: not one.clock.sleepers)
        assert one.woken == [("s1", "t2 can be claimed now: b")]


async def test_a_worker_that_slept_too_long_learns_that_its_claim_has_ended(tmp_path: Path) -> None:
    async with here(tmp_path) as one:
        await one.ann.claim()
        await one.lead.tasks()
        other = TaskBoard(one.board.place, this_process("s2"), limits=LIMITS, clock=one.clock)
        await until(lambda: bool(one.clock.sleepers))
        for _ in range(RENEWALS):  # another session runs on while this one is stopped
            one.clock.time += PART_S
            state = other.tasks()[1].state
        assert state is TaskState.PENDING
        other.close()
        await one.later(PART_S)
        assert one.ann.claims == ()
        assert [event.level for event in one.events if isinstance(event, Notice)] == ["warning"]
        assert one.woken[-1][0] == "s1/a1"
        refused = await one.ann.act("t1", TaskAction.COMPLETE, "seen")
        assert not isinstance(refused, Changes)


async def test_a_session_is_notified_once_of_a_task_that_another_program_made_ready(tmp_path: Path) -> None:
    async with here(tmp_path) as one:
        one.lead.watch()
        await until(lambda: bool(one.clock.sleepers))
        other = TaskBoard(one.board.place, this_process("s2"), limits=LIMITS, clock=one.clock)
        bob = Actor("s2", Role.LEAD)
        other.claim(bob, "t1")
        other.act("t1", TaskAction.COMPLETE, bob, text="seen")
        for _ in range(3):
            await one.look()
        assert one.woken == [("s1", "t2 can be claimed now: b")]
        other.act("t2", TaskAction.DEFER, bob, text="not now")
        await one.look()
        other.act("t2", TaskAction.RELEASE, bob)
        other.create([TaskDraft("not for s1")], bob)
        await one.look()
        assert one.woken == 2 * [("s1", "t2 can be claimed now: b")]
        other.close()


async def test_a_session_is_notified_of_what_its_subagents_created_also_when_they_have_ended(tmp_path: Path) -> None:
    async with here(tmp_path) as one:
        await one.ann.create([TaskDraft("c", needs=("t1",))])
        await one.ann.aclose()
        one.lead.watch()
        await until(lambda: bool(one.clock.sleepers))
        bob = Actor("s2", Role.LEAD)
        one.board.claim(bob, "t1")
        one.board.act("t1", TaskAction.COMPLETE, bob, text="seen")
        await one.look()
        assert one.woken == [("s1", "t2 can be claimed now: b"), ("s1/a1", "t3 can be claimed now: c")]


async def test_a_board_that_cannot_be_read_is_reported_once_and_looked_at_again(tmp_path: Path) -> None:
    async with here(tmp_path) as one:
        one.lead.watch()
        await until(lambda: bool(one.clock.sleepers))
        file = one.file.rename(tmp_path / "away")
        one.file.mkdir()
        for _ in range(3):
            await one.look()
        assert [event.level for event in one.events if isinstance(event, Notice)] == ["warning"]
        one.file.rmdir()
        file.rename(one.file)
        bob = Actor("s2", Role.LEAD)
        one.board.claim(bob, "t1")
        one.board.act("t1", TaskAction.COMPLETE, bob, text="seen")
        await one.look()
        assert one.woken == [("s1", "t2 can be claimed now: b")]


async def test_of_a_board_that_was_made_since_nothing_is_missed(tmp_path: Path) -> None:
    async with here(tmp_path) as one:
        board = TaskBoard(tmp_path / "new.sqlite", this_process("s1"), limits=LIMITS, clock=one.clock)
        lead = TaskWork(
            board, one.lead.actor, one.clock, emit=one.events.append, wake=lambda *told: one.woken.append(told)
        )
        lead.watch()
        await until(lambda: bool(one.clock.sleepers))
        await lead.create([TaskDraft("a"), TaskDraft("b", needs=("t1",))])
        bob = Actor("s2", Role.LEAD)
        board.claim(bob, "t1")
        board.act("t1", TaskAction.COMPLETE, bob, text="seen")
        await one.look()
        await until(lambda: bool(one.woken))
        assert one.woken == [("s1", "t2 can be claimed now: b")]
        await lead.aclose()
        board.close()


async def test_what_the_session_itself_made_ready_is_reported_at_most_once(tmp_path: Path) -> None:
    async with here(tmp_path) as one:
        one.lead.watch()
        await until(lambda: bool(one.clock.sleepers))
        await one.lead.create([TaskDraft("c", needs=("t2",)), TaskDraft("d")])
        await one.ann.create([TaskDraft("e")])
        await one.lead.act("t1", TaskAction.COMPLETE, "seen")
        await one.ann.act("t2", TaskAction.CANCEL)
        await one.look()
        assert one.woken == []


async def test_a_folded_task_hides_and_counts_what_is_below_it_until_it_is_unfolded(tmp_path: Path) -> None:
    async with here(tmp_path) as one:  # t1, and t2 below it
        await one.lead.create([TaskDraft("c", needs=("t2",)), TaskDraft("d")])
        assert [line.split()[1] for line in (await one.lead.listed(9)).splitlines()] == ["t1", "t2", "t3", "t4"]
        folded = await one.lead.fold(["t1"], 9, folded=True)
        assert [line.split()[1] for line in folded.splitlines()] == ["t1", "t4"]
        assert folded.splitlines()[0].endswith("(+2)")
        assert await one.lead.listed(9) == folded
        assert len((await one.lead.fold([], 9, folded=False)).splitlines()) == 4
        with pytest.raises(BoardError, match="no task 't9'"):
            await one.lead.fold(["t9"], 9, folded=True)


async def test_what_is_written_is_reported_also_when_the_turn_is_interrupted(tmp_path: Path) -> None:
    async with here(tmp_path) as one:
        claiming = asyncio.ensure_future(one.ann.claim())
        await asyncio.sleep(0)
        claiming.cancel()
        with pytest.raises(asyncio.CancelledError):
            await claiming
        held = (await one.ann.tasks())[1].state is TaskState.IN_PROGRESS
        assert held == bool(one.ann.claims) == any(isinstance(e, TaskChanged) and e.what == "claim" for e in one.events)


async def test_fifty_creations_at_once_make_fifty_tasks(tmp_path: Path) -> None:
    async with here(tmp_path) as one:
        await asyncio.gather(*(one.ann.create([TaskDraft(f"part {number}")]) for number in range(50)))
        assert sorted(await one.lead.tasks()) == list(range(1, 53))
