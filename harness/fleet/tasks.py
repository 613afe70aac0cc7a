"""The tasks of a fleet in its database. pgqueuer hands them to workers; who may act and record is decided here.

Each method is one transaction. What a task's worker records carries the token of its start (`FleetTask.fence`), which
is compared in the same transaction.
"""

import json
import secrets
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from functools import cache
from itertools import combinations
from typing import Any, TypeVar

from harness.base.concurrency import WorkerThread
from harness.base.errors import HarnessError
from harness.events import Address, MailKind
from harness.fleet.database import VARIABLE, FleetConnection, FleetDatabase
from harness.fleet.schema import FleetError, queue_settings
from harness.policies.fleet import task as decisions
from harness.policies.fleet.task import (
    ENDED,
    Changed,
    FleetDraft,
    FleetRefusal,
    FleetState,
    FleetTask,
    FleetTasksById,
    TaskOutcome,
)
from harness.policies.team.mail import LEAD, PROGRAM, MailDraft, MailLimits
from harness.team.mail import send_in

SCOPE = "fleet.all"
PATIENCE_S = 10.0
"""Longest time for a step, including the wait for other processes."""
MOST_TEXT = 4_000
"""Characters of an effect, its outcome or a record that are kept."""
FORGOTTEN_S = 86_400.0
"""A worker that has not reported for so long is no longer listed."""
MOST_TAGS = 8
"""Of a worker; it serves one queue for each set of them."""

T = TypeVar("T")


class FenceLost(HarnessError):  # noqa: N818  the worker stops, and nothing is wrong
    """The token is older than the task's: another worker has it, or it has ended. Nothing was recorded."""


class FleetTaskRefused(HarnessError):  # noqa: N818  as Refused of the board
    """The task is not there, or not in a state for this. Nothing was changed."""


@dataclass(frozen=True, slots=True)
class FleetEffect:
    """Something that the work on a task did outside of the database."""

    fence: int
    """The start it belongs to."""
    key: str
    text: str
    began: float
    """Unix time."""
    outcome: str | None
    """None: it was begun, and whether it happened is not known (while its worker is at work: not yet)."""
    ended: float | None


@dataclass(frozen=True, slots=True)
class FleetRecord:
    """A line of the history of a task."""

    at: float
    """Unix time."""
    fence: int
    what: str
    text: str


@dataclass(frozen=True, slots=True)
class FleetWorker:
    """A process that takes tasks."""

    id: str
    machine: str
    tags: tuple[str, ...] = ()
    concurrency: int = 1
    started: float = 0.0
    """Unix time."""
    seen: float = 0.0
    """Unix time of its last report."""
    draining: bool = False
    """Takes no more tasks."""


class FleetTasks:
    """Any thread may use it, but no forked process. Nothing is opened before the first use.

    Every method raises FleetError, one sentence, while the database cannot be used; then its change may have happened.
    Called again with the same values it changes nothing more (`submit`: with a key).
    """

    def __init__(self, database: FleetDatabase, *, scope: str = SCOPE, patience_s: float = PATIENCE_S) -> None:
        """Args:
        scope: of the tasks; those of another one are not seen.
        patience_s: time limit of a step, in seconds.
        """
        self.database = database
        self._scope = scope
        place = database.place("tasks", scope)
        self._worker = WorkerThread(
            lambda: place.open(FleetError, durable=True), name=database.where, patience_s=patience_s, error=FleetError
        )

    def queue_of(self, tags: Iterable[str]) -> str:
        """The entrypoint of pgqueuer for tasks with these tags. The payload of a job is the id of its task."""
        return "+".join((self._scope, *sorted(set(tags))))

    def queues_of(self, tags: Iterable[str]) -> tuple[str, ...]:
        """The entrypoints that a worker with these tags serves. Raises FleetTaskRefused if they are too many."""
        each = sorted(set(tags))
        if len(each) > MOST_TAGS:
            raise FleetTaskRefused(f"A worker has at most {MOST_TAGS} tags; {len(each)} were given.")
        return tuple(self.queue_of(some) for size in range(len(each) + 1) for some in combinations(each, size))

    def close(self) -> None:
        """Close the connection. It is opened again on the next use."""
        self._worker.close()

    # ── for who submits ─────────────────────────────────────────────────────────────────────────

    def submit(self, draft: FleetDraft) -> FleetTask:
        """Submit a task; with the key of an earlier one, that. Raises FleetTaskRefused."""
        id = f"f{secrets.token_hex(4)}"

        def step(connection: FleetConnection) -> FleetTask:
            if draft.key and (known := _tasks(connection, "key = ?", draft.key)):
                return known[0]
            needed = {need: task for need in draft.needs for task in _tasks(connection, "id = ?", need)}
            return self._write(connection, id, decisions.submit(FleetTask(id, draft), needed, self._now), "submitted")

        return self._change(step)

    def cancel(self, id: str) -> FleetTask:
        """Withdraw a task, and those that need it; its worker is notified. Raises FleetTaskRefused."""

        def step(connection: FleetConnection) -> FleetTask:
            task = _task(connection, id)
            decided = decisions.cancel(task, _around(connection), self._now)
            return self._write(connection, id, decided, "cancelled")

        return self._change(step)

    def drain(self, machine: str = "") -> tuple[FleetWorker, ...]:
        """Let the workers of a machine, or all, take no more tasks. Returns them."""

        def step(connection: FleetConnection) -> tuple[FleetWorker, ...]:
            connection.execute("UPDATE workers SET draining = 1 WHERE ? IN ('', machine)", (machine,))
            return tuple(one for one in _workers(connection) if machine in ("", one.machine))

        return self._do(step)

    # ── for workers ─────────────────────────────────────────────────────────────────────────────

    def begin(self, id: str, worker: str, machine: str) -> FleetTask:
        """Start a task that pgqueuer has delivered; its fence is the token of this start.

        Raises FleetTaskRefused if it has ended, or ends now because its workers were lost too often.
        """

        def step(connection: FleetConnection) -> FleetTask:
            task = _task(connection, id)
            decided = decisions.begin(task, worker, machine, _around(connection), self._now)
            return self._write(connection, id, decided, "started", f"by {worker} on {machine}")

        task = self._change(step)
        if task.state is not FleetState.RUNNING:
            raise FleetTaskRefused(f"The task {id} {task.state}: {task.reason}.")
        return task

    def intend(self, id: str, fence: int, key: str, text: str) -> None:
        """Record that something is about to be done outside.

        Args:
            key: of the effect, unique within a start.
            text: what it is, for the user and for the model of the next start.

        Raises FenceLost: then it must not be done.
        """

        def step(connection: FleetConnection) -> None:
            self._held(connection, id, fence)
            connection.execute(INTEND, (id, fence, key, text[:MOST_TEXT], self._now, id, fence, key))

        self._do(step)

    def result(self, id: str, fence: int, key: str, outcome: str) -> None:
        """Record how an intended effect ended. Raises FenceLost: then its outcome stays unknown."""

        def step(connection: FleetConnection) -> None:
            self._held(connection, id, fence)
            connection.execute(RESULT, (outcome[:MOST_TEXT], self._now, id, fence, key))

        self._do(step)

    def record(self, id: str, fence: int, what: str, text: str) -> None:
        """Add a line to the history of a running task. Raises FenceLost."""

        def step(connection: FleetConnection) -> None:
            self._held(connection, id, fence)
            self._line(connection, id, fence, what, text)

        self._do(step)

    def hold(self, id: str, fence: int) -> FleetTask:
        """The task, if this is still the token of its last start. Raises FenceLost."""
        return self._do(lambda connection: self._held(connection, id, fence))

    def finish(self, id: str, fence: int, outcome: TaskOutcome) -> FleetTask:
        """End a task, queue those that waited for it, and write to who submitted them: all or nothing. Raises
        FenceLost."""

        def step(connection: FleetConnection) -> FleetTask:
            task = _task(connection, id)
            if task.fence == fence and task.outcome == outcome:
                return task  # an attempt whose answer was lost
            self._held(connection, id, fence)
            decided = decisions.finish(task, fence, outcome, _around(connection), self._now)
            return self._write(connection, id, decided, str(outcome.state), outcome.text)

        return self._change(step)

    def give_back(self, id: str, fence: int, reason: str) -> FleetTask:
        """Let another worker start the task. The worker then asks pgqueuer to deliver it again (RetryRequested).
        Raises FenceLost."""

        def step(connection: FleetConnection) -> FleetTask:
            task = _task(connection, id)
            if task.fence == fence and task.state is FleetState.QUEUED:
                return task  # an attempt whose answer was lost
            self._held(connection, id, fence)
            decided = decisions.give_back(task, fence, reason, self._now)
            return self._write(connection, id, decided, "given back", reason)

        return self._change(step)

    def report(self, worker: FleetWorker) -> bool:
        """Say that a worker lives. Returns whether it is to take no more tasks.

        A task that pgqueuer no longer has, for example because its worker ended with an error there, is queued again.
        """

        def step(connection: FleetConnection) -> bool:
            known = connection.execute(SEEN, (self._now, worker.id)).fetchone()
            if known is None:
                connection.execute("DELETE FROM workers WHERE seen < ?", (self._now - FORGOTTEN_S,))
                row = (worker.id, worker.machine, " ".join(worker.tags), worker.concurrency, self._now, self._now)
                connection.execute(JOIN, row)
            if lost := _tasks(connection, LOST.format(_queue_table())):
                connection.run(lambda driver: self._hand_over(driver, lost))
            return known is not None and bool(known[0])

        return self._change(step)

    def leave(self, worker: str) -> None:
        """A worker has ended."""
        self._do(lambda connection: connection.execute("DELETE FROM workers WHERE id = ?", (worker,)).rowcount)

    # ── reading ─────────────────────────────────────────────────────────────────────────────────

    def all(self) -> tuple[FleetTask, ...]:
        """All tasks, oldest first."""
        return self._do(lambda connection: tuple(_tasks(connection, "1 = 1")))

    def get(self, id: str) -> FleetTask:
        """One task. Raises FleetTaskRefused if there is none."""
        return self._do(lambda connection: _task(connection, id))

    def effects(self, id: str) -> tuple[FleetEffect, ...]:
        """What the work on a task did, oldest first, also what was begun and is not known to have ended."""
        question = "SELECT fence, key, text, began, outcome, ended FROM effects WHERE task = ? ORDER BY number"
        return self._do(lambda connection: tuple(FleetEffect(*row) for row in connection.execute(question, (id,))))

    def records(self, id: str) -> tuple[FleetRecord, ...]:
        """The history of a task, oldest first."""
        question = "SELECT at, fence, what, text FROM records WHERE task = ? ORDER BY number"
        return self._do(lambda connection: tuple(FleetRecord(*row) for row in connection.execute(question, (id,))))

    def workers(self) -> tuple[FleetWorker, ...]:
        """The workers that have not left, also those that have not been heard of for long."""
        return self._do(_workers)

    # ── one transaction ─────────────────────────────────────────────────────────────────────────

    @property
    def _now(self) -> float:
        return self.database.clock.now()

    def _do(self, step: Callable[[Any], T]) -> T:
        return self._worker.do(lambda tables: tables.transact(step))

    def _change(self, step: Callable[[Any], T]) -> T:
        """A step that may use the queue."""
        _queue_module()  # takes long, and others would wait
        return self._do(step)

    def _held(self, connection: FleetConnection, id: str, fence: int) -> FleetTask:
        task = _task(connection, id)
        if reason := decisions.lost(task, fence):
            raise FenceLost(f"The task {id} {reason}; this worker stops its work on it.")
        return task

    def _write(
        self, connection: FleetConnection, id: str, decided: Changed | FleetRefusal, what: str, text: str = ""
    ) -> FleetTask:
        """Store what was decided about a task, with a line of its history, and queue what can start."""
        if isinstance(decided, FleetRefusal):
            raise FleetTaskRefused(f"The task {id} {decided.reason}.")
        for task in decided:
            values = _row(task)
            if not connection.execute(UPDATE, (*values, task.id)).rowcount:
                draft = json.dumps(asdict(task.draft), ensure_ascii=False)
                connection.execute(INSERT, (task.id, task.draft.key, draft, " ".join(task.draft.needs), *values))
            said, why = (what, text or task.reason) if task.id == id else (str(task.state), task.reason)
            self._line(connection, task.id, task.fence, said, why)
        connection.run(lambda driver: self._hand_over(driver, decided))
        for task in decided:
            if task.state in ENDED and task.draft.reply_to:
                mailboxes = connection.turned_to(self.database.place("mail", task.draft.reply_to))
                send_in(mailboxes, _mail_about(task), MailLimits(), self._now)
        return decided[0]

    async def _hand_over(self, connection: Any, tasks: Iterable[FleetTask]) -> None:
        """Let pgqueuer have each task that is queued or running once, and none that was cancelled."""
        queue = _queue(connection)
        for task in tasks:
            key = f"harness {task.id}"
            if task.state in (FleetState.QUEUED, FleetState.RUNNING):
                entrypoint, payload = self.queue_of(task.draft.tags), task.id.encode()
                # The worker of a running task, or one that gave it back, still has the job.
                await queue.enqueue(entrypoint, payload, task.draft.priority, dedupe_key=key, on_conflict="skip")
            elif task.state is FleetState.CANCELLED:
                rows = await connection.fetch(f"SELECT id FROM {_queue_table()} WHERE dedupe_key = $1", key)
                if rows:
                    await queue.mark_job_as_cancelled([row["id"] for row in rows])

    def _line(self, connection: FleetConnection, id: str, fence: int, what: str, text: str) -> None:
        connection.execute(LINE, (self._now, id, fence, what, text[:MOST_TEXT]))


@cache
def _queue_module() -> Any:
    """Raises FleetError if pgqueuer is not installed."""
    try:
        from pgqueuer import queries
    except ImportError as error:
        raise FleetError(f"{VARIABLE} needs the extra: pip install 'harness-agent[fleet]', or unset it.") from error
    return queries


def _queue(connection: Any) -> Any:
    """pgqueuer on a connection of asyncpg."""
    from pgqueuer.adapters.drivers.asyncpg import AsyncpgDriver
    from pgqueuer.adapters.persistence.qb import QueryQueueBuilder

    return _queue_module().Queries(AsyncpgDriver(connection), qbq=QueryQueueBuilder(queue_settings()))


def _queue_table() -> str:
    return str(queue_settings().qualified.queue_table)


STATUS = "state, since, fence, attempts, worker, machine, reason, outcome, submitted"
COLUMNS = f"id, draft, {STATUS}"
UPDATE = f"UPDATE tasks SET {STATUS.replace(',', ' = ?,')} = ? WHERE id = ?"
INSERT = f"INSERT INTO tasks (id, key, draft, needs, {STATUS}) VALUES ({', '.join('?' * 13)})"
INTEND = """
INSERT INTO effects (task, fence, key, text, began) SELECT ?::text, ?::bigint, ?::text, ?::text, ?::float8
WHERE NOT EXISTS (SELECT 1 FROM effects WHERE task = ? AND fence = ? AND key = ?)
"""
RESULT = "UPDATE effects SET outcome = ?, ended = ? WHERE task = ? AND fence = ? AND key = ?"
LINE = "INSERT INTO records (at, task, fence, what, text) VALUES (?, ?, ?, ?, ?)"
SEEN = "UPDATE workers SET seen = ? WHERE id = ? RETURNING draining"
JOIN = """
INSERT INTO workers (id, machine, tags, concurrency, started, seen, draining) VALUES (?, ?, ?, ?, ?, ?, 0)
"""
AROUND = """
state = 'blocked' OR id IN (
    SELECT unnest(string_to_array(waiting.needs, ' ')) FROM tasks AS waiting WHERE waiting.state = 'blocked'
)
"""
"""The blocked tasks, and those that they need."""
LOST = """
state IN ('queued', 'running') AND NOT EXISTS (
    SELECT 1 FROM {} AS job WHERE job.dedupe_key = 'harness ' || tasks.id AND job.status IN ('queued', 'picked')
)
"""
"""The tasks that nobody would deliver."""


def _row(task: FleetTask) -> tuple[Any, ...]:
    outcome = None if task.outcome is None else json.dumps(asdict(task.outcome), ensure_ascii=False)
    who = (task.worker, task.machine, task.reason)
    return (str(task.state), task.since, task.fence, task.attempts, *who, outcome, task.submitted)


def _tasks(connection: FleetConnection, condition: str, *values: Any) -> list[FleetTask]:
    rows = connection.execute(f"SELECT {COLUMNS} FROM tasks WHERE {condition} ORDER BY number", values)
    return [_read(*row) for row in rows]


def _read(id: str, draft: str, state: str, since: float, fence: int, attempts: int, *rest: Any) -> FleetTask:
    worker, machine, reason, outcome, submitted = rest
    ended = None if outcome is None else _outcome(json.loads(outcome))
    who = (worker, machine, reason)
    return FleetTask(id, _draft(json.loads(draft)), FleetState(state), since, fence, attempts, *who, ended, submitted)


def _draft(saved: dict[str, Any]) -> FleetDraft:
    return FleetDraft(**{**saved, "tags": tuple(saved["tags"]), "needs": tuple(saved["needs"])})


def _outcome(saved: dict[str, Any]) -> TaskOutcome:
    return TaskOutcome(**{**saved, "state": FleetState(saved["state"])})


def _task(connection: FleetConnection, id: str) -> FleetTask:
    found = _tasks(connection, "id = ?", id)
    if not found:
        raise FleetTaskRefused(f"There is no task {id!r} in the fleet; `harness fleet status` lists them.")
    return found[0]


def _mail_about(task: FleetTask) -> MailDraft:
    done = task.state is FleetState.DONE
    said = (task.outcome.text if done and task.outcome else task.reason)[:MOST_TEXT]
    branch = f" Its branch is {task.outcome.branch}." if task.outcome and task.outcome.branch else ""
    body = f"The fleet's task {task.id} ({task.draft.prompt[:80]!r}) is {task.state}.{branch}\n\n{said}"
    kind = MailKind.LAST_WORDS if done else MailKind.FAILED
    return MailDraft(Address(PROGRAM, 1), (LEAD,), body, kind, f"fleet {task.id}")


def _around(connection: FleetConnection) -> FleetTasksById:
    return {task.id: task for task in _tasks(connection, AROUND)}


def _workers(connection: FleetConnection) -> tuple[FleetWorker, ...]:
    question = "SELECT id, machine, tags, concurrency, started, seen, draining FROM workers ORDER BY machine, started"
    return tuple(
        FleetWorker(id, machine, tuple(tags.split()), concurrency, started, seen, bool(draining))
        for id, machine, tags, concurrency, started, seen, draining in connection.execute(question)
    )
