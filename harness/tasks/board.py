"""A task board in one SQLite file, for all processes of a user on one machine.

Every method is one transaction: it loads the tasks that a decision of `harness.policies.tasks` looks at, asks for the
decision and writes what follows. Claims end when they are not renewed in time, and when the process of their holder has
ended (docs/design/tasks.md#claims).
"""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from harness.base.clock import Clock, SystemClock
from harness.base.concurrency import WorkerThread
from harness.base.errors import HarnessError
from harness.base.sqlite_file import SqliteSchema, tables_at
from harness.base.transactions import SharedPlace, SqlConnection, Transactions
from harness.events import TaskState
from harness.policies.tasks import decisions
from harness.policies.tasks.decisions import Changes, Refused, TaskDraft, TaskEdit, TaskRecord
from harness.policies.tasks.task import IN_PROGRESS, Actor, Task, TaskAction, TaskClaim, TaskLimits, number_of
from harness.slots.store import ProcessOwner, lives

TABLES = """
CREATE TABLE tasks (
    number INTEGER PRIMARY KEY,
    subject TEXT NOT NULL, description TEXT NOT NULL, state TEXT NOT NULL, priority INTEGER NOT NULL,
    creator TEXT NOT NULL, assignee TEXT NOT NULL, fence INTEGER NOT NULL, attempts INTEGER NOT NULL,
    note TEXT NOT NULL, created REAL NOT NULL, updated REAL NOT NULL
);
CREATE INDEX in_order ON tasks (state, priority, number);
CREATE TABLE needs (task INTEGER NOT NULL, need INTEGER NOT NULL, position INTEGER NOT NULL, PRIMARY KEY (task, need))
    WITHOUT ROWID;  -- the key first: quick_check of SQLite 3.40.1 takes a column before or within it for NULL
CREATE INDEX needed ON needs (need);
CREATE TABLE claims (
    task INTEGER PRIMARY KEY, actor TEXT NOT NULL, expires REAL NOT NULL,
    session TEXT NOT NULL, host TEXT NOT NULL, pid INTEGER NOT NULL, born TEXT NOT NULL
);
CREATE TABLE history (
    at REAL NOT NULL, task INTEGER NOT NULL, actor TEXT NOT NULL, what TEXT NOT NULL, text TEXT NOT NULL
);
CREATE INDEX of_task ON history (task);
CREATE TABLE broken (task INTEGER NOT NULL, row TEXT NOT NULL);
CREATE TABLE facts (last INTEGER NOT NULL, version INTEGER NOT NULL, looked REAL NOT NULL);
INSERT INTO facts VALUES (0, 0, 0);
"""
COLUMNS = "number, subject, description, state, priority, creator, assignee, fence, attempts, note, created, updated"
PATIENCE_S = 10.0
"""Longest time for a step, including the wait for other processes; usually about a millisecond."""
LOOK_S = 1.0
"""Interval at which the processes of holders are checked."""
MOST_HISTORY = 200
"""Lines of the history of a task that are kept."""

T = TypeVar("T")
Step = Callable[[SqlConnection], T]


class BoardError(HarnessError):
    """The board cannot be used now."""


class _Damaged(Exception):  # noqa: N818  it ends a step, which is taken again without these records
    """Records that cannot be read."""

    def __init__(self, rows: Sequence[Sequence[Any]]) -> None:
        self.rows = rows


SCHEMA = SqliteSchema(
    application=0x68617462,
    version=1,
    tables=TABLES,
    error=BoardError,
)


@dataclass(frozen=True, slots=True)
class HistoryLine:
    """One change of a task."""

    at: float
    """Unix time."""
    actor: str
    what: str
    """An action, or "create", "change", "delete", "expire"."""
    text: str


class TaskBoard:
    """One board. Any thread may use it, but no forked process. Nothing is opened before the first use."""

    def __init__(
        self,
        place: Path | SharedPlace,
        owner: ProcessOwner,
        *,
        limits: TaskLimits | None = None,
        clock: Clock | None = None,
        report: Callable[[str], None] = lambda _: None,
        lives: Callable[[ProcessOwner], bool] = lives,
        patience_s: float = PATIENCE_S,
    ) -> None:
        """Args:
        place: the file, created on first use with its folder, or the tables of a fleet.
        owner: the session and process whose claims these are.
        limits: of the board.
        clock: the time, which processes share.
        report: called with a sentence for the user about a damaged file or record, on a thread of the board.
        lives: whether the process of a holder may still run.
        patience_s: time limit of a step, in seconds.
        """
        self.place = place
        self.limits = limits or TaskLimits()
        self._owner = owner
        self._clock = clock or SystemClock()
        self._report = report
        self._lives = lives
        self._worker = WorkerThread(
            tables_at(place, SCHEMA, report), name=str(place), patience_s=patience_s, error=BoardError
        )

    # ── changes ─────────────────────────────────────────────────────────────────────────────────

    def create(self, drafts: Sequence[TaskDraft], actor: Actor) -> Changes | Refused:
        """Create tasks, all or none. Raises BoardError."""
        needs = {number for draft in drafts for need in draft.needs if (number := number_of(need)) is not None}

        def step(connection: SqlConnection) -> Changes | Refused:
            connection.execute(RETIRE, (self._now - self.limits.keep_s,))
            connection.execute("DELETE FROM needs WHERE task NOT IN (SELECT number FROM tasks)")
            stored, *lasts = connection.execute(LAST).fetchone()
            known = self._load(connection, needs)
            decided = decisions.create(
                drafts, known, actor, first=max(lasts) + 1, stored=stored, now=self._now, limits=self.limits
            )
            return self._write(connection, decided)

        return self._do(step)

    def edit(self, id: str, edit: TaskEdit, actor: Actor) -> Changes | Refused:
        """Change what a task says or needs. Raises BoardError."""
        return self._do(partial(self._decided, id, partial(self._edited, edit, actor)))

    def _edited(self, edit: TaskEdit, actor: Actor, task: Task, connection: SqlConnection) -> Changes | Refused:
        new = {number for need in edit.add_needs if (number := number_of(need)) is not None}
        tasks = self._load(connection, self._closure(connection, {*new, *task.needs}, "task", "need"))
        return decisions.change(task, edit, tasks, actor, now=self._now, limits=self.limits)

    def claim(self, actor: Actor, id: str = "") -> Changes | Refused:
        """Claim a task, or the first one that is ready. Raises BoardError."""

        def decide(task: Task, connection: SqlConnection) -> Changes | Refused:
            tasks = self._load(connection, task.needs)
            return decisions.claim(task, tasks, actor, now=self._now, limits=self.limits)

        def attempt(connection: SqlConnection) -> Changes | Refused:
            if id:
                return self._decided(id, decide, connection)
            meant = ("", actor.name, *sorted(actor.also))
            found = connection.execute(NEXT.format(", ".join("?" for _ in meant)), meant).fetchone()
            if found is None:
                return Refused("No task is ready: all are claimed, blocked, deferred or done.")
            return self._decided(f"t{found[0]}", decide, connection)

        def step(connection: SqlConnection) -> Changes | Refused:
            self._expire(connection)
            decided = attempt(connection)
            if isinstance(decided, Refused) and self._end_claims_of_ended_processes(connection):
                return attempt(connection)
            return decided

        return self._do(step)

    def act(
        self,
        id: str,
        action: TaskAction,
        actor: Actor,
        *,
        text: str = "",
        fence: int | None = None,
        edit: TaskEdit | None = None,
    ) -> Changes | Refused:
        """End, defer, release or reopen a task, with `edit` after that edit: both or nothing. See `decisions.act`.

        Raises BoardError.
        """

        def decide(task: Task, connection: SqlConnection) -> Changes | Refused:
            edited = Changes((task,)) if edit is None else self._edited(edit, actor, task, connection)
            if isinstance(edited, Refused):
                return edited
            (task,) = edited.tasks
            tasks = self._around(connection, task)
            decided = decisions.act(
                task, action, tasks, actor, text=text, fence=fence, now=self._now, limits=self.limits
            )
            if isinstance(decided, Changes):
                decided = replace(decided, records=(*edited.records, *decided.records))
            return decided

        return self._do(partial(self._decided, id, decide))

    def delete(self, id: str, actor: Actor) -> Changes | Refused:
        """Remove a task that no other one needs. Raises BoardError."""

        def decide(task: Task, connection: SqlConnection) -> Changes | Refused:
            return decisions.delete(task, self._around(connection, task), actor)

        return self._do(partial(self._decided, id, decide))

    def renew(self, claims: Iterable[TaskClaim], numbers: Iterable[int]) -> tuple[int, ...]:
        """Renew claims of these tasks. Returns the numbers of those that have ended. Raises BoardError."""
        held = dict(zip(numbers, claims, strict=True))

        def step(connection: SqlConnection) -> tuple[int, ...]:
            expires = self._now + self.limits.lease_s
            return tuple(
                number
                for number, claim in held.items()
                if not connection.execute(RENEW, (expires, number, claim.actor, claim.fence)).rowcount
            )

        return self._do(step)

    def give_back(self, actor: str, why: str) -> Changes:
        """Return all tasks that an actor of this session holds, because it has ended. Raises BoardError."""

        def step(connection: SqlConnection) -> Changes:
            question = "SELECT task FROM claims WHERE actor = ? AND session = ?"
            held = [number for (number,) in connection.execute(question, (actor, self._owner.session)).fetchall()]
            return self._ended(connection, held, why)

        return self._do(step)

    # ── reading ─────────────────────────────────────────────────────────────────────────────────

    def tasks(self) -> dict[int, Task]:
        """All tasks by number, in the order of claims. Raises BoardError."""

        def step(connection: SqlConnection) -> dict[int, Task]:
            self._expire(connection)
            return self._load(connection, None)

        return self._do(step)

    def history(self, id: str) -> tuple[HistoryLine, ...]:
        """The changes of a task, oldest first; also of a deleted one. Raises BoardError."""
        question = "SELECT at, actor, what, text FROM history WHERE task = ? ORDER BY rowid"
        number = number_of(id)
        return self._do(lambda connection: tuple(HistoryLine(*row) for row in connection.execute(question, (number,))))

    def version(self) -> int:
        """A number that rises with every change. Raises BoardError."""

        def step(connection: SqlConnection) -> int:
            self._expire(connection)
            (version,) = connection.execute("SELECT version FROM facts").fetchone()
            return int(version)

        return self._do(step)

    def close(self) -> None:
        """Close the file. It is reopened on the next use."""
        self._worker.close()

    # ── one transaction ─────────────────────────────────────────────────────────────────────────

    @property
    def _now(self) -> float:
        return self._clock.now()

    def _do(self, step: Step[T]) -> T:
        def work(file: Transactions) -> T:
            while True:
                try:
                    return file.transact(step)
                except _Damaged as damaged:  # all that the step has read may depend on these records
                    for row in damaged.rows:
                        if file.transact(partial(self._set_aside, row)):
                            self._report(DAMAGED.format(row[0], self.place))

        return self._worker.do(work)

    def _decided(
        self,
        id: str,
        decide: Callable[[Task, SqlConnection], Changes | Refused],
        connection: SqlConnection,
    ) -> Changes | Refused:
        self._expire(connection)
        number = number_of(id)
        task = None if number is None else self._load(connection, [number]).get(number)
        if task is None:
            return Refused(f"There is no task {id!r}; list the tasks for their ids.")
        return self._write(connection, decide(task, connection))

    def _write(self, connection: SqlConnection, decided: Changes | Refused) -> Changes | Refused:
        if isinstance(decided, Changes):
            self._store(connection, decided)
        return decided

    def _store(self, connection: SqlConnection, changes: Changes) -> None:
        for task in changes.tasks:
            connection.execute("DELETE FROM tasks WHERE number = ?", (task.number,))
            connection.execute(f"INSERT INTO tasks ({COLUMNS}) VALUES ({PLACES})", _row(task))
            connection.execute("DELETE FROM needs WHERE task = ?", (task.number,))
            connection.executemany(
                "INSERT INTO needs (task, position, need) VALUES (?, ?, ?)",
                [(task.number, *pair) for pair in enumerate(task.needs)],
            )
            connection.execute("DELETE FROM claims WHERE task = ?", (task.number,))
            if (claim := task.claim) is not None:
                owner = self._owner
                who = (owner.session, owner.host, owner.pid, owner.started_at)
                row = (task.number, claim.actor, claim.expires, *who)
                connection.execute("INSERT INTO claims VALUES (?, ?, ?, ?, ?, ?, ?)", row)
        for number in changes.deleted:
            connection.execute("DELETE FROM tasks WHERE number = ?", (number,))
            connection.execute("DELETE FROM needs WHERE task = ?", (number,))
        connection.executemany(
            "INSERT INTO history VALUES (?, ?, ?, ?, ?)", [(self._now, *_line(record)) for record in changes.records]
        )
        for record in changes.records:
            connection.execute(FORGET, (record.number, record.number, MOST_HISTORY))
        highest = max((task.number for task in changes.tasks), default=0)
        connection.execute(HIGHEST, (highest, highest))

    # ── loading ─────────────────────────────────────────────────────────────────────────────────

    def _load(self, connection: SqlConnection, numbers: Iterable[int] | None) -> dict[int, Task]:
        """These tasks, or all, in the order of claims. Raises _Damaged."""
        chosen = ""
        values: tuple[str, ...] = ()
        if numbers is not None:
            numbers = frozenset(numbers)
            chosen, values = " WHERE {} IN (SELECT value FROM json_each(?))", (json.dumps(sorted(numbers)),)

        def rows_of(columns: str, table: str, key: str, order: str = "") -> Iterable[Any]:
            return connection.execute(f"SELECT {columns} FROM {table}{chosen.format(key)}{order}", values)

        needs: dict[int, tuple[int, ...]] = {}
        there = " AND need IN (SELECT number FROM tasks)" if chosen else " WHERE need IN (SELECT number FROM tasks)"
        for task, need in rows_of("task, need", "needs", "task", f"{there} ORDER BY task, position"):
            needs[task] = (*needs[task], need) if task in needs else (need,)
        claims = {task: (actor, expires) for task, actor, expires in rows_of("task, actor, expires", "claims", "task")}
        found: dict[int, Task] = {}
        damaged: list[Sequence[Any]] = []
        for row in rows_of(COLUMNS, "tasks", "number", " ORDER BY priority, number"):
            try:
                found[row[0]] = _task(row, needs.get(row[0], ()), claims.get(row[0]))
            except (TypeError, ValueError, KeyError):
                damaged.append(row)
        if damaged:
            raise _Damaged(damaged)
        return found

    @staticmethod
    def _set_aside(row: Sequence[Any], connection: SqlConnection) -> bool:
        """Keep a damaged record apart. False: another process has done so."""
        number = row[0]
        if not connection.execute("DELETE FROM tasks WHERE number = ?", (number,)).rowcount:
            return False
        connection.execute("INSERT INTO broken VALUES (?, ?)", (number, json.dumps(row, default=str)))
        connection.execute("DELETE FROM needs WHERE ? IN (task, need)", (number,))
        connection.execute("DELETE FROM claims WHERE task = ?", (number,))
        connection.execute("UPDATE facts SET version = version + 1")
        return True

    def _around(self, connection: SqlConnection, task: Task) -> dict[int, Task]:
        """What needs a task, directly or not, and what those need."""
        below = self._closure(connection, {task.number}, "need", "task")
        question = "SELECT DISTINCT need FROM needs WHERE task IN (SELECT value FROM json_each(?))"
        needed = connection.execute(question, (json.dumps(sorted(below)),))
        return self._load(connection, {*below, *task.needs, *(number for (number,) in needed)})

    @staticmethod
    def _closure(connection: SqlConnection, numbers: Iterable[int], here: str, there: str) -> set[int]:
        """These tasks and all that follow them along the column `there`."""
        question = f"""
        WITH RECURSIVE found(number) AS (
            SELECT value FROM json_each(?) UNION SELECT {there} FROM needs JOIN found ON {here} = number
        ) SELECT number FROM found"""
        return {number for (number,) in connection.execute(question, (json.dumps(sorted(numbers)),))}

    # ── claims that end ─────────────────────────────────────────────────────────────────────────

    def _expire(self, connection: SqlConnection) -> None:
        """End claims that were not renewed, and from time to time those of ended processes.

        Every session looks more often than each half lease. After a longer time without a look the machine slept: its
        processes get a new lease, whichever of them wakes first.
        """
        now = self._now
        (looked,) = connection.execute("SELECT looked FROM facts").fetchone()
        if now - looked > self.limits.lease_s / 2:
            lease = now + self.limits.lease_s
            woken = (lease, self._owner.host, lease)
            connection.execute("UPDATE claims SET expires = ? WHERE host = ? AND expires < ?", woken)
        over = [task for (task,) in connection.execute("SELECT task FROM claims WHERE expires <= ?", (now,)).fetchall()]
        if over:
            self._ended(connection, over, "its claim was not renewed in time")
        if abs(now - looked) < LOOK_S:
            return
        connection.execute("UPDATE facts SET looked = ?", (now,))
        self._end_claims_of_ended_processes(connection)

    def _end_claims_of_ended_processes(self, connection: SqlConnection) -> bool:
        """Whether there were any."""
        holders = connection.execute("SELECT DISTINCT session, host, pid, born FROM claims").fetchall()
        ended = [row for row in holders if not self._lives(ProcessOwner(*row))]
        for row in ended:
            question = "SELECT task FROM claims WHERE (session, host, pid, born) = (?, ?, ?, ?)"
            left = [task for (task,) in connection.execute(question, row).fetchall()]
            self._ended(connection, left, "the process that worked on it has ended")
        return bool(ended)

    def _ended(self, connection: SqlConnection, numbers: Sequence[int], why: str) -> Changes:
        every = [Changes()]
        for task in self._load(connection, numbers).values():
            around = self._around(connection, task)
            changes = decisions.expire(task, why, around, now=self._now, limits=self.limits)
            self._store(connection, changes)
            every.append(changes)
        return Changes(
            tuple(task for one in every for task in one.tasks),
            records=tuple(record for one in every for record in one.records),
            unblocked=tuple(number for one in every for number in one.unblocked),
            deferred=tuple(number for one in every for number in one.deferred),
            wakes=tuple(wake for one in every for wake in one.wakes),
        )


DAMAGED = "The record of task t{} in {} is damaged and was set aside; the others are kept."
PLACES = ", ".join("?" * 12)
NEXT = """
SELECT number FROM tasks WHERE state = 'pending' AND assignee IN ({}) AND NOT EXISTS (
    SELECT 1 FROM needs JOIN tasks AS needed ON needed.number = need
    WHERE task = tasks.number AND needed.state != 'completed'
) ORDER BY priority, number LIMIT 1
"""
RENEW = """
UPDATE claims SET expires = ? WHERE task = ? AND actor = ? AND (SELECT fence FROM tasks WHERE number = task) = ?
"""
LAST = """
SELECT (SELECT count(*) FROM tasks), last, coalesce((SELECT max(number) FROM tasks), 0),
    coalesce((SELECT max(task) FROM history), 0) FROM facts
"""
HIGHEST = "UPDATE facts SET last = CASE WHEN last < ? THEN ? ELSE last END, version = version + 1"
RETIRE = """
DELETE FROM tasks WHERE state IN ('completed', 'failed', 'cancelled') AND updated < ?
AND number NOT IN (SELECT need FROM needs)
"""
FORGET = """
DELETE FROM history WHERE task = ? AND rowid NOT IN (
    SELECT rowid FROM history WHERE task = ? ORDER BY rowid DESC LIMIT ?
)
"""


def _row(task: Task) -> tuple[object, ...]:
    """The values of COLUMNS."""
    said = (task.number, task.subject, task.description, task.state.value, task.priority, task.creator, task.assignee)
    return (*said, task.fence, task.attempts, task.note, task.created_at, task.updated_at)


def _task(row: Sequence[Any], needs: tuple[int, ...], claim: tuple[str, float] | None) -> Task:
    """A task of the values of COLUMNS. Raises TypeError, ValueError or KeyError for values that no version wrote."""
    if tuple(map(type, row)) != _TYPES:
        raise TypeError("a value has another type")
    number, subject, description, name, priority, creator, assignee, fence, attempts, note, created, updated = row
    state = _STATES[name]
    if (claim is None) is (state is IN_PROGRESS):
        raise ValueError("the claim does not fit the state")
    held = None if claim is None else TaskClaim(claim[0], fence, claim[1])
    said = (number, subject, description, state, priority, needs, creator, assignee, held)
    return Task(*said, fence, attempts, note, created, updated)


_TYPES = (int, str, str, str, int, str, str, int, int, str, float, float)
_STATES = {state.value: state for state in TaskState}


def _line(record: TaskRecord) -> tuple[object, ...]:
    return (record.number, record.actor, record.what, record.text)
