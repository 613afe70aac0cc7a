"""`harness cron`: the scheduled prompts of a project from outside of a session."""

import os
import subprocess
import sys
import time
from argparse import Namespace
from dataclasses import replace

from harness.base.errors import HarnessError
from harness.base.external_text import visible
from harness.engine.config import schedule_file
from harness.engine.schedule.lines import described, listed
from harness.engine.schedule.runner import job_of, local_zone
from harness.policies.schedule import decisions
from harness.policies.schedule.job import ScheduledJob
from harness.schedule.recurrence import parse_when, preview, zone_named
from harness.schedule.store import ScheduleStore
from harness.settings import Settings
from harness.slots.store import this_process


class CronError(HarnessError):
    """There is no such job."""


def cron(settings: Settings, options: Namespace) -> int:
    """Run the command; returns the exit code. Raises HarnessError."""
    path = schedule_file(settings)
    if options.kind != "add" and not path.exists():
        print("No prompt is scheduled.")
        return 0 if options.kind == "list" else 1
    store = ScheduleStore(path, this_process("harness cron"), report=lambda text: print(text, file=sys.stderr))
    try:
        match options.kind:
            case "list":
                for line in listed(store.jobs(all_sessions=True).values(), _next_times):
                    print(visible(line))
            case "add":
                zone = zone_named(options.zone) if options.zone else local_zone(os.environ.items())
                made = store.add(
                    replace(job_of(options.when, options.prompt, zone, time.time(), store.limits), lasting=True)
                )
                print(visible(described(made, _next_times)))
            case "run":
                return _run(store, _found(store, options.id))
            case "pause":
                _change(store, options.id, replace(_found(store, options.id), paused="by the user"), "is paused")
            case "resume":
                job = _found(store, options.id)
                _change(store, options.id, decisions.resumed(job, time.time()), "fires again")
            case "delete":
                _change(store, options.id, None, "is deleted")
    finally:
        store.close()
    return 0


def _run(store: ScheduleStore, job: ScheduledJob) -> int:
    """Run the prompt of a job once without a screen, as `harness -p` does; for the scheduler of the system."""
    code = subprocess.run([sys.executable, "-m", "harness", f"--print={job.prompt}"], check=False).returncode
    failure = "" if code == 0 else f"exit code {code}"

    def after(job: ScheduledJob) -> ScheduledJob:
        fired = replace(job, fires=job.fires + 1)
        return decisions.ended(fired, failure=failure, cost_usd=0.0, limits=store.limits)

    store.change(job.number, after)
    return code


def _found(store: ScheduleStore, id: str) -> ScheduledJob:
    jobs = store.jobs(all_sessions=True)
    digits = id.removeprefix("c")
    job = jobs.get(int(digits)) if digits.isascii() and digits.isdigit() else None
    if job is None:
        raise CronError(f"There is no job {id!r}; there are: {', '.join(one.id for one in jobs.values()) or 'none'}.")
    return job


def _change(store: ScheduleStore, id: str, after: ScheduledJob | None, done: str) -> None:
    job = _found(store, id)
    store.change(job.number, lambda _: after)
    print(f"{job.id} {done}.")


def _next_times(job: ScheduledJob, count: int) -> tuple[str, ...]:
    return preview(parse_when(job.when, zone_named(job.zone), 0.0), time.time(), count)
