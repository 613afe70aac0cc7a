"""The times of cron expressions. Its parts have mistakes; TASK.md has the rules."""

from datetime import datetime, timedelta

BOUNDS = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 7))
"""The least and the largest number of each field."""
MINUTE = timedelta(minutes=1)


def field(text: str, least: int, most: int) -> set[int]:
    """The numbers that a field means."""
    numbers: set[int] = set()
    for part in text.split(","):
        span, _, step = part.partition("/")
        first, _, last = ("*" if span == "*" else span).partition("-")
        low = least if first == "*" else int(first)
        high = most if first == "*" or (step and not last) else int(last or first)
        numbers.update(range(low, high + 1, int(step or 1)))
    return numbers


def next_time(expression: str, after: datetime) -> datetime | None:
    """The first time of an expression after a moment; None: it never comes."""
    # ── your part begins ─────────────────────────────────────────────
    minutes, hours, days, months, weekdays = (
        field(text, *bounds) for text, bounds in zip(expression.split(), BOUNDS, strict=True)
    )
    at = after
    while True:
        day_fits = at.day in days and at.weekday() in weekdays
        if at.month in months and day_fits and at.hour in hours and at.minute in minutes:
            return at
        at += MINUTE
    # ── your part ends ───────────────────────────────────────────────


def due(expression: str, done_until: datetime, now: datetime) -> tuple[datetime, int] | None:
    """What a job fires now: the newest of the passed times, and the number of earlier ones that it replaces."""
    # ── your part begins ─────────────────────────────────────────────
    at = next_time(expression, done_until)
    return None if at is None or at > now else (at, 0)
    # ── your part ends ───────────────────────────────────────────────
