"""Jobs of the schedule as lines."""

from collections.abc import Callable, Iterable, Iterator

from harness.base.external_text import counted, visible
from harness.policies.schedule.job import ScheduledJob
from harness.schedule.recurrence import WhenError
from harness.tools.tool import shorten_line

PROMPT = 60
"""Characters of a prompt in a list."""
NO_JOBS = "No prompt is scheduled."


NextTimes = Callable[[ScheduledJob, int], tuple[str, ...]]
"""Returns so many next times of a job as local times."""


def listed(jobs: Iterable[ScheduledJob], next_times: NextTimes) -> Iterator[str]:
    """One line for each job."""
    for job in jobs:
        facts = [_following(job, next_times), *(["this session only"] if not job.lasting else []), *_past(job)]
        yield f"{job.id}  {job.when} ({job.zone})  {shorten_line(visible(job.prompt), PROMPT)}  [{'; '.join(facts)}]"


def described(job: ScheduledJob, next_times: NextTimes) -> str:
    """What a new job does, in sentences."""
    times = ", ".join(next_times(job, 3))
    days = "" if job.expires_at is None else f", and ends after {(job.expires_at - job.created_at) / 86_400:g} days"
    kept = f"It is kept for later sessions of this project{days}." if job.lasting else "It ends with this session."
    return f"{job.id} fires {job.when} ({job.zone}). Next: {times}. {kept}"


def _following(job: ScheduledJob, next_times: NextTimes) -> str:
    if job.paused:
        return f"paused: {job.paused}"
    try:
        times = next_times(job, 3)
    except WhenError as error:
        return f"cannot fire: {error}"
    return f"next {', '.join(times)}" if times else "its time has passed"


def _past(job: ScheduledJob) -> Iterator[str]:
    if job.fires:
        yield f"fired {counted(job.fires, 'time')}"
    if job.cost_usd:
        yield f"${job.cost_usd:.2f}"
