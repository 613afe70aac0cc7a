"""Tasks as plain text, for the model and for terminals."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime

from harness.base.external_text import visible
from harness.events import TaskState
from harness.policies.tasks.decisions import DEFAULT_PRIORITY
from harness.policies.tasks.graph import Position, Standing, Tasks, standings, tree
from harness.policies.tasks.task import ENDED, Task
from harness.tasks.board import HistoryLine

MOST_LISTED = 100
"""Tasks in one list."""
MARKS = {
    TaskState.IN_PROGRESS: "▸",
    TaskState.COMPLETED: "✓",
    TaskState.FAILED: "✗",
    TaskState.CANCELLED: "–",
    TaskState.DEFERRED: "‖",
}
READY, BLOCKED = "○", "·"


def line_of(task: Task, position: Position | None = None, tasks: Tasks | None = None) -> str:
    """A task in one line, for the model and for lists without colours."""
    facts = [task.state.replace("_", " ")]
    if task.claim is not None:
        facts.append(f"held by {task.claim.actor}")
    if position is not None and position.standing is not Standing.READY:
        causes = ", ".join(f"t{number}{_state_of(number, tasks)}" for number in position.causes)
        facts[0] = f"blocked by {causes}" if position.standing is Standing.BLOCKED else f"deferred: {causes}"
    elif position is not None:
        facts[0] = "ready"
    elif task.needs and task.state is TaskState.PENDING:
        facts.append(f"needs {', '.join(f't{need}' for need in task.needs)}")
    if task.assignee:
        facts.append(f"for {task.assignee}")
    if task.priority != DEFAULT_PRIORITY:
        facts.append(f"priority {task.priority}")
    return f"{task.id}  {visible(task.subject)}  [{'; '.join(facts)}]"


def _state_of(number: int, tasks: Tasks | None) -> str:
    return f" ({tasks[number].state.replace('_', ' ')})" if tasks and number in tasks else ""


def text_of(
    task: Task,
    position: Position | None = None,
    tasks: Tasks | None = None,
    history: Sequence[HistoryLine] = (),
) -> str:
    """A task with all that is known of it."""
    lines = [line_of(task, position, tasks)]
    if task.description:
        lines += ["", task.description]
    if task.note:
        lines += ["", f"Note: {task.note}"]
    if task.attempts:
        lines.append(f"Attempts without a result: {task.attempts}")
    if history:
        lines += ["", "History:"]
        lines += [f"- {_moment(line.at)} {line.actor}: {line.what}{_colon(line.text)}" for line in history]
    return "\n".join(lines)


def _moment(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def _colon(text: str) -> str:
    return f": {text}" if text else ""


def tree_lines(tasks: Tasks, most: int = MOST_LISTED, folded: Collection[int] = ()) -> Iterator[str]:
    """The board as a tree: each task below one that it needs. Where there is not room for all, ended ones are counted.

    `most` is the number of lines; what is below the tasks in `folded` is counted, not shown.
    """
    if not tasks:
        yield "The board has no tasks."
        return
    rows, hidden = _folded(tree(tasks), folded) if folded else (tree(tasks), {})
    ended = sum(task.state in ENDED for task in tasks.values())
    if len(rows) > most and ended:
        rows = [(depth, task) for depth, task in rows if task.state not in ENDED]
        yield f"{ended} of {len(tasks)} tasks have ended."
    positions = standings(tasks, [task.number for _, task in rows[:most]])
    for depth, task in rows[:most]:
        line = line_of(task, positions.get(task.number), tasks)
        below = f"  (+{hidden[task.number]})" if hidden.get(task.number) else ""
        yield f"{'  ' * min(depth, 12)}{_mark(task, positions)} {line}{below}"
    if len(rows) > most:
        yield f"… {len(rows) - most} more"


def _folded(rows: Iterable[tuple[int, Task]], folded: Collection[int]) -> tuple[list[tuple[int, Task]], dict[int, int]]:
    """The rows that are shown, and how many each folded task hides."""
    shown: list[tuple[int, Task]] = []
    hidden: dict[int, int] = {}
    fold: tuple[int, int] | None = None  # depth and number
    for depth, task in rows:
        if fold is not None and depth > fold[0]:
            hidden[fold[1]] += 1
            continue
        shown.append((depth, task))
        fold = None
        if task.number in folded:
            fold = depth, task.number
            hidden[task.number] = 0
    return shown, hidden


def _mark(task: Task, positions: Mapping[int, Position]) -> str:
    position = positions.get(task.number)
    if position is None:
        return MARKS[task.state]
    return READY if position.standing is Standing.READY else BLOCKED
