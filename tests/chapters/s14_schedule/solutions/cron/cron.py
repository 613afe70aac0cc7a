"""The times of cron expressions. A right solution."""

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
    texts = expression.split()
    minutes, hours, days, months, weekdays = (field(text, *bounds) for text, bounds in zip(texts, BOUNDS, strict=True))
    both = texts[2].startswith("*") or texts[4].startswith("*")
    at = after.replace(second=0, microsecond=0) + MINUTE
    end = after + timedelta(days=3_653)
    while at < end:
        weekday = bool({at.isoweekday(), at.isoweekday() % 7} & weekdays)
        day = at.day in days
        if at.month not in months or not ((day and weekday) if both else (day or weekday)):
            at = at.replace(hour=0, minute=0) + timedelta(days=1)
        elif at.hour not in hours:
            at = at.replace(minute=0) + timedelta(hours=1)
        elif at.minute not in minutes:
            at += MINUTE
        else:
            return at
    return None
    # ── your part ends ───────────────────────────────────────────────


def due(expression: str, done_until: datetime, now: datetime) -> tuple[datetime, int] | None:
    """What a job fires now: the newest of the passed times, and the number of earlier ones that it replaces."""
    # ── your part begins ─────────────────────────────────────────────
    passed = []
    at = next_time(expression, done_until)
    while at is not None and at <= now:
        passed.append(at)
        at = next_time(expression, at)
    return (passed[-1], len(passed) - 1) if passed else None
    # ── your part ends ───────────────────────────────────────────────
