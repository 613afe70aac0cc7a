"""What a look at a job decides, and what its fires make of it (docs/design/schedule.md#missed-times)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

from harness.policies.schedule.job import JobFire, JobKind, MissedTimes, ScheduledJob, ScheduleLimits


@dataclass(frozen=True, slots=True)
class Fire:
    """Deliver the prompt. The job is written with the fire as `waiting` before anything is delivered."""

    job: ScheduledJob
    fire: JobFire


@dataclass(frozen=True, slots=True)
class Skip:
    """Times have passed, and nothing fires for them."""

    job: ScheduledJob
    count: int


@dataclass(frozen=True, slots=True)
class Offer:
    """The one time of a job passed while no session ran: it is paused, and the user decides whether it fires now."""

    job: ScheduledJob
    due: float


@dataclass(frozen=True, slots=True)
class Over:
    """The job has expired between two fires: it is removed."""

    job: ScheduledJob


Look = Fire | Skip | Offer | Over | None


def look(
    job: ScheduledJob,
    passed: Sequence[float],
    now: float,
    *,
    following: float = 0.0,
    resumed: bool,
    limits: ScheduleLimits,
) -> Look:
    """What happens with a job now; None: nothing.

    Args:
        job: the job.
        passed: its times after `job.done_until` up to now with their delay, oldest first; perhaps only the first and
            the newest ones.
        now: Unix time.
        following: its first time after now, with its delay; 0: not known, so only a fire after the end is the last.
        resumed: they passed before this session looked at the schedule for the first time.
    """
    if job.waiting is not None or job.paused:
        return None
    over = job.expires_at is not None and now >= job.expires_at
    last = job.expires_at is not None and max(now, following) >= job.expires_at
    times = [at for at in passed if job.expires_at is None or at < job.expires_at]
    if not times:
        return Over(job) if over else None
    if job.kind is JobKind.ONCE:
        if resumed and not _on_time(times[0], now, limits):
            return Offer(replace(job, paused="its time passed while no session ran"), times[0])
        return _fire(job, times, 0, last)
    late = not _on_time(times[-1], now, limits)
    if resumed and (late or job.missed is MissedTimes.SKIP):
        return Over(job) if over else Skip(replace(job, done_until=times[-1]), len(times))
    if resumed:
        times = times[-1:]
    match job.missed:
        case MissedTimes.EACH:
            return _fire(job, times[:1], 0, last and len(times) == 1)
        case MissedTimes.ONCE:
            return _fire(job, times, len(times) - 1, last)
    if late:
        return Over(job) if over else Skip(replace(job, done_until=times[-1]), len(times))
    return _fire(job, times, 0, last)


BY_HAND = "!"
"""End of the id of a fire that the user asked for."""


def by_hand(job: ScheduledJob, now: float) -> JobFire:
    """A fire that the user asks for. It is that of one session, so no other one may find it waiting."""
    return JobFire(f"{job.id}@{int(now)}{BY_HAND}", now)


def taken(job: ScheduledJob, fire_id: str) -> ScheduledJob | None:
    """The job after the model has taken a fire; None: the job is over. No-op for a fire that was taken already."""
    if fire_id.endswith(BY_HAND):
        return None if job.kind is JobKind.ONCE else replace(job, fires=job.fires + 1)
    if job.waiting is None or job.waiting.id != fire_id:
        return job
    if job.kind is JobKind.ONCE or job.waiting.last:
        return None
    return replace(job, waiting=None, fires=job.fires + 1)


def ended(
    job: ScheduledJob, fire_id: str, *, failure: str, cost_usd: float, limits: ScheduleLimits
) -> ScheduledJob | None:
    """The job after the turn of a fire; None: the job is over. No-op for a fire whose turn has ended already.

    `failure` is why the turn failed, empty: it did not. The only fire of a job, or its last one, then waits to be
    delivered again.
    """
    after = taken(job, fire_id)
    if after is job:
        return job
    if after is None and failure:
        after = replace(job, fires=job.fires + 1)
    if after is None:
        return None
    failures = job.failures + 1 if failure else 0
    paused = f"{failures} failures in a row; the last one: {failure}" if failures >= limits.failures else job.paused
    return replace(after, failures=failures, cost_usd=job.cost_usd + cost_usd, paused=paused)


def clock_set_back(job: ScheduledJob, now: float, limits: ScheduleLimits) -> ScheduledJob:
    """The job, freed from moments in the future that a wrong clock has left: its times count from now.

    A small correction of the clock changes nothing, so that no time fires twice.
    """
    if max(job.done_until, job.created_at) <= now + limits.on_time_s:
        return job
    return replace(job, done_until=min(job.done_until, now), created_at=min(job.created_at, now))


def resumed(job: ScheduledJob, now: float) -> ScheduledJob:
    """A paused job fires again from now on; times that passed meanwhile do not count."""
    return replace(job, paused="", failures=0, done_until=max(now, job.done_until))


def delay_s(job_number: int, period_s: float, limits: ScheduleLimits) -> float:
    """The delay of a recurring job, always the same, so that jobs of many users do not fire in the same second."""
    share = int.from_bytes(sha256(f"c{job_number}".encode()).digest()[:4]) / 2**32
    return share * min(period_s * limits.jitter_share, limits.jitter_s)


def _on_time(at: float, now: float, limits: ScheduleLimits) -> bool:
    return now - at <= limits.on_time_s


def _fire(job: ScheduledJob, times: Sequence[float], missed: int, last: bool) -> Fire:
    fire = JobFire(f"{job.id}@{int(times[-1])}", times[-1], missed, last)
    return Fire(replace(job, done_until=times[-1], waiting=fire), fire)
