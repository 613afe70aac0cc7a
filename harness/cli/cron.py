"""`harness cron`: the scheduled prompts of a project from outside of a session."""

import json
import os
import signal
import subprocess
import sys
import time
from argparse import Namespace
from dataclasses import replace
from pathlib import Path

from harness.base.errors import HarnessError
from harness.base.external_text import visible
from harness.engine.schedule.lines import NO_JOBS, described, listed
from harness.engine.schedule.runner import job_of, local_zone, next_times
from harness.engine.store_places import schedule_place, store_clock
from harness.events import Json
from harness.policies.schedule import decisions
from harness.policies.schedule.job import ScheduledJob
from harness.schedule.recurrence import zone_named
from harness.schedule.store import ScheduleStore
from harness.settings import Settings
from harness.slots.store import this_process


class CronError(HarnessError):
    """There is no such job."""


def cron(settings: Settings, options: Namespace) -> int:
    """Run the command; returns the exit code. Raises HarnessError."""
    path = schedule_place(settings)
    if options.kind == "list" and not path.exists():
        print(NO_JOBS)
        return 0
    if options.kind != "add" and not path.exists():
        raise CronError(f"There is no job {options.id!r}; no prompt is scheduled.")
    store = ScheduleStore(
        path, this_process("harness cron"), clock=store_clock(), report=lambda text: print(text, file=sys.stderr)
    )
    try:
        match options.kind:
            case "list":
                lines = list(listed(store.jobs(all_sessions=True).values(), _next_times))
                print(visible("\n".join(lines or [NO_JOBS])))
            case "add":
                zone = zone_named(options.zone) if options.zone else local_zone(os.environ.items())
                made = store.add(
                    replace(
                        job_of(options.when, options.prompt, zone, time.time(), store.limits),
                        lasting=True,
                        zone_given=bool(options.zone),
                    )
                )
                print(visible(described(made, _next_times)))
            case "run":
                return _run(store, _found(store, options.id), settings.workspace)
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


def _run(store: ScheduleStore, job: ScheduledJob, workspace: Path) -> int:
    """Run the prompt of a job once without a screen, as `harness -p` does; for the scheduler of the system."""
    command = [sys.executable, "-m", "harness", f"--print={job.prompt}", "--output-format", "json"]
    with subprocess.Popen(command, cwd=workspace, stdout=subprocess.PIPE, text=True) as running:
        for number in (signal.SIGTERM, signal.SIGHUP):  # or the prompt would run on without anyone to record its end
            signal.signal(number, lambda number, _: running.send_signal(number))
        printed, _ = running.communicate()
    code, result, fire = running.returncode, _result(printed), decisions.by_hand(job, time.time())
    failure = "" if code == 0 else str(result.get("reason") or f"exit code {code}")
    if result.get("result"):
        print(result["result"])
    if failure and result:
        print(f"harness: {failure}; to continue: harness -p --resume {result.get('session_id')} …", file=sys.stderr)

    cost_usd = float(result.get("total_cost_usd") or 0.0)
    store.change(
        job.number,
        lambda job: decisions.ended(job, fire.id, failure=failure, cost_usd=cost_usd, limits=store.limits),
    )
    return code


def _result(output: str) -> Json:
    """What `harness -p --output-format json` has printed; empty: it could not begin, and has said why."""
    try:
        result = json.loads(output)
    except ValueError:
        return {}
    return result if isinstance(result, dict) else {}


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
    return next_times(job, time.time(), count)
