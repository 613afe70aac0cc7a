"""The jobs of a project in one SQLite file, for all sessions of a user on one machine.

Jobs that last fire in the session that owns the schedule: it holds a lease, and another session takes over when the
lease is over or its process has ended. Other jobs fire only in the session that made them.
"""

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from harness.base.clock import Clock, SystemClock
from harness.base.concurrency import WorkerThread
from harness.base.errors import HarnessError
from harness.base.sqlite_file import SqliteSchema, tables_at
from harness.base.transactions import SharedPlace, SqlConnection
from harness.policies.schedule.job import ScheduledJob, ScheduleLimits
from harness.slots.store import ProcessOwner, lives

TABLES = """
CREATE TABLE jobs (number INTEGER PRIMARY KEY, session TEXT NOT NULL, job TEXT NOT NULL);
CREATE TABLE broken (number INTEGER NOT NULL, job TEXT NOT NULL);
CREATE TABLE facts (last INTEGER NOT NULL);
INSERT INTO facts VALUES (0);
CREATE TABLE owner (
    session TEXT NOT NULL, host TEXT NOT NULL, pid INTEGER NOT NULL, born TEXT NOT NULL, expires REAL NOT NULL
);
"""
PATIENCE_S = 10.0
"""Longest time for a step, including the wait for other processes; usually about a millisecond."""
LEASE_S = 90.0
"""Seconds without renewal after which another session may own the schedule. A session looks every 30 s."""

T = TypeVar("T")


class ScheduleError(HarnessError):
    """The schedule cannot be used now, or refuses a job."""


SCHEMA = SqliteSchema(
    application=0x68617463,
    version=1,
    tables=TABLES,
    error=ScheduleError,
)


class ScheduleStore:
    """The jobs of one project. Any thread may use it, but no forked process. Nothing is opened before the first use."""

    def __init__(
        self,
        place: Path | SharedPlace,
        owner: ProcessOwner,
        *,
        limits: ScheduleLimits | None = None,
        clock: Clock | None = None,
        report: Callable[[str], None] = lambda _: None,
        lives: Callable[[ProcessOwner], bool] = lives,
        patience_s: float = PATIENCE_S,
    ) -> None:
        """Args:
        place: the file, created on first use with its folder, or the tables of a fleet.
        owner: this session and process.
        limits: of the schedule.
        clock: the time, which processes share.
        report: called with a sentence for the user about a damaged file or record, on a thread of the store.
        lives: whether the process of another owner may still run.
        patience_s: time limit of a step, in seconds.
        """
        self.place = place
        self.limits = limits or ScheduleLimits()
        self._owner = owner
        self._clock = clock or SystemClock()
        self._report = report
        self._lives = lives
        self._worker = WorkerThread(
            tables_at(place, SCHEMA, report), name=str(place), patience_s=patience_s, error=ScheduleError
        )

    def add(self, job: ScheduledJob) -> ScheduledJob:
        """Keep a job under a new number. Raises ScheduleError if there are too many."""

        def step(connection: SqlConnection) -> ScheduledJob:
            stored, *lasts = connection.execute(LAST).fetchone()
            last = max(lasts)
            if stored >= self.limits.jobs:
                raise ScheduleError(f"There are {stored} jobs, and {self.limits.jobs} are possible; delete one first.")
            numbered = replace(job, number=last + 1)
            connection.execute("UPDATE facts SET last = ?", (numbered.number,))
            session = "" if job.lasting else self._owner.session
            connection.execute("INSERT INTO jobs VALUES (?, ?, ?)", (numbered.number, session, _text(numbered)))
            return numbered

        return self._do(step)

    def jobs(self, *, all_sessions: bool = False) -> dict[int, ScheduledJob]:
        """The jobs that last and those of this session, or of all, by number. Raises ScheduleError."""

        def step(connection: SqlConnection) -> dict[int, ScheduledJob]:
            question = "SELECT number, job FROM jobs WHERE session IN ('', ?) OR ? ORDER BY number"
            rows = connection.execute(question, (self._owner.session, all_sessions)).fetchall()
            found = {number: self._read(connection, number, text) for number, text in rows}
            return {number: job for number, job in found.items() if job is not None}

        return self._do(step)

    def change(self, number: int, change: Callable[[ScheduledJob], ScheduledJob | None]) -> ScheduledJob | None:
        """Replace a job by the result of `change`, None removes it; returns the new one. Raises ScheduleError.

        `change` runs on another thread and must not use the store. A job that is gone stays gone.
        """

        def step(connection: SqlConnection) -> ScheduledJob | None:
            row = connection.execute("SELECT job FROM jobs WHERE number = ?", (number,)).fetchone()
            before = None if row is None else self._read(connection, number, row[0])
            after = None if before is None else change(before)
            if after is None:
                connection.execute("DELETE FROM jobs WHERE number = ?", (number,))
            elif after != before:
                connection.execute("UPDATE jobs SET job = ? WHERE number = ?", (_text(after), number))
            return after

        return self._do(step)

    def own(self) -> bool:
        """Become or stay the session that fires the jobs that last; False: another one is. Raises ScheduleError."""
        owner = self._owner
        who = (owner.session, owner.host, owner.pid, owner.started_at)

        def step(connection: SqlConnection) -> bool:
            now = self._clock.now()
            row = connection.execute("SELECT session, host, pid, born, expires FROM owner").fetchone()
            other = row is not None and row[:4] != who and now < row[4] <= now + LEASE_S
            if other and self._lives(ProcessOwner(*row[:4])):
                return False
            connection.execute("DELETE FROM owner")
            connection.execute("INSERT INTO owner VALUES (?, ?, ?, ?, ?)", (*who, now + LEASE_S))
            return True

        return self._do(step)

    def release(self) -> None:
        """Let another session own the schedule. Raises ScheduleError."""
        owner = self._owner
        who = (owner.session, owner.host, owner.pid, owner.started_at)
        self._do(lambda connection: connection.execute(RELEASE, who).rowcount)

    def close(self) -> None:
        """Close the file. It is reopened on the next use."""
        self._worker.close()

    def _do(self, step: Callable[[SqlConnection], T]) -> T:
        return self._worker.do(lambda file: file.transact(step))

    def _read(self, connection: SqlConnection, number: int, text: str) -> ScheduledJob | None:
        """A job; None: its record cannot be read, and is set aside and reported."""
        with suppress(ValueError, TypeError):  # reported below, like a record with another number
            job: ScheduledJob = _adapter().validate_json(text)
            if job.number == number:
                return job
        connection.execute("INSERT INTO broken VALUES (?, ?)", (number, text))
        connection.execute("DELETE FROM jobs WHERE number = ?", (number,))
        self._report(f"The record of job c{number} in {self.place} is damaged and was set aside; the others are kept.")
        return None


LAST = """
SELECT (SELECT count(*) FROM jobs), last, coalesce((SELECT max(number) FROM jobs), 0) FROM facts
"""
RELEASE = "DELETE FROM owner WHERE (session, host, pid, born) = (?, ?, ?, ?)"


def _text(job: ScheduledJob) -> str:
    return json.dumps(asdict(job))


@cache
def _adapter() -> Any:
    from pydantic import TypeAdapter

    return TypeAdapter(ScheduledJob)
