"""A task of a fleet and its states. Each start raises its fence; a worker that holds an older token has been replaced,
and may neither act nor record any more.

    submit ──▶ blocked ──▶ queued ──▶ running ──▶ done or failed
                              ▲          │
                              └─ given back; a dead worker's task is begun again while it is running
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Literal

MOST_ATTEMPTS = 5
"""A task whose workers were lost so often fails."""


class FleetState(StrEnum):
    """What a task of a fleet is doing."""

    BLOCKED = "blocked"
    """It needs tasks that are not done."""
    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


UNSUCCESSFUL = frozenset({FleetState.FAILED, FleetState.CANCELLED})
ENDED = UNSUCCESSFUL | {FleetState.DONE}


@dataclass(frozen=True, slots=True)
class FleetDraft:
    """A task as it is submitted."""

    prompt: str
    repo: str = ""
    """Address of a git remote; empty: an empty folder."""
    ref: str = ""
    """Branch, tag or commit; empty: the default branch."""
    tags: tuple[str, ...] = ()
    """A worker takes the task if it has all of them."""
    model: str = ""
    """Empty: that of the worker's settings."""
    permission_mode: str = ""
    """Empty: that of the worker's settings."""
    budget_usd: float | None = None
    priority: int = 0
    """Higher ones start first."""
    needs: tuple[str, ...] = ()
    """Ids of tasks that have to be done before."""
    created_by: str = ""
    """For people, USER@MACHINE or the session."""
    reply_to: str = ""
    """Scope of the mailboxes whose lead gets mail when it ends; empty: none."""
    key: str = ""
    """Submitted again with the same key, it is the same task; empty: it is another one."""


@dataclass(frozen=True, slots=True)
class TaskOutcome:
    """How the work on a task ended."""

    state: Literal[FleetState.DONE, FleetState.FAILED]
    text: str
    """The answer, or why it failed."""
    branch: str = ""
    """Pushed; empty: nothing was changed."""
    cost_usd: float | None = None
    """None: a price is not known."""
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class FleetTask:
    """A task and where it stands."""

    id: str
    draft: FleetDraft
    state: FleetState = FleetState.QUEUED
    since: float = 0.0
    """Unix time of the state, of a running one that of its start."""
    fence: int = 0
    """The token of the last start."""
    attempts: int = 0
    """Starts that were not given back."""
    worker: str = ""
    """Whose token counts; empty: nobody's."""
    machine: str = ""
    """Of the last worker."""
    reason: str = ""
    """Why it was given back, failed or was cancelled."""
    outcome: TaskOutcome | None = None
    submitted: float = 0.0
    """Unix time."""


@dataclass(frozen=True, slots=True)
class FleetRefusal:
    """Nothing changes."""

    reason: str
    """The end of a sentence that begins with the task."""


FleetTasksById = Mapping[str, FleetTask]
Changed = tuple[FleetTask, ...]
"""Tasks as they are from now on, that of the call first. Those that became QUEUED go to the queue."""


def submit(task: FleetTask, known: FleetTasksById, now: float) -> Changed | FleetRefusal:
    """A new task. `known` holds those that it needs."""
    if missing := [need for need in task.draft.needs if need not in known]:
        return FleetRefusal(f"needs {', '.join(missing)}, and there is no such task")
    needed = [known[need] for need in task.draft.needs]
    if lost := [need.id for need in needed if need.state in UNSUCCESSFUL]:
        return FleetRefusal(f"needs {lost[0]}, which did not succeed")
    ready = all(need.state is FleetState.DONE for need in needed)
    state = FleetState.QUEUED if ready else FleetState.BLOCKED
    return (replace(task, state=state, since=now, submitted=now),)


def begin(task: FleetTask, worker: str, machine: str, known: FleetTasksById, now: float) -> Changed | FleetRefusal:
    """A worker was handed the task, which may run elsewhere: then the lease of that worker has ended."""
    if task.state not in (FleetState.QUEUED, FleetState.RUNNING):
        return FleetRefusal(f"is {task.state}")
    if task.attempts >= MOST_ATTEMPTS:
        return _ended(task, FleetState.FAILED, f"{task.attempts} workers were lost with it", known, now)
    begun = replace(task, state=FleetState.RUNNING, since=now, fence=task.fence + 1, attempts=task.attempts + 1)
    return (replace(begun, worker=worker, machine=machine, reason=""),)


def lost(task: FleetTask, fence: int) -> str:
    """Why the holder of this token may neither act nor record, the end of a sentence; empty: it may."""
    if task.state is FleetState.RUNNING and task.fence == fence:
        return ""
    if task.state is FleetState.RUNNING:
        return f"was started again by {task.worker} on {task.machine}"
    return f"is {task.state}"


def finish(
    task: FleetTask, fence: int, outcome: TaskOutcome, known: FleetTasksById, now: float
) -> Changed | FleetRefusal:
    """The work has ended. `known` holds the blocked tasks and those that they need."""
    if reason := lost(task, fence):
        return FleetRefusal(reason)
    why = outcome.text if outcome.state is FleetState.FAILED else ""
    return _ended(replace(task, outcome=outcome), outcome.state, why, known, now)


def give_back(task: FleetTask, fence: int, reason: str, now: float) -> Changed | FleetRefusal:
    """The worker ends before the work does. The start does not count."""
    if refused := lost(task, fence):
        return FleetRefusal(refused)
    back = replace(task, state=FleetState.QUEUED, since=now, attempts=task.attempts - 1, worker="", reason=reason)
    return (back,)


def cancel(task: FleetTask, known: FleetTasksById, now: float) -> Changed | FleetRefusal:
    """The user withdraws it, and with it the tasks that need it."""
    if task.state in ENDED:
        return FleetRefusal(f"is {task.state} already")
    return _ended(task, FleetState.CANCELLED, "cancelled by the user", known, now)


def _ended(task: FleetTask, state: FleetState, reason: str, known: FleetTasksById, now: float) -> Changed:
    """The task with its end, and the blocked tasks for which that decides, one after the other."""
    changed = {task.id: replace(task, state=state, since=now, worker="", reason=reason)}
    ended = [task.id]
    for id in ended:
        for one in known.values():
            if one.state is not FleetState.BLOCKED or id not in one.draft.needs or one.id in changed:
                continue
            if changed[id].state in UNSUCCESSFUL:
                said = f"{id}, which it needs, did not succeed"
                changed[one.id] = replace(one, state=FleetState.CANCELLED, since=now, reason=said)
                ended.append(one.id)
            elif all((changed.get(need) or known[need]).state is FleetState.DONE for need in one.draft.needs):
                changed[one.id] = replace(one, state=FleetState.QUEUED, since=now)
    return tuple(changed.values())
