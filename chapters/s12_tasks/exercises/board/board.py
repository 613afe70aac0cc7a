"""A task board in one file of JSON, for threads and processes. Its parts have mistakes; TASK.md has the rules."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

Task = dict[str, Any]
Board = dict[str, Task]
"""{"t1": {"needs": ["t2"], "priority": 2, "state": "open" or "done", "owner": ""}, …}; 0 is the most urgent."""
T = TypeVar("T")


def load(path: Path) -> Board:
    """The board as it is now."""
    return dict(json.loads(path.read_text("utf-8")))


def ready(board: Board) -> list[str]:
    """The ids of the tasks that can be claimed, the most urgent first."""
    # ── your part begins ─────────────────────────────────────────────
    return [id for id, task in board.items() if task["state"] == "open"]
    # ── your part ends ───────────────────────────────────────────────


def update(path: Path, change: Callable[[Board], T]) -> T:
    """Load the board, let `change` change it and save it, as one step; returns what `change` returns."""
    # ── your part begins ─────────────────────────────────────────────
    board = load(path)
    result = change(board)
    path.write_text(json.dumps(board), "utf-8")
    return result
    # ── your part ends ───────────────────────────────────────────────


def claim(path: Path, id: str, owner: str) -> str:
    """Try to get a task; returns its owner now, "" if it has none."""
    # ── your part begins ─────────────────────────────────────────────
    board = load(path)
    if board[id]["owner"] == "":
        update(path, lambda board: board[id].update(owner=owner))
    return owner
    # ── your part ends ───────────────────────────────────────────────


def finish(path: Path, id: str) -> None:
    """Mark a task as done."""
    update(path, lambda board: board[id].update(state="done"))
