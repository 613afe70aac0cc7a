"""Decides what an actor may change on a board, and what follows from it. Nothing is stored here.

Each function takes the tasks it looks at and returns `Changes`, or `Refused` with a sentence on what is possible. See
docs/design/tasks.md#states.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from harness.policies.tasks.graph import Tasks, cycle, dependants, missing, unblocked
from harness.policies.tasks.task import (
    CANCELLED,
    COMPLETED,
    DEFERRED,
    FAILED,
    IN_PROGRESS,
    PENDING,
    TRANSITIONS,
    Actor,
    Task,
    TaskAction,
    TaskClaim,
    TaskLimits,
    legal_actions,
    number_of,
)

DEFAULT_PRIORITY = 2
PRIORITIES = range(5)


@dataclass(frozen=True, slots=True)
class TaskDraft:
    """A task to create."""

    subject: str
    description: str = ""
    priority: int = DEFAULT_PRIORITY
    needs: tuple[str, ...] = ()
    """Ids of tasks of the board, or names of drafts of the same batch."""
    name: str = ""
    """Its name within the batch."""
    assignee: str = ""


@dataclass(frozen=True, slots=True)
class TaskEdit:
    """A change of what a task says; None: as it is."""

    subject: str | None = None
    description: str | None = None
    priority: int | None = None
    assignee: str | None = None
    add_needs: tuple[str, ...] = ()
    drop_needs: tuple[str, ...] = ()
    note: str | None = None


@dataclass(frozen=True, slots=True)
class TaskRecord:
    """A line of the history of a task."""

    number: int
    actor: str
    what: str
    """An action, or "create", "change", "delete", "expire"."""
    text: str = ""


@dataclass(frozen=True, slots=True)
class Changes:
    """What is written."""

    tasks: tuple[Task, ...] = ()
    """As they are from now on."""
    deleted: tuple[int, ...] = ()
    records: tuple[TaskRecord, ...] = ()
    unblocked: tuple[int, ...] = ()
    """Tasks that can be claimed because of it."""
    deferred: tuple[int, ...] = ()
    """Tasks that wait for one that has failed or was cancelled because of it."""
    wakes: tuple[tuple[int, str], ...] = ()
    """For each unblocked task who is notified: its assignee, else its creator."""
    said: str = ""
    """What whoever asked for it has to know besides; empty: nothing."""


@dataclass(frozen=True, slots=True)
class Refused:
    """Nothing changes."""

    reason: str


def create(
    drafts: Sequence[TaskDraft],
    tasks: Tasks,
    actor: Actor,
    *,
    first: int,
    stored: int,
    now: float,
    limits: TaskLimits,
) -> Changes | Refused:
    """New tasks, all or none.

    Args:
        tasks: those of the board that the drafts need.
        first: the number of the first new task.
        stored: how many tasks the board holds.
    """
    if not drafts:
        return Refused("There is no task to create.")
    if len(drafts) > limits.batch:
        return Refused(f"{len(drafts)} tasks at once are too many; create at most {limits.batch}.")
    if stored + len(drafts) > limits.tasks:
        return Refused(f"The board holds {stored} of {limits.tasks} tasks; delete some that have ended.")
    named: dict[str, int] = {}
    for number, draft in enumerate(drafts, first):
        if not draft.name:
            continue
        if draft.name in named or number_of(draft.name) is not None:
            return Refused(f"The name {draft.name!r} is used twice or looks like an id; give each draft its own.")
        named[draft.name] = number
    made: dict[int, Task] = {}
    for number, draft in enumerate(drafts, first):
        if wrong := _wrong(draft.subject, draft.description, draft.priority, limits):
            return Refused(f"Task {number - first + 1}: {wrong}")
        needs = _numbers(draft.needs, {*tasks, *range(first, first + len(drafts))}, named)
        if isinstance(needs, Refused):
            return needs
        if len(needs) > limits.needs:
            return Refused(f"Task {number - first + 1} needs {len(needs)} tasks; at most {limits.needs} are possible.")
        subject = " ".join(draft.subject.split())
        made[number] = Task(
            number,
            subject,
            draft.description,
            priority=draft.priority,
            needs=needs,
            creator=actor.name,
            assignee=draft.assignee,
            created_at=now,
            updated_at=now,
        )
    for number, task in made.items():
        if path := cycle(number, task.needs, {**tasks, **made}):
            return Refused(_cyclic(path, {**tasks, **made}))
    records = tuple(TaskRecord(task.number, actor.name, "create", task.subject) for task in made.values())
    return Changes(tuple(made.values()), records=records)


def change(
    task: Task, edit: TaskEdit, tasks: Tasks, actor: Actor, *, now: float, limits: TaskLimits
) -> Changes | Refused:
    """Another text, priority, assignee, or other needs. `tasks` holds the new needs and all that they need."""
    if not _may_change(task, actor):
        return Refused(_not_yours(task))
    subject = task.subject if edit.subject is None else " ".join(edit.subject.split())
    description = task.description if edit.description is None else edit.description
    priority = task.priority if edit.priority is None else edit.priority
    if wrong := _wrong(subject, description, priority, limits):
        return Refused(wrong[0].upper() + wrong[1:])
    added = _numbers(edit.add_needs, tasks, {})
    if isinstance(added, Refused):
        return added
    dropped = {number_of(id) for id in edit.drop_needs}
    if not dropped <= set(task.needs):
        needs = ", ".join(f"t{need}" for need in task.needs) or "nothing"
        return Refused(f"{task.id} needs {needs}; {', '.join(edit.drop_needs)} cannot be removed from that.")
    if (added or dropped) and task.state not in (PENDING, DEFERRED):
        return Refused(f"{task.id} is {task.state}; what it needs can be changed while it is pending or deferred.")
    kept = tuple(dict.fromkeys(need for need in (*task.needs, *added) if need not in dropped))
    if len(kept) > limits.needs:
        return Refused(f"{task.id} would need {len(kept)} tasks; at most {limits.needs} are possible.")
    if path := cycle(task.number, added, tasks):
        return Refused(_cyclic(path, {**tasks, task.number: task}))
    assignee = task.assignee if edit.assignee is None else edit.assignee
    note = task.note if edit.note is None else edit.note
    after = task._replace(
        subject=subject,
        description=description,
        priority=priority,
        needs=kept,
        assignee=assignee,
        note=note,
        updated_at=now,
    )
    parts = ("subject", "description", "priority", "needs", "assignee", "note")
    said = ", ".join(name for name in parts if getattr(task, name) != getattr(after, name))
    text = edit.note if said == "note" and edit.note else said
    freed = (task.number,) if missing(task, tasks) and not missing(after, tasks) and after.state is PENDING else ()
    return Changes(
        (after,),
        records=(TaskRecord(task.number, actor.name, "change", text),),
        unblocked=freed,
        wakes=_wakes(freed, {**tasks, task.number: after}),
    )


def claim(task: Task, tasks: Tasks, actor: Actor, *, now: float, limits: TaskLimits) -> Changes | Refused:
    """The right to work on a task. `tasks` holds what it needs."""
    if (held := task.claim) is not None:
        if held.actor == actor.name:
            return Refused(f"{task.id} is yours already; complete, fail or release it.")
        return Refused(f"{task.id} was claimed by {held.actor}.")
    if (after := TRANSITIONS.get((task.state, TaskAction.CLAIM))) is None:
        return Refused(illegal(task, TaskAction.CLAIM))
    if task.assignee and not actor.is_meant_by(task.assignee) and not actor.leads:
        return Refused(f"{task.id} is assigned to {task.assignee}.")
    if needed := missing(task, tasks):
        waits = ", ".join(f"t{need} ({tasks[need].state})" for need in needed)
        return Refused(f"{task.id} needs {waits} first.")
    fence = task.fence + 1
    held = TaskClaim(actor.name, fence, now + limits.lease_s)
    claimed = task._replace(state=after, claim=held, fence=fence, note="", updated_at=now)
    return Changes((claimed,), records=(TaskRecord(task.number, actor.name, TaskAction.CLAIM),))


def act(
    task: Task,
    action: TaskAction,
    tasks: Tasks,
    actor: Actor,
    *,
    text: str = "",
    fence: int | None = None,
    now: float,
    limits: TaskLimits,
) -> Changes | Refused:
    """End, defer, release or reopen a task.

    Args:
        tasks: those that need it, directly or not, and what they need.
        text: what was checked, or why. Completing, failing and deferring need it.
        fence: that of the actor's claim; None: an actor that leads, or the action needs no claim.
    """
    if (after := TRANSITIONS.get((task.state, action))) is None or action is TaskAction.CLAIM:
        return Refused(illegal(task, action))
    if refused := _without_right(task, action, actor, fence):
        return refused
    if action in (TaskAction.COMPLETE, TaskAction.FAIL, TaskAction.DEFER) and not text.strip():
        wanted = "what was checked" if action is TaskAction.COMPLETE else "why"
        return Refused(f"Say {wanted} when you {action} {task.id}.")
    given_back = action in (TaskAction.RELEASE, TaskAction.FAIL) and task.state is IN_PROGRESS
    changed = task._replace(
        state=after,
        claim=None,
        attempts=0 if action is TaskAction.REOPEN else task.attempts + given_back,
        note=text.strip(),
        updated_at=now,
    )
    if action is TaskAction.RELEASE and given_back and changed.attempts >= limits.attempts and not actor.leads:
        changed = _given_up(changed, limits)
    return _with_consequences(task, changed, TaskRecord(task.number, actor.name, action, text.strip()), tasks)


def expire(task: Task, why: str, tasks: Tasks, *, now: float, limits: TaskLimits) -> Changes:
    """The claim of a task has ended without a result: its lease is over, or its process or turn has ended."""
    holder = "" if task.claim is None else task.claim.actor
    freed = task._replace(state=PENDING, claim=None, attempts=task.attempts + 1, note=why, updated_at=now)
    if freed.attempts >= limits.attempts:
        freed = _given_up(freed, limits)
    return _with_consequences(task, freed, TaskRecord(task.number, holder, "expire", why), tasks)


def delete(task: Task, tasks: Tasks, actor: Actor) -> Changes | Refused:
    """Remove a task that no other one needs. `tasks` holds those that need it."""
    if not _may_change(task, actor):
        return Refused(_not_yours(task))
    if task.state is IN_PROGRESS:
        return Refused(f"{task.id} is in progress; cancel it first.")
    if needed_by := dependants(task.number, tasks):
        ids = ", ".join(f"t{number}" for number in needed_by)
        return Refused(f"{task.id} is needed by {ids}; remove that need or cancel {task.id} instead.")
    return Changes(deleted=(task.number,), records=(TaskRecord(task.number, actor.name, "delete", task.subject),))


def illegal(task: Task, action: TaskAction) -> str:
    """Why an action is not possible now, and which ones are."""
    legal = ", ".join(legal_actions(task.state)) or "nothing; create another task instead"
    return f"{task.id} is {task.state}, so it is not possible to {action} it; possible: {legal}."


def _with_consequences(before: Task, after: Task, record: TaskRecord, tasks: Tasks) -> Changes:
    board = {**tasks, after.number: after}
    freed = unblocked(after.number, board) if after.state is COMPLETED else ()
    if after.state is PENDING and before.state is not PENDING and not missing(after, board):
        freed = (after.number,)
    stops = after.state in (FAILED, CANCELLED, DEFERRED)
    stopped = _all_dependants(after.number, board) if stops else ()
    return Changes((after,), records=(record,), unblocked=freed, deferred=stopped, wakes=_wakes(freed, board))


def _all_dependants(number: int, tasks: Tasks) -> tuple[int, ...]:
    """The pending tasks that need a task, directly or not."""
    needed_by: dict[int, list[int]] = {}
    for task in tasks.values():
        for need in task.needs if task.state is PENDING else ():
            needed_by.setdefault(need, []).append(task.number)
    found: set[int] = set()
    waiting = [number]
    while waiting:
        new = set(needed_by.get(waiting.pop(), ())) - found
        found |= new
        waiting.extend(new)
    return tuple(sorted(found))


def _wakes(numbers: Collection[int], tasks: Tasks) -> tuple[tuple[int, str], ...]:
    return tuple((number, tasks[number].assignee or tasks[number].creator) for number in numbers)


def _given_up(task: Task, limits: TaskLimits) -> Task:
    note = f"set aside after {limits.attempts} attempts; the last one: {task.note or 'no reason given'}"
    return task._replace(state=DEFERRED, note=note)


def _without_right(task: Task, action: TaskAction, actor: Actor, fence: int | None) -> Refused | None:
    if actor.leads and fence is None and (task.claim is None or actor.answers_for(task.claim.actor)):
        return None
    if task.claim is None:
        return None if _may_change(task, actor) else Refused(_not_yours(task))
    if task.claim.actor == actor.name and task.claim.fence == fence:
        return None
    if fence is not None and fence < task.claim.fence:
        return Refused(f"Your claim of {task.id} has ended, and {task.claim.actor} has it now; nothing was changed.")
    if action in (TaskAction.CANCEL, TaskAction.DEFER) and task.creator == actor.name:
        return None
    who = "only its holder, the lead of its session or the user"
    return Refused(f"{task.id} is held by {task.claim.actor}; {who} can {action} it.")


def _may_change(task: Task, actor: Actor) -> bool:
    mine = (task.creator, task.claim.actor if task.claim else "")
    return actor.leads or actor.name in mine or actor.is_meant_by(task.assignee)


def _not_yours(task: Task) -> str:
    return (
        f"{task.id} belongs to {task.creator}; only its creator, assignee, holder, the lead or the user can change it."
    )


def _wrong(subject: str, description: str, priority: int, limits: TaskLimits) -> str:
    if not subject.strip():
        return "the subject is empty; give it one line."
    if len(subject) > limits.subject:
        return f"the subject has {len(subject)} characters; use at most {limits.subject}, and the description for more."
    if len(description) > limits.description:
        return f"the description has {len(description)} characters; use at most {limits.description}."
    if priority not in PRIORITIES:
        return f"priority {priority} is not known; use 0 (most urgent) to 4."
    return ""


def _numbers(ids: Sequence[str], known: Collection[int], named: Mapping[str, int]) -> tuple[int, ...] | Refused:
    found: list[int] = []
    for id in ids:
        number = named.get(id, number_of(id))
        if number is None or number not in known:
            return Refused(f"There is no task {id!r}; name one of the board or of the same batch.")
        found.append(number)
    return tuple(dict.fromkeys(found))


def _cyclic(path: Sequence[int], tasks: Tasks) -> str:
    steps = " needs ".join(f"t{number} ({tasks[number].subject})" for number in path)
    return f"That would be a cycle: {steps}."
