"""Damaged files of boards and schedules: readable rows are kept, nothing is overwritten, and the user gets a notice."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from random import Random

import pytest

from harness.base.errors import HarnessError
from harness.policies.schedule.job import ScheduledJob
from harness.policies.tasks.decisions import Changes, TaskDraft
from harness.policies.tasks.task import Actor
from harness.schedule.store import ScheduleStore
from harness.slots.store import this_process
from harness.tasks.board import TaskBoard
from tests.whole import WHOLE

ME = Actor("me")
TASKS = 300
PAGE = 4096


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A board with many pages; each tenth task needs the one before."""
    path = tmp_path_factory.mktemp("board") / "board.sqlite"
    board = TaskBoard(path, this_process("s1"))
    for number in range(1, TASKS + 1):
        needs = (f"t{number - 1}",) if number % 10 == 0 else ()
        assert isinstance(board.create([TaskDraft(f"task {number}", "x" * 200, 1, needs)], ME), Changes)
    board.close()
    return path.read_bytes()


class Damaged:
    """A damaged file, and the board that opens it."""

    def __init__(self, path: Path, data: bytes) -> None:
        self.path = path
        path.write_bytes(data)
        self.said: list[str] = []
        self.board = TaskBoard(path, this_process("s2"), report=self.said.append)

    def sql(self, *lines: str) -> None:
        with closing(sqlite3.connect(self.path)) as connection:
            for line in lines:
                connection.execute(line)
            connection.commit()

    @property
    def asides(self) -> list[Path]:
        return sorted(self.path.parent.glob(f"{self.path.name}.unusable-[0-9]"))


@pytest.fixture
def damaged(tmp_path: Path, sound: bytes) -> Iterator[Callable[..., Damaged]]:
    made: list[Damaged] = []

    def make(change: Callable[[bytearray], object] = lambda _: None) -> Damaged:
        data = bytearray(sound)
        change(data)
        made.append(Damaged(tmp_path / f"board{len(made)}.sqlite", bytes(data)))
        return made[-1]

    yield make
    for one in made:
        one.board.close()


def test_a_whole_board_is_not_taken_for_a_damaged_one_by_the_next_program(damaged: Callable[..., Damaged]) -> None:
    one = damaged()
    assert one.board.tasks()[10].needs == (9,)
    assert (one.said, one.asides) == ([], [])


def test_a_board_whose_columns_are_in_another_order_keeps_what_its_tasks_need(
    damaged: Callable[..., Damaged],
) -> None:
    one = damaged()
    one.sql(
        "CREATE TABLE before (task INTEGER NOT NULL, position INTEGER NOT NULL, need INTEGER NOT NULL, "
        "PRIMARY KEY (task, need)) WITHOUT ROWID",
        "INSERT INTO before (task, position, need) SELECT task, position, need FROM needs",
        *("DROP TABLE needs", "ALTER TABLE before RENAME TO needs", "CREATE INDEX needed ON needs (need)"),
    )
    created = one.board.create([TaskDraft("new", needs=("t3", "t2"))], ME)
    assert isinstance(created, Changes)
    tasks = one.board.tasks()
    assert (tasks[10].needs, tasks[TASKS + 1].needs) == ((9,), (3, 2))


@pytest.mark.parametrize(
    "line",
    [
        "DELETE FROM facts",
        "UPDATE facts SET last = 'many'",
        "UPDATE facts SET looked = 'yesterday'",
        "UPDATE facts SET version = x'00ff'",
        "INSERT INTO facts SELECT * FROM facts",
        "DROP TABLE claims",
        "INSERT INTO claims VALUES (1, 'me', 'soon', 's', 'h', 1, 'b')",
        "UPDATE tasks SET state = CAST(x'ff' AS TEXT) WHERE number = 7",
    ],
)
def test_values_that_no_version_wrote_cost_only_themselves(damaged: Callable[..., Damaged], line: str) -> None:
    one = damaged()
    one.sql(line)
    if "INTO facts" in line:  # harmless, but no version wrote it
        assert len(one.board.tasks()) == TASKS
        return
    one.board.tasks()
    one.board.version()
    created = one.board.create([TaskDraft("new")], ME)
    assert isinstance(created, Changes)
    assert [task.number for task in created.tasks] == [TASKS + 1]
    assert len(one.board.tasks()) in (TASKS, TASKS + 1)
    assert isinstance(one.board.claim(ME), Changes)


def test_a_need_of_a_task_that_is_gone_blocks_nothing_and_no_number_is_given_twice(
    damaged: Callable[..., Damaged],
) -> None:
    one = damaged()
    one.sql("DELETE FROM tasks WHERE number = 9", "UPDATE facts SET last = 3")
    assert isinstance(one.board.claim(ME, "t10"), Changes)
    created = one.board.create([TaskDraft("new")], ME)
    assert isinstance(created, Changes)
    assert [task.number for task in created.tasks] == [TASKS + 1]
    assert one.board.tasks()[4].subject == "task 4"


def test_every_damaged_page_costs_only_its_own_rows(damaged: Callable[..., Damaged], sound: bytes) -> None:
    """The first page as well, which says where the tables begin."""
    pages = range(len(sound) // PAGE)
    random = Random(1)
    for page in pages if WHOLE else [0, *random.sample(pages, 12)]:

        def spoil(data: bytearray, page: int = page) -> None:
            data[page * PAGE : (page + 1) * PAGE] = random.randbytes(PAGE)

        one = damaged(spoil)
        before = one.path.read_bytes()
        tasks = one.board.tasks()
        assert all(task.subject == f"task {number}" for number, task in tasks.items())
        (aside,) = one.asides
        assert aside.read_bytes() == before
        (said,) = one.said
        assert f"the damaged file is {aside.name}" in said
        assert len(tasks) >= TASKS - 40 or page in (1, 2), page  # the root of a table leads to all of its pages
        created = one.board.create([TaskDraft("new")], ME)
        assert isinstance(created, Changes)
        assert created.tasks[0].number not in tasks


@pytest.mark.grid(1)
@pytest.mark.parametrize("kind", ["bytes", "cut", "text"])
def test_whatever_the_damage_nothing_is_overwritten(damaged: Callable[..., Damaged], kind: str) -> None:
    random = Random(kind)
    for _ in range(200 if WHOLE else 15):

        def spoil(data: bytearray) -> None:
            match kind:
                case "bytes":
                    for _ in range(random.randint(1, 400)):
                        data[random.randrange(len(data))] = random.randrange(256)
                case "cut":
                    del data[random.randrange(1, len(data)) :]
                case _:
                    data[:] = b"these are my notes " * random.randint(1, 900)

        one = damaged(spoil)
        before = one.path.read_bytes()
        try:
            tasks = one.board.tasks()
            assert isinstance(one.board.create([TaskDraft("new")], ME), Changes)
        except HarnessError as error:  # the mark of another version
            assert ("another version" in str(error), one.path.read_bytes()) == (True, before)  # noqa: PT017
            continue
        again = [said for said in one.said if "could be read" in said]
        assert [aside.read_bytes() for aside in one.asides] == [before] * len(again)
        assert one.said or len(tasks) == TASKS


def test_a_second_damage_overwrites_no_first_one(damaged: Callable[..., Damaged]) -> None:
    one = damaged(lambda data: data.__delitem__(slice(5000, None)))
    one.board.tasks()
    one.board.close()
    one.path.write_bytes(b"notes")
    assert one.board.tasks() == {}
    assert [aside.name for aside in one.asides] == [f"{one.path.name}.unusable-{n}" for n in (1, 2)]
    assert one.asides[1].read_bytes() == b"notes"


def test_a_board_of_another_version_is_left_alone(damaged: Callable[..., Damaged]) -> None:
    for version in (0, 2, 99):
        one = damaged()
        one.sql(f"PRAGMA user_version = {version}")
        before = one.path.read_bytes()
        with pytest.raises(HarnessError, match="another version of harness"):
            one.board.tasks()
        assert one.path.read_bytes() == before


@pytest.mark.parametrize(
    "line",
    [
        "DELETE FROM facts",
        "UPDATE facts SET last = 'x'",
        "UPDATE facts SET last = 0",
        "INSERT INTO owner VALUES ('s', 'h', 1, 'b', 'soon')",
        "UPDATE jobs SET job = 5 WHERE number = 1",
        "UPDATE jobs SET job = x'00ff' WHERE number = 1",
    ],
)
def test_a_damaged_schedule_keeps_its_other_jobs(tmp_path: Path, line: str) -> None:
    path, said = tmp_path / "schedule.sqlite", list[str]()
    store = ScheduleStore(path, this_process("s1"), report=said.append)
    for prompt in ("one", "two"):
        store.add(ScheduledJob(0, "* * * * *", "UTC", prompt, lasting=True))
    store.close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(line)
        connection.commit()
    assert store.own()
    assert store.jobs()[2].prompt == "two"
    assert store.add(ScheduledJob(0, "* * * * *", "UTC", "three", lasting=True)).number == 3
    assert len(said) == ("last = 0" not in line)
    store.close()


def test_a_file_that_was_emptied_is_reported_and_a_new_one_is_not(tmp_path: Path) -> None:
    path, said = tmp_path / "schedule.sqlite", list[str]()
    store = ScheduleStore(path, this_process("s1"), report=said.append)
    store.add(ScheduledJob(0, "* * * * *", "UTC", "one", lasting=True))
    store.close()
    assert said == []
    path.write_bytes(b"")
    assert store.jobs() == {}
    assert len(said) == 1
    assert "was empty, although it was made before" in said[0]
    store.close()
