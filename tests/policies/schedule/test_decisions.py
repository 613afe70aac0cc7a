"""Which fire a look at a job decides on."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.policies.schedule.decisions import (
    Fire,
    Look,
    Offer,
    Over,
    Skip,
    by_hand,
    clock_set_back,
    delay_s,
    ended,
    look,
    resumed,
)
from harness.policies.schedule.job import JobFire, JobKind, MissedTimes, ScheduledJob, ScheduleLimits

LIMITS = ScheduleLimits()
JOB = ScheduledJob(3, "* * * * *", "UTC", "look", done_until=1_000.0)
SKIP, ONCE, EACH = (replace(JOB, missed=missed) for missed in MissedTimes)
SINGLE = replace(JOB, kind=JobKind.ONCE)


def fired(decided: Look) -> JobFire:
    assert isinstance(decided, Fire), decided
    assert decided.job.waiting == decided.fire
    assert decided.job.done_until == decided.fire.due
    return decided.fire


def at(
    job: ScheduledJob, *passed: float, now: float = 2_000.0, following: float = 0.0, after_restart: bool = False
) -> Look:
    return look(job, passed, now, following=following, resumed=after_restart, limits=LIMITS)


@pytest.mark.parametrize("job", [SKIP, ONCE, EACH, SINGLE])
def test_a_time_that_has_just_come_fires(job: ScheduledJob) -> None:
    assert fired(at(job, 1_990.0)) == JobFire("c3@1990", 1_990.0)
    assert at(job) is None
    assert at(replace(job, paused="by the user"), 1_990.0) is None
    assert at(replace(job, waiting=JobFire("c3@1900", 1_900.0)), 1_990.0) is None


def test_missed_times_of_a_machine_that_slept() -> None:
    times = (1_100.0, 1_400.0, 1_700.0)
    skipped = at(SKIP, *times)
    assert isinstance(skipped, Skip)
    assert (skipped.count, skipped.job.done_until) == (3, 1_700.0)
    assert fired(at(SKIP, *times, 1_990.0)) == JobFire("c3@1990", 1_990.0)
    assert fired(at(ONCE, *times)) == JobFire("c3@1700", 1_700.0, missed=2)
    assert fired(at(EACH, *times)) == JobFire("c3@1100", 1_100.0)


def test_after_a_restart_a_recurring_job_continues_from_now_and_a_single_one_is_offered() -> None:
    for job in (SKIP, ONCE, EACH):
        skipped = at(job, 1_100.0, 1_700.0, after_restart=True)
        assert isinstance(skipped, Skip)
        assert skipped.job.done_until == 1_700.0
    offered = at(SINGLE, 1_100.0, after_restart=True)
    assert offered == Offer(replace(SINGLE, paused="its time passed while no session ran"), 1_100.0)
    assert at(offered.job, 1_100.0) is None
    assert fired(at(SINGLE, 1_990.0, after_restart=True)).due == 1_990.0
    for job in (ONCE, EACH):
        assert fired(at(job, 1_100.0, 1_990.0, after_restart=True)) == JobFire("c3@1990", 1_990.0)


def test_a_job_that_expires_says_so_with_its_last_fire_and_is_over() -> None:
    job = replace(ONCE, expires_at=1_950.0)
    last = fired(at(job, 1_940.0, 1_990.0))
    assert last == JobFire("c3@1940", 1_940.0, last=True)
    assert after(replace(job, waiting=last), last.id) is None
    assert at(job) == Over(job)
    assert at(job, 1_990.0) == Over(job)
    assert at(job, 1_100.0, after_restart=True) == Over(job)
    for one in (SKIP, ONCE, EACH):
        ends = replace(one, expires_at=2_050.0)
        assert fired(at(ends, 1_990.0, following=2_050.0)) == JobFire("c3@1990", 1_990.0, last=True)
        assert not fired(at(ends, 1_990.0, following=2_040.0)).last


def after(job: ScheduledJob | None, fire_id: str, failure: str = "", cost_usd: float = 0.0) -> ScheduledJob | None:
    assert job is not None
    return ended(job, fire_id, failure=failure, cost_usd=cost_usd, limits=LIMITS)


def test_a_fire_by_hand_counts_and_leaves_one_that_waits_alone() -> None:
    waiting = replace(JOB, waiting=JobFire("c3@1990", 1_990.0))
    fire = by_hand(JOB, 2_000.5)
    assert fire == JobFire("c3@2000!", 2_000.5)
    assert after(waiting, fire.id) == replace(waiting, fires=1)
    assert after(SINGLE, fire.id) is None
    assert after(SINGLE, fire.id, "no answer") == replace(SINGLE, fires=1, failures=1)


def test_a_fire_ends_once() -> None:
    fire = JobFire("c3@1990", 1_990.0)
    begun = replace(JOB, waiting=fire)
    done = after(begun, fire.id)
    assert done == replace(JOB, fires=1)
    assert after(done, fire.id) == done
    assert after(begun, "c3@1") == begun
    assert after(replace(SINGLE, waiting=fire), fire.id) is None


@pytest.mark.parametrize("job", [SINGLE, replace(JOB, expires_at=1_995.0)])
def test_the_only_fire_of_a_job_and_its_last_one_wait_until_a_turn_with_them_has_ended_well(job: ScheduledJob) -> None:
    fire = JobFire("c3@1990", 1_990.0, last=job is not SINGLE)
    begun = replace(job, waiting=fire)
    failed = after(begun, fire.id, "no answer")
    assert failed == replace(begun, fires=1, failures=1)
    assert after(failed, fire.id) is None
    paused = after(after(failed, fire.id, "no answer"), fire.id, "no answer")
    assert paused is not None
    assert (paused.waiting, paused.paused) == (fire, "3 failures in a row; the last one: no answer")


def test_three_failures_in_a_row_pause_a_job_and_a_success_begins_again() -> None:
    job, fire = JOB, JobFire("c3@1990", 1_990.0)
    for number, failure in enumerate(["no answer", "", "no answer", "no answer", "no answer"], 1):
        assert not job.paused
        found = after(replace(job, waiting=fire), fire.id, failure, 0.5)
        assert found is not None
        job = found
        assert job.cost_usd == number * 0.5
    assert job.paused == "3 failures in a row; the last one: no answer"
    assert resumed(job, 5_000.0) == replace(job, paused="", failures=0, done_until=5_000.0)


@given(st.floats(0, 1e9), st.floats(0, 1e9), st.floats(0, 1e9))
def test_no_moment_of_a_wrong_clock_silences_a_job(done_until: float, created_at: float, now: float) -> None:
    job = replace(JOB, done_until=done_until, created_at=created_at)
    right = clock_set_back(job, now, LIMITS)
    if max(done_until, created_at) <= now + LIMITS.on_time_s:
        assert right == job
    else:
        assert right == replace(job, done_until=min(now, done_until), created_at=min(now, created_at))


@given(st.integers(1, 10_000), st.floats(60.0, 1e8))
def test_the_delay_is_always_the_same_and_short(number: int, period_s: float) -> None:
    delay = delay_s(number, period_s, LIMITS)
    assert 0 <= delay <= min(period_s * 0.1, 900.0)
    assert delay == delay_s(number, period_s, LIMITS)


def test_delays_are_spread() -> None:
    delays = sorted(delay_s(number, 3_600.0, LIMITS) for number in range(1, 201))
    assert delays[20] < 90
    assert delays[-20] > 270


@given(
    st.sampled_from(list(MissedTimes)),
    st.lists(st.tuples(st.integers(1, 400), st.booleans()), min_size=1, max_size=40),
    st.integers(30, 600),
)
def test_no_time_fires_twice_and_none_is_forgotten(
    missed: MissedTimes, looks: list[tuple[int, bool]], period: int
) -> None:
    """A job of one time each `period` seconds, looked at now and then; the oracle counts times one by one."""
    job, now, handled = replace(JOB, missed=missed, done_until=0.0), 0, list[float]()
    for pause, take in looks:
        now += pause
        passed = [float(t) for t in range(period, now + 1, period) if t > job.done_until]
        before = job
        match look(job, passed, float(now), resumed=False, limits=LIMITS):
            case Fire(job=job, fire=fire):
                assert before.waiting is None
                assert fire.due in passed
                stands_for = {MissedTimes.EACH: 1, MissedTimes.ONCE: 1 + fire.missed}.get(missed, len(passed))
                handled += passed[:stands_for]
            case Skip(job=job, count=count):
                assert missed is MissedTimes.SKIP
                handled += passed[:count]
            case None:
                assert not passed or before.waiting is not None
        if take and job.waiting is not None:
            taken = after(job, job.waiting.id)
            assert taken is not None
            job = taken
    assert handled == [float(t) for t in range(period, int(job.done_until) + 1, period)]
