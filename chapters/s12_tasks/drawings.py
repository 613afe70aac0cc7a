"""The drawings of the chapter: the graph of the demo as the program shows it, and the changes that are possible."""

import tomllib
from pathlib import Path

from harness.policies.tasks.decisions import Changes, TaskDraft, create
from harness.policies.tasks.task import FAILED, TRANSITIONS, Actor, Task, TaskLimits
from harness.tasks.lines import tree_lines

SCRIPT = Path(__file__).parent / "script.toml"


def tasks() -> dict[int, Task]:
    """The tasks of the second reply of the script."""
    replies = tomllib.loads(SCRIPT.read_text("utf-8"))["reply"]
    drafts = [
        TaskDraft(one["subject"], name=one["name"], needs=tuple(one.get("needs", ())))
        for one in replies[1]["tools"][0]["input"]["tasks"]
    ]
    made = create(drafts, {}, Actor("you"), first=1, stored=0, now=0.0, limits=TaskLimits())
    if not isinstance(made, Changes):
        raise TypeError(made.reason)
    return {task.number: task for task in made.tasks}


def _tree(board: dict[int, Task]) -> str:
    return "\n".join(f"   {line}" for line in tree_lines(board, len(board)))


def graph() -> str:
    """The board after the first turn."""
    return _tree(tasks())


def failed() -> str:
    """The board when its first task has failed."""
    board = tasks()
    return _tree({**board, 1: board[1]._replace(state=FAILED)})


def transitions() -> str:
    """What can be done with a task in each state."""
    states = dict.fromkeys(state for state, _ in TRANSITIONS)
    rows = ((state, [action for before, action in TRANSITIONS if before is state]) for state in states)
    lines = [f"   {state.replace('_', ' '):<14}{', '.join(actions)}" for state, actions in rows]
    return "\n".join([*lines, f"   {'completed':<14}nothing: other tasks may have built on it"])
