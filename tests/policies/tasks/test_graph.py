"""The graph of tasks against slow definitions."""

import itertools
from graphlib import CycleError, TopologicalSorter

from hypothesis import given
from hypothesis import strategies as st

from harness.events import TaskState
from harness.policies.tasks.graph import (
    Position,
    Standing,
    cycle,
    in_order_of_need,
    ready,
    standings,
    tree,
    unblocked,
)
from harness.policies.tasks.task import COMPLETED, PENDING, Task

STOPPED = {TaskState.FAILED, TaskState.CANCELLED, TaskState.DEFERRED}


@st.composite
def boards(draw: st.DrawFn) -> dict[int, Task]:
    """Tasks in random order that need only tasks that were drawn before them, so that there is no cycle."""
    numbers = draw(st.lists(st.integers(1, 40), unique=True, max_size=14))
    tasks: dict[int, Task] = {}
    for number in numbers:
        needs = draw(st.lists(st.sampled_from(list(tasks)), unique=True, max_size=3)) if tasks else []
        state = draw(st.sampled_from(list(TaskState)))
        priority = draw(st.integers(0, 4))
        tasks[number] = Task(number, f"part {number}", state=state, priority=priority, needs=tuple(needs))
    return dict(draw(st.permutations(list(tasks.items()))))


def stopped_by(number: int, tasks: dict[int, Task]) -> set[int]:
    """The definition: a task blocks its dependents if it is stopped itself, or waits for a stopped task."""
    task = tasks[number]
    if task.state in STOPPED:
        return {number}
    if task.state is COMPLETED:
        return set()
    return {cause for need in task.needs for cause in stopped_by(need, tasks)}


def position(task: Task, tasks: dict[int, Task]) -> Position:
    if stopped := {cause for need in task.needs for cause in stopped_by(need, tasks)}:
        return Position(Standing.DEFERRED, tuple(sorted(stopped)))
    waits = tuple(need for need in task.needs if tasks[need].state is not COMPLETED)
    return Position(Standing.BLOCKED if waits else Standing.READY, waits)


@given(boards(), st.sets(st.integers(1, 40)))
def test_every_pending_task_is_ready_blocked_or_deferred(tasks: dict[int, Task], asked: set[int]) -> None:
    wanted = {number: position(task, tasks) for number, task in tasks.items() if task.state is PENDING}
    assert standings(tasks) == wanted
    assert standings(tasks, asked & set(tasks)) == {number: one for number, one in wanted.items() if number in asked}
    can_begin = [number for number, one in wanted.items() if one.standing is Standing.READY]
    order = sorted(can_begin, key=lambda number: (tasks[number].priority, number))
    assert [task.number for task in ready(tasks)] == order


@given(boards())
def test_the_order_of_need_has_each_task_once_behind_what_it_needs(tasks: dict[int, Task]) -> None:
    order = in_order_of_need(tasks)
    assert sorted(order) == sorted(tasks)
    assert all(order.index(need) < order.index(number) for number in tasks for need in tasks[number].needs)


@given(boards(), st.data())
def test_a_cycle_is_found_with_its_path_and_nothing_else_is_one(tasks: dict[int, Task], data: st.DataObject) -> None:
    if not tasks:
        return
    number = data.draw(st.sampled_from(sorted(tasks)))
    needs = data.draw(st.lists(st.sampled_from(sorted(tasks)), unique=True, max_size=3))
    graph = {one: {*task.needs, *(needs if one == number else ())} for one, task in tasks.items()}
    path = cycle(number, needs, tasks)
    try:
        TopologicalSorter(graph).prepare()
        assert path == ()
    except CycleError:
        assert path[0] == path[-1] == number
        assert all(after in graph[before] for before, after in itertools.pairwise(path))
        assert len(set(path)) == len(path) - 1


@given(boards(), st.data())
def test_the_end_of_a_task_unblocks_what_can_be_claimed_only_since_then(
    tasks: dict[int, Task], data: st.DataObject
) -> None:
    if not tasks:
        return
    number = data.draw(st.sampled_from(sorted(tasks)))
    before = {**tasks, number: Task(number, "", state=TaskState.IN_PROGRESS, needs=tasks[number].needs)}
    after = {**tasks, number: Task(number, "", state=COMPLETED, needs=tasks[number].needs)}
    new = [task.number for task in ready(after) if task not in ready(before)]
    assert list(unblocked(number, after)) == new


@given(boards())
def test_the_tree_has_each_task_once_behind_one_that_it_needs(tasks: dict[int, Task]) -> None:
    path: list[int] = []
    found: list[int] = []
    for depth, task in tree(tasks):
        del path[depth:]
        assert (path[-1] in task.needs) if depth else not task.needs
        path.append(task.number)
        found.append(task.number)
    assert sorted(found) == sorted(tasks)
