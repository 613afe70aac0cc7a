"""Asks the learner's cron for times, and finds them itself by a walk through the calendar, minute by minute."""

# ruff: noqa: DTZ001 (the times of the exercise are local)

import time
from collections.abc import Iterable
from datetime import datetime, timedelta
from random import Random
from types import ModuleType

EXPRESSIONS = 250
MINUTE = timedelta(minutes=1)
FRIDAY = datetime(2027, 3, 26, 8, 58)
FIELD_BOUNDS = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 7))


def shown(expression: str, after: object, wanted: object, found: object) -> str:
    """A difference, as the learner reads it."""
    return f"{expression!r} after {after}\nwanted {wanted}\nfound  {found}"


def asked(work: ModuleType, cases: Iterable[tuple[str, datetime, datetime | None]]) -> None:
    """Compare `next_time` with the expected times."""
    for expression, after, wanted in cases:
        found = work.next_time(expression, after)
        assert found == wanted, shown(expression, after, wanted, found)


def check_the_next_time_is_found(work: ModuleType) -> None:
    asked(
        work,
        (
            ("30 2 * * *", FRIDAY, datetime(2027, 3, 27, 2, 30)),
            ("*/15 * * * *", FRIDAY, datetime(2027, 3, 26, 9, 0)),
            ("0,30 8-18 * * *", datetime(2027, 3, 26, 18, 30, 1), datetime(2027, 3, 27, 8, 0)),
            ("59 23 31 12 *", FRIDAY, datetime(2027, 12, 31, 23, 59)),
            ("0 9 * * *", datetime(2027, 3, 26, 8, 59, 59), datetime(2027, 3, 26, 9, 0)),
        ),
    )


def check_a_time_fires_once(work: ModuleType) -> None:
    at = datetime(2027, 3, 27, 2, 30)
    asked(
        work,
        (
            ("30 2 * * *", at, datetime(2027, 3, 28, 2, 30)),
            ("30 2 * * *", at + timedelta(seconds=20), datetime(2027, 3, 28, 2, 30)),
            ("* * * * *", at, at + MINUTE),
        ),
    )


def check_sunday_has_two_numbers(work: ModuleType) -> None:
    asked(
        work,
        (
            ("0 9 * * 0", FRIDAY, datetime(2027, 3, 28, 9, 0)),
            ("0 9 * * 7", FRIDAY, datetime(2027, 3, 28, 9, 0)),
            ("0 9 * * 1", FRIDAY, datetime(2027, 3, 29, 9, 0)),
            ("0 8 * * 1-5", FRIDAY, datetime(2027, 3, 29, 8, 0)),
        ),
    )


def check_two_kinds_of_days_are_either(work: ModuleType) -> None:
    asked(
        work,
        (
            ("0 9 13 * 5", FRIDAY, datetime(2027, 3, 26, 9, 0)),
            ("0 9 13 * 5", datetime(2027, 4, 10), datetime(2027, 4, 13, 9, 0)),
            ("0 9 1-31 * 5", datetime(2027, 3, 27), datetime(2027, 3, 27, 9, 0)),
            ("0 9 */2 * 5", datetime(2027, 3, 26, 10, 0), datetime(2027, 4, 9, 9, 0)),
            ("0 9 13 * *", FRIDAY, datetime(2027, 4, 13, 9, 0)),
        ),
    )


def check_what_never_comes_is_found_out(work: ModuleType) -> None:
    began = time.process_time()
    asked(
        work,
        (
            ("0 0 29 2 *", datetime(2096, 3, 1), datetime(2104, 2, 29)),
            ("0 0 31 2 *", FRIDAY, None),
            ("0 0 31 4,6,9,11 *", FRIDAY, None),
        ),
    )
    took = time.process_time() - began
    assert took < 3, f"three expressions took {took:.1f} s of computing"


def check_missed_times_fire_once(work: ModuleType) -> None:
    cases = (
        ("30 2 * * *", datetime(2027, 3, 28, 2, 30), datetime(2027, 3, 31, 10), (datetime(2027, 3, 31, 2, 30), 2)),
        ("* * * * *", FRIDAY, FRIDAY + timedelta(hours=8), (FRIDAY + timedelta(hours=8), 479)),
        ("30 2 * * *", FRIDAY, datetime(2027, 3, 27, 2, 30), (datetime(2027, 3, 27, 2, 30), 0)),
        ("30 2 * * *", FRIDAY, datetime(2027, 3, 27, 2, 29), None),
        ("0 0 31 2 *", FRIDAY, datetime(2027, 4, 27), None),
    )
    for expression, done_until, now, wanted in cases:
        found = work.due(expression, done_until, now)
        assert found == wanted, shown(f"due: {expression}", f"{done_until} at {now}", wanted, found)


def check_random_expressions_agree_with_a_calendar(work: ModuleType) -> None:
    found = (_difference(work, Random(seed)) for seed in range(EXPRESSIONS))
    shortest = min(filter(None, found), key=len, default="")
    assert not shortest, shortest


def _difference(work: ModuleType, chance: Random) -> str:
    """The error with a random expression; empty: nothing."""
    fields = [_field(chance, *bounds) for bounds in FIELD_BOUNDS]
    fields[3] = chance.choice(("*", "*", "1-12"))
    if chance.random() < 0.6:
        fields[chance.choice((2, 4))] = "*"
    expression = " ".join(fields)
    after = datetime(2027, 1, 1) + timedelta(seconds=chance.randrange(366 * 86_400))
    first = after.replace(second=0) + MINUTE
    walk = (first + MINUTE * number for number in range(40 * 1_440))
    wanted = next((at for at in walk if _fits(fields, at)), None)
    try:
        found = work.next_time(expression, after)
    except Exception as error:  # noqa: BLE001 (whatever the learner's code raises is a finding)
        return shown(expression, after, wanted, f"{type(error).__name__}: {error}")
    if wanted is None:
        return "" if found is None or found > after + timedelta(days=40) else shown(expression, after, wanted, found)
    return "" if found == wanted else shown(expression, after, wanted, found)


def _field(chance: Random, least: int, most: int) -> str:
    """A random field."""
    low, high = sorted((chance.randint(least, most), chance.randint(least, most)))
    shapes = ("*", str(low), f"{low}-{high}", f"{low},{high}", f"*/{chance.randint(1, 7)}", f"{low}-{high}/2")
    return chance.choice(shapes)


def _fits(fields: list[str], at: datetime) -> bool:
    """Whether a minute belongs to an expression, read from the text of each field."""
    minute, hour, day, month, weekday = fields
    if not (_has(minute, at.minute, 0) and _has(hour, at.hour, 0) and _has(month, at.month, 1)):
        return False
    by_day = _has(day, at.day, 1)
    by_weekday = _has(weekday, at.isoweekday(), 0) or (at.isoweekday() == 7 and _has(weekday, 0, 0))
    either = not day.startswith("*") and not weekday.startswith("*")
    return by_day or by_weekday if either else by_day and by_weekday


def _has(text: str, number: int, least: int) -> bool:
    """Whether a number belongs to a field."""
    for part in text.split(","):
        span, _, step = part.partition("/")
        low, _, high = span.partition("-")
        start = least if low == "*" else int(low)
        inside = low == "*" or start <= number <= int(high or low)
        if inside and (number - start) % int(step or 1) == 0:
            return True
    return False
