"""A board on disk: what it keeps, whose claims end, and what damage costs."""

import os
import random
import sqlite3
import stat
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.base.transactions import SharedPlace
from harness.events import TaskState
from harness.policies.tasks import decisions
from harness.policies.tasks.decisions import Changes, Refused, TaskDraft, TaskEdit
from harness.policies.tasks.graph import rank, ready
from harness.policies.tasks.task import Actor, Role, Task, TaskAction, TaskLimits
from harness.slots.store import ProcessOwner, this_process
from harness.tasks import BoardError, TaskBoard, project_board, session_board
from harness.tasks.board import LOOK_S
from tests.fleet.postgres import fleet_place, needs_postgres
from tests.whole import WHOLE

LIMITS = TaskLimits(attempts=3, lease_s=60.0)
ANN, BEN, LEAD = Actor("s1/a1"), Actor("s2/a1"), Actor("s1", Role.LEAD)


class HandClock:
    """A clock that the test moves."""

    def __init__(self) -> None:
        self.at = 1_800_000_000.0

    def now(self) -> float:
        return self.at

    async def sleep(self, seconds: float) -> None:
        raise NotImplementedError


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def told() -> list[str]:
    return []


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return session_board(tmp_path / "state", "20261123-1200-aaaaaa")


@pytest.fixture
def board(file: Path, clock: HandClock, told: list[str]) -> Iterator[TaskBoard]:
    board = TaskBoard(file, this_process("s1"), limits=LIMITS, clock=clock, report=told.append)
    yield board
    board.close()


def done(decided: Changes | Refused) -> Changes:
    assert isinstance(decided, Changes), decided
    return decided


def three(board: TaskBoard) -> None:
    """t1, t2, and t3, which needs both."""
    done(board.create([TaskDraft("a", name="a"), TaskDraft("b", name="b"), TaskDraft("c", needs=("a", "b"))], LEAD))


def states(board: TaskBoard) -> dict[int, TaskState]:
    return {number: task.state for number, task in sorted(board.tasks().items())}


def test_nothing_is_made_before_it_is_needed_and_only_its_user_may_read_it(board: TaskBoard, file: Path) -> None:
    assert not file.parent.parent.exists()
    three(board)
    assert {stat.S_IMODE(path.stat().st_mode) for path in file.parent.iterdir()} == {0o600}


def test_a_task_comes_back_as_it_was_created(board: TaskBoard, clock: HandClock) -> None:
    draft = TaskDraft("  first\n part ", "the whole\nstory", 1, ("t2", "t1"), assignee="s1/a1")
    three(board)
    done(board.create([draft], LEAD))
    wanted = Task(4, "first part", "the whole\nstory", TaskState.PENDING, 1, (2, 1), "s1", "s1/a1")
    (found,) = [task for task in board.tasks().values() if task.number == 4]
    assert found == wanted._replace(created_at=clock.at, updated_at=clock.at)
    assert [task.id for task in board.tasks().values()] == ["t4", "t1", "t2", "t3"]  # by priority, then by number


def test_numbers_are_not_used_again(board: TaskBoard, file: Path) -> None:
    three(board)
    done(board.delete("t3", LEAD))
    other = TaskBoard(file, this_process("s2"))
    assert [task.id for task in done(other.create([TaskDraft("d")], LEAD)).tasks] == ["t4"]
    other.close()
    assert [line.what for line in board.history("t3")] == ["create", "delete"]


def test_an_old_task_that_has_ended_goes_unless_another_one_needs_it(board: TaskBoard, clock: HandClock) -> None:
    three(board)
    for _ in range(2):
        (task,) = done(board.claim(ANN)).tasks
        done(board.act(task.id, TaskAction.COMPLETE, ANN, text="seen", fence=1))
    done(board.edit("t3", TaskEdit(drop_needs=("t2",)), LEAD))
    clock.at += LIMITS.keep_s
    done(board.create([TaskDraft("d")], LEAD))
    assert sorted(board.tasks()) == [1, 2, 3, 4]
    clock.at += 1
    done(board.create([TaskDraft("e")], LEAD))
    assert sorted(board.tasks()) == [1, 3, 4, 5]


def test_the_first_ready_task_is_claimed_and_the_end_of_the_last_need_unblocks(board: TaskBoard) -> None:
    three(board)
    assert [done(board.claim(ANN)).tasks[0].id, done(board.claim(BEN)).tasks[0].id] == ["t1", "t2"]
    assert "No task is ready" in board.claim(ANN).reason  # type: ignore[union-attr]
    assert done(board.act("t1", TaskAction.COMPLETE, ANN, text="tests pass", fence=1)).unblocked == ()
    assert done(board.act("t2", TaskAction.COMPLETE, BEN, text="read it", fence=1)).unblocked == (3,)
    assert [(line.actor, line.what, line.text) for line in board.history("t1")] == [
        ("s1", "create", "a"),
        ("s1/a1", "claim", ""),
        ("s1/a1", "complete", "tests pass"),
    ]


def test_a_claim_that_is_not_renewed_ends_and_its_holder_is_refused(board: TaskBoard, clock: HandClock) -> None:
    three(board)
    (task,) = done(board.claim(ANN)).tasks
    assert task.claim is not None
    clock.at += LIMITS.lease_s - 1
    assert board.renew([task.claim], [1]) == ()
    for _ in range(3):
        assert states(board)[1] is TaskState.IN_PROGRESS
        clock.at += LIMITS.lease_s / 3
    assert states(board)[1] is TaskState.PENDING
    assert board.renew([task.claim], [1]) == (1,)
    done(board.claim(BEN))
    assert "s2/a1 has it now" in board.act("t1", TaskAction.COMPLETE, ANN, text="x", fence=1).reason  # type: ignore[union-attr]


def test_after_a_sleep_of_the_machine_a_claim_is_still_that_of_its_process(
    board: TaskBoard, file: Path, clock: HandClock
) -> None:
    three(board)
    done(board.claim(ANN))
    elsewhere = TaskBoard(file, ProcessOwner("s9", "another machine", 1, ""), limits=LIMITS, clock=clock)
    done(elsewhere.claim(Actor("s9")))
    elsewhere.close()
    clock.at += 100 * LIMITS.lease_s  # the first reader has not renewed yet, either
    assert states(board) == {1: TaskState.IN_PROGRESS, 2: TaskState.PENDING, 3: TaskState.PENDING}


def test_the_tasks_of_an_ended_process_come_back(file: Path, clock: HandClock) -> None:
    gone: list[ProcessOwner] = []
    first = TaskBoard(file, this_process("s1"), clock=clock, lives=lambda owner: owner not in gone)
    second = TaskBoard(file, ProcessOwner("s2", "here", 1, ""), clock=clock, lives=lambda owner: owner not in gone)
    three(first)
    done(first.claim(ANN))
    done(second.claim(BEN))
    gone.append(this_process("s1"))
    clock.at += LOOK_S
    assert states(second) == {1: TaskState.PENDING, 2: TaskState.IN_PROGRESS, 3: TaskState.PENDING}
    assert second.tasks()[1].note == "the process that worked on it has ended"
    first.close()
    second.close()


def test_a_claim_does_not_lose_against_a_process_that_has_just_ended(file: Path, clock: HandClock) -> None:
    gone: set[ProcessOwner] = set()
    first = TaskBoard(file, this_process("s1"), clock=clock, lives=lambda owner: owner not in gone)
    second = TaskBoard(file, ProcessOwner("s2", "here", 1, ""), clock=clock, lives=lambda owner: owner not in gone)
    first.create([TaskDraft("only one")], LEAD)
    first.claim(Actor("a"))
    assert isinstance(second.claim(Actor("b"), "t1"), Refused)
    assert isinstance(second.claim(Actor("b")), Refused)
    gone.add(this_process("s1"))  # within the interval at which processes are checked
    claimed = second.claim(Actor("b"), "t1")
    assert isinstance(claimed, Changes)
    assert claimed.tasks[0].attempts == 1
    first.close()
    second.close()


def test_an_agent_that_ends_gives_all_its_tasks_back(board: TaskBoard) -> None:
    three(board)
    done(board.claim(ANN))
    done(board.claim(ANN))
    assert board.give_back(ANN.name, "its turn was paused").unblocked == (1, 2)
    assert {task.note for task in board.tasks().values()} == {"its turn was paused", ""}
    assert board.give_back(ANN.name, "again") == Changes()


def test_the_version_rises_with_every_change_and_not_without(board: TaskBoard) -> None:
    seen = [board.version()]
    three(board)
    seen.append(board.version())
    board.tasks()
    assert board.version() == seen[-1] > seen[0]
    done(board.edit("t1", TaskEdit(note="looked at it"), LEAD))
    assert board.version() > seen[-1]


def test_a_record_that_cannot_be_read_is_set_aside_once_and_the_others_stay(
    board: TaskBoard, file: Path, told: list[str]
) -> None:
    three(board)
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("UPDATE tasks SET state = 'sideways' WHERE number = 2")
        connection.commit()
    assert states(board) == {1: TaskState.PENDING, 3: TaskState.PENDING}
    assert board.tasks()[3].needs == (1,)
    assert len(told) == 1
    assert "t2" in told[0]
    with closing(sqlite3.connect(file)) as connection:
        assert "sideways" in connection.execute("SELECT row FROM broken").fetchone()[0]


@pytest.mark.parametrize("number", [1, 2])
def test_what_follows_from_a_record_that_cannot_be_read_is_decided_without_it(
    board: TaskBoard, file: Path, clock: HandClock, told: list[str], number: int
) -> None:
    """The damage is found by a claim, and by the end of one."""
    done(board.create([TaskDraft("a", name="a"), TaskDraft("b", needs=("a",))], LEAD))
    (task,) = done(board.claim(ANN)).tasks
    done(board.act("t1", TaskAction.COMPLETE, ANN, text="seen", fence=task.fence))
    if number == 2:
        done(board.claim(ANN))
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("UPDATE tasks SET state = 'sideways' WHERE number = 1")
        connection.commit()
    if number == 2:
        board.give_back(ANN.name, "it has ended")
    (task,) = done(board.claim(BEN, "t2")).tasks
    assert (task.needs, task.attempts, len(told)) == ((), number - 1, 1)


def test_a_board_with_needs_is_whole_for_the_next_process(board: TaskBoard, file: Path, told: list[str]) -> None:
    three(board)
    done(board.create([TaskDraft("later", needs=("t1", "t2"))], LEAD))
    with closing(TaskBoard(file, this_process("s2"), limits=LIMITS, report=told.append)) as other:
        assert other.tasks()[4].needs == (1, 2)
    assert told == []


def test_a_file_that_is_no_board_is_set_aside(board: TaskBoard, file: Path, told: list[str]) -> None:
    file.parent.mkdir(parents=True)
    file.write_bytes(b"no database " * 400)
    three(board)
    assert "was damaged" in told[0]
    assert file.with_name(f"{file.name}.unusable-1").exists()


def test_a_board_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    (tmp_path / "boards").write_text("a file where a folder belongs")
    board = TaskBoard(session_board(tmp_path, "s1"), this_process("s1"))
    with pytest.raises(BoardError, match="cannot be used"):
        board.tasks()


def test_a_repository_has_one_board_for_all_its_worktrees(tmp_path: Path) -> None:
    main, tree, state = tmp_path / "main", tmp_path / "tree", tmp_path / "state"
    main.mkdir()
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull}
    for command in (
        "init -q",
        "-c user.name=a -c user.email=a@b commit -q --allow-empty -m first",
        f"worktree add -q {tree}",
    ):
        subprocess.run(["git", *command.split()], cwd=main, env=environment, check=True)
    (tree / "sub").mkdir()
    assert len({project_board(state, folder) for folder in (main, tree, tree / "sub")}) == 1
    assert project_board(state, main, "release") != project_board(state, main)
    assert project_board(state, tmp_path) != project_board(state, main)
    with pytest.raises(ValueError, match="not a name"):
        project_board(state, main, "../up")


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["create", "claim", "edit", "delete", *TaskAction]), st.integers(0, 20), st.integers(0, 20)
    ),
    max_size=18,
)


@settings(max_examples=500 if WHOLE else 25)
@given(STEPS, st.integers(0, 1_000_000))
def test_it_decides_as_the_policy_does_with_the_whole_board_before_it(
    tmp_path_factory: pytest.TempPathFactory, steps: Sequence[tuple[str, int, int]], seed: int
) -> None:
    decides_as_the_policy(tmp_path_factory.mktemp("boards") / "board.sqlite", steps, seed)


@needs_postgres
@settings(max_examples=100 if WHOLE else 8)
@given(STEPS, st.integers(0, 1_000_000))
def test_it_decides_so_in_the_database_of_a_fleet_too(steps: Sequence[tuple[str, int, int]], seed: int) -> None:
    decides_as_the_policy(fleet_place("board"), steps, seed)


def decides_as_the_policy(place: Path | SharedPlace, steps: Sequence[tuple[str, int, int]], seed: int) -> None:
    """The oracle keeps all tasks in memory; the board loads only those that a decision looks at."""
    clock, chance = HandClock(), random.Random(seed)
    board = TaskBoard(place, this_process("s1"), limits=LIMITS, clock=clock)
    tasks: dict[int, Task] = {}
    last = 0
    for what, one, other in steps:
        numbers = sorted(tasks) or [1]
        id, need = f"t{numbers[one % len(numbers)]}", f"t{numbers[other % len(numbers)]}"
        task = tasks.get(int(id[1:]))
        actor = chance.choice([ANN, BEN, LEAD])
        wanted: Changes | Refused
        if what == "create" or task is None:
            drafts = [TaskDraft("x", priority=one % 5, needs=(need,) if other % 3 else ())]
            found = board.create(drafts, actor)
            wanted = decisions.create(
                drafts, tasks, actor, first=last + 1, stored=len(tasks), now=clock.at, limits=LIMITS
            )
        elif what == "claim":
            found = board.claim(actor)
            mine = [candidate for candidate in ready(tasks) if candidate.assignee in ("", actor.name)]
            wanted = (
                decisions.claim(mine[0], tasks, actor, now=clock.at, limits=LIMITS)
                if mine
                else Refused("No task is ready: all are claimed, blocked, deferred or done.")
            )
        elif what == "edit":
            edit = TaskEdit(add_needs=(need,)) if one % 2 else TaskEdit(drop_needs=(need,), assignee="s1/a1")
            found = board.edit(id, edit, actor)
            wanted = decisions.change(task, edit, tasks, actor, now=clock.at, limits=LIMITS)
        elif what == "delete":
            found = board.delete(id, actor)
            wanted = decisions.delete(task, tasks, actor)
        elif what == TaskAction.CLAIM:
            found = board.claim(actor, id)
            wanted = decisions.claim(task, tasks, actor, now=clock.at, limits=LIMITS)
        else:
            fence = None if actor.leads else task.fence
            found = board.act(id, TaskAction(what), actor, text="why", fence=fence)
            wanted = decisions.act(
                task, TaskAction(what), tasks, actor, text="why", fence=fence, now=clock.at, limits=LIMITS
            )
        assert found == wanted
        if isinstance(wanted, Changes):
            tasks |= {task.number: task for task in wanted.tasks}
            last = max([last, *tasks])
            for number in wanted.deleted:
                del tasks[number]
        assert list(board.tasks().values()) == sorted(tasks.values(), key=rank)
    board.close()
