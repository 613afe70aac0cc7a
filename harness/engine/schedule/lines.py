"""Jobs of the schedule as lines."""

from collections.abc import Callable, Iterable, Iterator

from harness.base.external_text import visible
from harness.policies.schedule.job import ScheduledJob
from harness.tools.tool import shorten_line

PROMPT = 60
"""Characters of a prompt in a list."""


NextTimes = Callable[[ScheduledJob, int], tuple[str, ...]]
"""Returns so many next times of a job as local times."""


def listed(jobs: Iterable[ScheduledJob], next_times: NextTimes) -> Iterator[str]:
    """One line for each job."""
    for job in jobs:
        times = next_times(job, 1)
        following = f"paused: {job.paused}" if job.paused else f"next {times[0]}" if times else "its time has passed"
        facts = [following, *(["this session only"] if not job.lasting else []), *_past(job)]
        yield f"{job.id}  {job.when} ({job.zone})  {shorten_line(visible(job.prompt), PROMPT)}  [{'; '.join(facts)}]"


def described(job: ScheduledJob, next_times: NextTimes) -> str:
    """What a new job does, in sentences."""
    times = ", ".join(next_times(job, 3))
    kept = "It is kept for later sessions of this project." if job.lasting else "It ends with this session."
    return f"{job.id} fires {job.when} ({job.zone}). Next: {times}. {kept}"


def _past(job: ScheduledJob) -> Iterator[str]:
    if job.fires:
        yield f"fired {job.fires} time{'s' * (job.fires != 1)}"
    if job.cost_usd:
        yield f"${job.cost_usd:.2f}"
