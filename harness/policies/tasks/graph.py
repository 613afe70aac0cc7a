"""What follows from the graph: which tasks are blocked, cycles, order, and what the end of a task unblocks.

See docs/design/tasks.md#the-graph. All functions take the tasks by number. Except for `standings`, `ready` and `tree`,
the mapping may hold a part of the board only: the task and those that the function looks at.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from operator import attrgetter

from harness.policies.tasks.task import CANCELLED, COMPLETED, DEFERRED, FAILED, PENDING, Task

Tasks = Mapping[int, Task]


class Standing(StrEnum):
    """What a pending task waits for."""

    READY = "ready"
    """Nothing: it can be claimed."""
    BLOCKED = "blocked"
    """Tasks that it needs are not completed yet."""
    DEFERRED = "deferred"
    """A task that it needs has failed, was cancelled, is deferred, or waits for one that has."""


@dataclass(frozen=True, slots=True)
class Position:
    """The standing of a pending task, and the tasks that cause it."""

    standing: Standing
    causes: tuple[int, ...] = ()
    """BLOCKED: those it needs that are not completed. DEFERRED: those that failed, were cancelled or deferred."""


def standings(tasks: Tasks, of: Iterable[int] | None = None) -> dict[int, Position]:
    """The position of every pending task of a whole board, or of those named in `of`; see `Position`."""
    chosen = tasks if of is None else list(of)
    stopped: dict[int, frozenset[int]] = {}
    for number in in_order_of_need(tasks, chosen):
        task = tasks[number]
        if task.state in (FAILED, CANCELLED, DEFERRED):
            stopped[number] = frozenset({number})
        elif task.state is COMPLETED:
            stopped[number] = frozenset()
        else:
            stopped[number] = frozenset().union(*(stopped[need] for need in task.needs))
    pending = (number for number in chosen if tasks[number].state is PENDING)
    return {number: _position(tasks[number], tasks, stopped[number]) for number in pending}


def _position(task: Task, tasks: Tasks, stopped: frozenset[int]) -> Position:
    if stopped:
        return Position(Standing.DEFERRED, tuple(sorted(stopped)))
    open_needs = missing(task, tasks)
    return Position(Standing.BLOCKED, open_needs) if open_needs else Position(Standing.READY)


def missing(task: Task, tasks: Tasks) -> tuple[int, ...]:
    """The tasks that a task needs and that are not completed."""
    return tuple(need for need in task.needs if tasks[need].state is not COMPLETED)


def in_order_of_need(tasks: Tasks, starts: Iterable[int] | None = None) -> list[int]:
    """All numbers, or these and what they need, each behind those that it needs. The graph must have no cycle."""
    order: list[int] = []
    seen: set[int] = set()
    for start in tasks if starts is None else starts:
        path = [(start, iter(tasks[start].needs))] if start not in seen else []
        seen.add(start)
        while path:
            following = next((need for need in path[-1][1] if need not in seen), None)
            if following is None:
                order.append(path.pop()[0])
            else:
                seen.add(following)
                path.append((following, iter(tasks[following].needs)))
    return order


def ready(tasks: Tasks) -> list[Task]:
    """The tasks that can be claimed, in the order in which they are: by priority, then by number."""
    positions = standings(tasks)
    found = (tasks[number] for number, position in positions.items() if position.standing is Standing.READY)
    return sorted(found, key=rank)


rank = attrgetter("priority", "number")
"""The key of the order of claims and lists."""


def cycle(number: int, needs: Iterable[int], tasks: Tasks) -> tuple[int, ...]:
    """A cycle that these new needs of a task would close, as a path that begins and ends with it; empty: none.

    `tasks` holds the needs and all that they need.
    """
    for need in needs:
        came_from: dict[int, int] = {need: number}
        waiting = [need]
        while waiting:
            current = waiting.pop()
            if current == number:
                path = [number]
                while (current := came_from[current]) != number:
                    path.append(current)
                return (number, *reversed(path))
            for further in tasks[current].needs if current in tasks else ():
                if further not in came_from:
                    came_from[further] = current
                    waiting.append(further)
    return ()


def unblocked(ended: int, tasks: Tasks) -> tuple[int, ...]:
    """The pending tasks that can be claimed because this one was completed, in the order of claims."""
    dependants = (task for task in tasks.values() if ended in task.needs and task.state is PENDING)
    return tuple(task.number for task in sorted(dependants, key=rank) if not missing(task, tasks))


def dependants(number: int, tasks: Tasks) -> tuple[int, ...]:
    """The tasks that need this one and have not ended, by number."""
    return tuple(sorted(task.number for task in tasks.values() if number in task.needs))


def tree(tasks: Tasks) -> Sequence[tuple[int, Task]]:
    """Every task once with its depth: behind the last one that it needs, roots in the order of claims."""
    children: dict[int, list[Task]] = {}
    for task in sorted(tasks.values(), key=rank, reverse=True):
        parent = 0
        for need in task.needs:
            if need > parent and need in tasks:
                parent = need
        children.setdefault(parent, []).append(task)
    found: list[tuple[int, Task]] = []
    waiting = [(0, task) for task in children.get(0, ())]
    while waiting:
        depth, task = waiting.pop()
        found.append((depth, task))
        if below := children.get(task.number):
            waiting += [(depth + 1, child) for child in below]
    return found
