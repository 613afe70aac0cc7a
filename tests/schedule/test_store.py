"""Jobs on disk: who sees them, who owns the schedule, and what damage costs."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from harness.base.transactions import SharedPlace
from harness.policies.schedule.job import JobFire, JobKind, MissedTimes, ScheduledJob, ScheduleLimits
from harness.schedule.store import LEASE_S, ScheduleError, ScheduleStore
from harness.slots.store import ProcessOwner, this_process
from tests.engine.hand_clock import HandClock
from tests.fleet.postgres import fleet_place

JOB = ScheduledJob(0, "0 9 * * *", "Europe/Oslo", "look at the log", lasting=True, created_at=5.5)


class Project:
    """A project with several sessions."""

    def __init__(self, file: Path, place: Path | SharedPlace | None = None) -> None:
        self.file = file
        self.place = place or file
        self.clock = HandClock()
        self.clock.time = 1_800_000_000.0
        self.gone: list[str] = []
        self.told: list[str] = []
        self.opened: list[ScheduleStore] = []

    def session(self, name: str) -> ScheduleStore:
        store = ScheduleStore(
            self.place,
            replace(this_process(name), pid=len(self.opened) + 1),
            limits=ScheduleLimits(jobs=3),
            clock=self.clock,
            report=self.told.append,
            lives=self.lives,
        )
        self.opened.append(store)
        return store

    def lives(self, owner: ProcessOwner) -> bool:
        return owner.session not in self.gone


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    yield from opened(Project(tmp_path / "state" / "schedule.sqlite"))


@pytest.fixture(params=["sqlite", "postgres"])
def anywhere(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Project]:
    """A project whose schedule is in a file, or in the database of a fleet."""
    shared = fleet_place("schedule") if request.param == "postgres" else None
    yield from opened(Project(tmp_path / "state" / "schedule.sqlite", shared))


def opened(project: Project) -> Iterator[Project]:
    yield project
    for store in project.opened:
        store.close()


def test_a_job_comes_back_as_it_was(project: Project) -> None:
    fire = JobFire("c1@7", 7.0, missed=2)
    job = replace(JOB, kind=JobKind.ONCE, missed=MissedTimes.EACH, expires_at=9.0, waiting=fire, cost_usd=0.25)
    first = project.session("s1")
    assert not project.file.exists()
    assert first.add(job) == replace(job, number=1)
    assert project.session("s2").jobs() == {1: replace(job, number=1)}


def test_a_job_that_does_not_last_belongs_to_its_session(anywhere: Project) -> None:
    first, second = anywhere.session("s1"), anywhere.session("s2")
    first.add(replace(JOB, lasting=False))
    first.add(JOB)
    assert sorted(first.jobs()) == [1, 2]
    assert sorted(second.jobs()) == [2]
    assert sorted(second.jobs(all_sessions=True)) == [1, 2]


def test_a_job_is_changed_or_removed_in_one_step_and_numbers_are_not_used_again(anywhere: Project) -> None:
    store = anywhere.session("s1")
    for _ in range(3):
        store.add(JOB)
    with pytest.raises(ScheduleError, match="3 are possible"):
        store.add(JOB)
    assert store.change(2, lambda job: replace(job, paused="by the user")) == replace(
        JOB, number=2, paused="by the user"
    )
    assert store.change(3, lambda _: None) is None
    assert store.change(3, lambda job: job) is None
    assert [job.paused for job in store.jobs().values()] == ["", "by the user"]
    assert store.add(JOB).number == 4


def test_one_session_owns_the_schedule_until_it_ends_leaves_or_is_silent_for_too_long(anywhere: Project) -> None:
    first, second = anywhere.session("s1"), anywhere.session("s2")
    assert (first.own(), second.own(), first.own()) == (True, False, True)
    anywhere.gone.append("s1")
    assert second.own()
    anywhere.gone.clear()
    assert not first.own()
    anywhere.clock.time += LEASE_S
    assert first.own()
    second.release()
    assert not second.own()
    first.release()
    assert second.own()
    anywhere.clock.time -= 10 * LEASE_S  # a clock that was set back makes no lease longer
    assert first.own()


def test_a_damaged_record_is_set_aside_and_the_others_stay(project: Project) -> None:
    store = project.session("s1")
    for _ in range(3):
        store.add(JOB)
    with closing(sqlite3.connect(project.file)) as connection:
        connection.execute("UPDATE jobs SET job = '{\"number\": 1}' WHERE number = 1")
        connection.execute("UPDATE jobs SET job = replace(job, '\"number\": 2', '\"number\": 9') WHERE number = 2")
        connection.commit()
    assert sorted(store.jobs()) == [3]
    assert [text.partition(" in ")[0] for text in project.told] == ["The record of job c1", "The record of job c2"]
    assert sorted(store.jobs()) == [3]
    assert len(project.told) == 2
