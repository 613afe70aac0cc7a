"""`kill -9` in sessions with work that outlives the turn: `python -m benchmarks.outliving_kills --count 200 --seed 0`.

Each run uses a task board, background commands and the schedule at the same time, and is killed after a random time.
Then it is gone on with by a model that only answers. Besides what benchmarks.kills says, a run is good when

1. every task of the journal is on the board once, in the state of its last change, or in a later one whose line the
   kill cut off, and no claim of the killed program is left;
2. every job of the journal is in the schedule once;
3. every command that began has ended once in the journal, and its end was delivered once.
"""

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from benchmarks.kills import DONE, Run, kill
from harness.events import (
    ArrivalKind,
    Arrived,
    CommandCreated,
    CommandEnded,
    Delivered,
    JobChanged,
    TaskChanged,
    TaskState,
    ToolStarted,
)
from harness.journal import read

TASKS = 8
ENDED = (TaskState.COMPLETED, TaskState.PENDING)
"""States of a task without a worker."""


def graph() -> str:
    """A reply that creates the tasks: each needs the one before it."""
    tasks = [{"subject": f"task {number}", "name": f"n{number}"} for number in range(1, TASKS + 1)]
    needs = [f', needs = ["n{number - 1}"]' if number > 1 else "" for number in range(1, TASKS + 1)]
    listed = (
        f'{{ subject = "{one["subject"]}", name = "{one["name"]}"{more} }}'
        for one, more in zip(tasks, needs, strict=True)
    )
    call = f'{{ name = "task_create", input = {{ tasks = [{", ".join(listed)}] }} }}'
    return f'[[reply]]\ntext = "The graph."\ntools = [{call}]\n'


def script() -> str:
    """Replies that claim a task, start a command and schedule a prompt, and then end the task."""
    replies = [graph()]
    for number in range(1, TASKS + 1):
        command = f"sleep 0.0{number}; echo end-{number} >> ends.txt"
        replies.append(
            f'''[[reply]]
text = "Task {number}."
tools = [
  {{ name = "task_claim", input = {{ id = "t{number}" }} }},
  {{ name = "bash", input = {{ command = "{command}", background = true }} }},
  {{ name = "schedule_create", input = {{ when = "@daily", prompt = "job {number}" }} }},
]
[[reply]]
text = "Completed."
tools = [{{ name = "task_update", input = {{ id = "t{number}", status = "completed", note = "seen" }} }}]
'''
        )
    return "".join(replies) + DONE


class OutlivingRun(Run):
    """A session with a board, background commands and a schedule."""

    options = ("--board", "session")
    script = staticmethod(script)

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.environment["HARNESS_SCHEDULE_TOOLS"] = "true"

    def effects(self, path: Path) -> Iterator[str]:
        """Commands that took effect have begun by the journal, and each took effect once."""
        begun = sum(
            isinstance(record.event, ToolStarted) and record.event.tool == "bash" for record in read(path).records
        )
        ends = self.work / "ends.txt"
        lines = Counter(ends.read_text().splitlines() if ends.exists() else ())
        if any(times > 1 for times in lines.values()):
            yield f"a command took effect twice: {lines}"
        if len(lines) > begun:
            yield f"{len(lines)} commands took effect, and {begun} began by the journal"

    def after(self, path: Path) -> Iterator[str]:
        """Compare board, schedule and deliveries with the journal."""
        events = [record.event for record in read(path).records]
        changes = {event.task: event for event in events if isinstance(event, TaskChanged)}
        asked = any(isinstance(event, ToolStarted) and event.tool == "task_create" for event in events)
        board = (
            [json.loads(line) for line in self._command("tasks", "list", "--session", path.stem, "--all", "--json")]
            if asked
            else []
        )
        found = Counter(str(task["id"]) for task in board)
        if len(found) not in (0, TASKS) or any(times > 1 for times in found.values()):
            yield f"tasks on the board: {found}"
        if missing := changes.keys() - found.keys():
            yield f"tasks are lost: {sorted(missing)}"
        completed = {event.task for event in changes.values() if event.state is TaskState.COMPLETED}
        for task in board:
            if task["state"] not in ENDED or task["claim"]:
                yield f"{task['id']} is {task['state']}, claimed by {task['claim']}"
            if task["id"] in completed and task["state"] != TaskState.COMPLETED:
                yield f"{task['id']} was completed and is {task['state']}"
        created = Counter(event.job for event in events if isinstance(event, JobChanged) and event.what == "created")
        listed = Counter(line.split()[0] for line in self._command("cron", "list") if line.startswith("c"))
        begun = sum(isinstance(event, ToolStarted) and event.tool == "schedule_create" for event in events)
        if created - listed or any(times > 1 for times in listed.values()) or listed.total() > begun:
            yield f"jobs by the journal: {dict(created)}, {begun} began; in the schedule: {dict(listed)}"
        commands = Counter(event.command for event in events if isinstance(event, CommandCreated))
        ended = Counter(event.command for event in events if isinstance(event, CommandEnded))
        arrived = Counter(
            event.source for event in events if isinstance(event, Arrived) and event.kind is ArrivalKind.COMMAND_ENDED
        )
        numbers = Counter(event.number for event in events if isinstance(event, Arrived))
        delivered = Counter(number for event in events if isinstance(event, Delivered) for number in event.numbers)
        if not commands == ended == arrived:
            yield f"commands {dict(commands)}, ends {dict(ended)}, arrivals {dict(arrived)}"
        if delivered != numbers:
            yield f"arrived: {dict(numbers)}; delivered: {dict(delivered)}"

    def _command(self, *words: str) -> list[str]:
        told = subprocess.run(
            [sys.executable, "-m", "harness", *words],
            cwd=self.work,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        return told.stdout.splitlines()


if __name__ == "__main__":
    sys.exit(kill(OutlivingRun, __doc__ or ""))
