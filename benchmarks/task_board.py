"""A task board of 10,000 tasks, read and listed, beside a JSON file with the same tasks."""

import gc
import json
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random
from statistics import median

from benchmarks.figures import Figure
from harness.policies.tasks.decisions import TaskDraft
from harness.policies.tasks.task import Actor, Role, Task, TaskLimits
from harness.slots.store import this_process
from harness.tasks import TaskBoard
from harness.tasks.lines import tree_lines

TASKS = 10_000
ROUNDS = 9
ROWS = 40
"""Lines of the list: a screen."""


async def task_board() -> list[Figure | str]:
    """Open the board, read every task and write the tree."""
    with tempfile.TemporaryDirectory() as place:
        file, plain = Path(place) / "board.sqlite", Path(place) / "board.json"
        filled(file)
        plain.write_text(json.dumps([task._asdict() for task in read(file).values()]))
        gc.collect()
        gc.freeze()  # as the app does after its start: what other benchmarks have loaded is not searched again
        ours = [measured(partial(listed, file)) for _ in range(ROUNDS)]
        naive = [measured(partial(parsed, plain)) for _ in range(ROUNDS)]
    return [Figure(f"{TASKS:,} tasks listed / a JSON file read", median(ours), "ms", median(naive), limit=100)]


def filled(file: Path) -> None:
    """A board where every task but the first ones needs an earlier one."""
    limits, chance = TaskLimits(), Random(5)
    board = TaskBoard(file, this_process("benchmark"), limits=limits)
    for first in range(1, TASKS + 1, limits.batch):
        numbers = range(first, min(first + limits.batch, TASKS + 1))
        board.create([draft(number, first, chance) for number in numbers], Actor("benchmark", Role.LEAD))
    board.close()


def draft(number: int, first: int, chance: Random) -> TaskDraft:
    """A task, and in most cases one that it needs."""
    return TaskDraft(f"part {number}", needs=(f"t{chance.randrange(1, first)}",) if first > 1 else ())


def listed(file: Path) -> list[str]:
    """What `/tasks` shows."""
    return list(tree_lines(read(file), ROWS))


def read(file: Path) -> dict[int, Task]:
    """All tasks of a board that another program has written."""
    board = TaskBoard(file, this_process("reader"))
    try:
        return board.tasks()
    finally:
        board.close()


def parsed(file: Path) -> list[Task]:
    """The naive way, without an order, a tree or anybody else who writes."""
    return [Task(**values) for values in json.loads(file.read_text())]


def measured(step: Callable[[], object]) -> float:
    """Milliseconds."""
    began = time.perf_counter()
    step()
    return (time.perf_counter() - began) * 1000
