"""A process that works on a board until all its tasks have ended: python -m tests.tasks.workers FILE LOG NAME

Appends each action to LOG as one line in one write: "claimed NUMBER FENCE" and "completed NUMBER FENCE".
"""

import os
import sys
import time
from pathlib import Path
from threading import Event

from harness.policies.tasks.decisions import Changes
from harness.policies.tasks.task import ENDED, Actor, TaskAction, TaskLimits
from harness.slots.store import this_process
from harness.tasks import TaskBoard

LIMITS = TaskLimits(attempts=1_000)


def work(file: Path, log: Path, name: str) -> None:
    """Claim and complete until nothing is left. Tasks of killed processes come back."""
    out = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    board, actor, pause = TaskBoard(file, this_process(name), limits=LIMITS, patience_s=60.0), Actor(name), Event()
    while True:
        claimed = board.claim(actor)
        if not isinstance(claimed, Changes):
            if all(task.state in ENDED for task in board.tasks().values()):
                return
            pause.wait(0.05)
            continue
        (task,) = claimed.tasks
        os.write(out, f"claimed {task.number} {task.fence}\n".encode())
        time.sleep(0.001)
        ended = board.act(task.id, TaskAction.COMPLETE, actor, text="done", fence=task.fence)
        if isinstance(ended, Changes):
            os.write(out, f"completed {task.number} {task.fence}\n".encode())


if __name__ == "__main__":
    work(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])
