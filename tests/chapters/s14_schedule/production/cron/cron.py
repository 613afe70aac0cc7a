"""The schedule times of the production code, with the interface of the exercise."""

from datetime import datetime
from zoneinfo import ZoneInfo

from cronsim import CronSimError

from harness.schedule.recurrence import CronTimes

ZONE = ZoneInfo("UTC")


def next_time(expression: str, after: datetime) -> datetime | None:
    """The first time of an expression after a moment; None: it never comes."""
    times = CronTimes(expression, ZONE).after(after.replace(tzinfo=ZONE).timestamp())
    try:
        return next((datetime.fromtimestamp(at, ZONE).replace(tzinfo=None) for at in times), None)
    except CronSimError:  # the program refuses such a job when it is created
        return None


def due(expression: str, done_until: datetime, now: datetime) -> tuple[datetime, int] | None:
    """What a job fires now: the newest of the passed times, and the number of earlier ones that it replaces."""
    passed = []
    while (at := next_time(expression, done_until)) is not None and at <= now:
        passed.append(at)
        done_until = at
    return (passed[-1], len(passed) - 1) if passed else None
