"""A task board in one file of JSON, for threads and processes. Its parts have mistakes; TASK.md has the rules."""

import fcntl
import json
import os
import threading
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
    done = {id for id, task in board.items() if task["state"] == "done"}
    found = [
        id
        for id, task in board.items()
        if id not in done and not task["owner"] and all(n in done for n in task["needs"])
    ]
    return sorted(found, key=lambda id: (board[id]["priority"], int(id[1:])))
    # ── your part ends ───────────────────────────────────────────────


def update(path: Path, change: Callable[[Board], T]) -> T:
    """Load the board, let `change` change it and save it, as one step; returns what `change` returns."""
    # ── your part begins ─────────────────────────────────────────────
    with path.with_suffix(".lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        board = load(path)
        result = change(board)
        new = path.with_name(f"{path.name}.{os.getpid()}.{threading.get_ident()}")
        new.write_text(json.dumps(board), "utf-8")
        new.replace(path)
        return result
    # ── your part ends ───────────────────────────────────────────────


def claim(path: Path, id: str, owner: str) -> str:
    """Try to get a task; returns its owner now, "" if it has none."""

    # ── your part begins ─────────────────────────────────────────────
    def take(board: Board) -> str:
        if id in ready(board):
            board[id]["owner"] = owner
        return str(board[id]["owner"])

    return update(path, take)
    # ── your part ends ───────────────────────────────────────────────


def finish(path: Path, id: str) -> None:
    """Mark a task as done."""
    update(path, lambda board: board[id].update(state="done"))
