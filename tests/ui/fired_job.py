"""A single scheduled prompt that has fired in a session which was killed."""

from dataclasses import replace
from pathlib import Path

from harness.policies.schedule.job import JobFire
from harness.schedule.store import ScheduleStore
from harness.slots.store import this_process
from tests.ui.program import Place, run


def jobs(place: Place) -> ScheduleStore:
    """The scheduled prompts of the place."""
    (path,) = place.state.glob("schedules/*.sqlite")
    return ScheduleStore(Path(path), this_process("test"))


async def fired_job(place: Place) -> None:
    """Schedule a prompt whose fire waits, so that the next session begins with it."""
    made = await run(place, "cron", "add", "2099-01-01 09:00", "Look at the log.")
    assert made.code == 0, made.err
    store = jobs(place)
    store.change(1, lambda job: replace(job, waiting=JobFire("c1@1795521600", 1_795_521_600.0)))
    store.close()


def is_kept(place: Place) -> bool:
    """Whether the prompt is still to fire."""
    store = jobs(place)
    try:
        return bool(store.jobs())
    finally:
        store.close()
