"""Real processes on one board, a third of them killed: no task is claimed twice at once, done twice or lost."""

import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from threading import Event

from harness.events import TaskState
from harness.policies.tasks.decisions import Changes, TaskDraft
from harness.policies.tasks.task import Actor, Role
from harness.slots.store import this_process
from harness.tasks import TaskBoard
from tests.tasks.workers import LIMITS
from tests.whole import WHOLE

PROCESSES = 8 if WHOLE else 5
KILLED = round(PROCESSES / 3)
TASKS = 8_000 if WHOLE else 120
ROOT = Path(__file__).parents[2]


def until(holds: Callable[[], bool]) -> None:
    pause = Event()
    for _ in range(12_000):
        if holds():
            return
        pause.wait(0.02)
    raise TimeoutError


def lines(log: Path) -> list[str]:
    """What the workers have done."""
    return log.read_text("ascii").splitlines() if log.exists() else []


def test_a_third_of_the_workers_is_killed_and_every_task_is_done_once(tmp_path: Path) -> None:
    file, log, chance = tmp_path / "board.sqlite", tmp_path / "log", Random(11)
    board = TaskBoard(file, this_process("lead"), limits=LIMITS, patience_s=60.0)
    for first in range(1, TASKS + 1, LIMITS.batch):
        numbers = range(first, min(first + LIMITS.batch, TASKS + 1))
        drafts = [
            TaskDraft(f"part {number}", needs=(f"t{chance.randrange(1, first)}",) if first > 1 else ())
            for number in numbers
        ]
        assert isinstance(board.create(drafts, Actor("lead", Role.LEAD)), Changes)
    command = [sys.executable, "-m", "tests.tasks.workers", str(file), str(log)]
    workers = [subprocess.Popen([*command, f"w{number}"], cwd=ROOT) for number in range(PROCESSES)]
    try:
        for number, doomed in enumerate(workers[:KILLED], 1):
            until(lambda wanted=number * TASKS // KILLED // 2: len(lines(log)) > wanted)  # type: ignore[misc]
            doomed.kill()
        assert [worker.wait(600) for worker in workers[KILLED:]] == [0] * (PROCESSES - KILLED)
    finally:
        for worker in workers:
            worker.kill()
            worker.wait()
    said = Counter(lines(log))
    claims = [line for line in said if line.startswith("claimed")]
    completed = Counter(line.split()[1] for line in said if line.startswith("completed"))
    assert set(said.values()) == {1}  # no two claims of a task with the same fence
    assert set(completed.values()) == {1}
    assert len(claims) >= TASKS
    tasks = board.tasks()
    assert len(tasks) == TASKS
    assert {task.state for task in tasks.values()} == {TaskState.COMPLETED}
    assert set(tasks) - {int(number) for number in completed} == {
        number for number, task in tasks.items() if f"completed {number} {task.fence}" not in said
    }
    board.close()
