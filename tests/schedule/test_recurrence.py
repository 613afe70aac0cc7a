"""Times of jobs, compared with a slow oracle that checks each minute."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice, takewhile
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.schedule.recurrence import (
    CronTimes,
    OneTime,
    WhenError,
    parse_when,
    passed,
    period_s,
    preview,
    same_clock,
    until_next,
    zone_named,
)
from tests.whole import WHOLE

ZONES = ("UTC", "Europe/Oslo", "America/New_York", "America/St_Johns", "Asia/Kolkata")
CHANGES = [
    ("UTC", (2026, 6, 1)),
    ("Europe/Oslo", (2026, 3, 28)),
    ("Europe/Oslo", (2026, 10, 24)),
    ("America/New_York", (2026, 3, 7)),
    ("America/St_Johns", (2026, 10, 31)),
    ("Asia/Kolkata", (2026, 6, 1)),
    ("Australia/Lord_Howe", (2026, 4, 4)),  # half an hour
    ("Australia/Lord_Howe", (2026, 10, 3)),
    ("Africa/Cairo", (2026, 4, 23)),  # at midnight
    ("Africa/Cairo", (2026, 10, 29)),
    ("America/Santiago", (2026, 4, 4)),
    ("America/Santiago", (2026, 9, 5)),
    ("America/Havana", (2026, 10, 31)),
    ("Africa/Casablanca", (2026, 2, 14)),
    ("Africa/Casablanca", (2026, 3, 21)),
    ("Asia/Tehran", (2018, 3, 21)),
    ("Asia/Tehran", (2018, 9, 21)),
    ("America/Sao_Paulo", (2017, 10, 14)),
    ("America/Sao_Paulo", (2018, 2, 17)),
    ("Antarctica/Troll", (2026, 3, 28)),  # two hours
    ("Antarctica/Troll", (2026, 10, 24)),
    ("Asia/Pyongyang", (2018, 5, 4)),
    ("Pacific/Apia", (2011, 12, 29)),  # a day that never was
    ("Pacific/Kwajalein", (1969, 9, 30)),  # a day that came twice; earlier clocks had offsets with seconds
]
"""Zones, and the day before their clocks change; some never do."""
OSLO = ZoneInfo("Europe/Oslo")
NOW = datetime(2026, 11, 24, 9, 30, tzinfo=OSLO).timestamp()


def field(text: str, low: int, high: int) -> set[int]:
    """The numbers that a field of a cron expression means."""
    found: set[int] = set()
    for part in text.split(","):
        span, _, step = part.partition("/")
        first, _, last = span.partition("-")
        if span == "*":
            numbers = range(low, high + 1)
        elif last:
            numbers = range(int(first), int(last) + 1)
        else:
            numbers = range(int(first), (high if step else int(first)) + 1)
        found |= set(numbers[:: int(step or 1)])
    return found


def minutes_of(expression: str, zone: ZoneInfo, begin: datetime, end: datetime) -> Iterator[float]:
    """The oracle: every minute between two moments is looked at.

    A job whose hour or minute begins with a star fires whenever the clock on the wall fits. Any other one fires once
    for each day and time that fit: a time that is skipped when the skipped hour is over, a time that comes twice the
    first time. A change of three hours or more is a correction: what it skips is lost.
    """
    texts = expression.split()
    minute, hour = field(texts[0], 0, 59), field(texts[1], 0, 23)
    day, month, weekday = field(texts[2], 1, 31), field(texts[3], 1, 12), {d % 7 for d in field(texts[4], 0, 7)}
    both = texts[2].startswith("*") or texts[4].startswith("*")

    def fits(local: datetime) -> bool:
        in_month, in_week = local.day in day, (local.weekday() + 1) % 7 in weekday
        right_day = (in_month and in_week) if both else (in_month or in_week)
        return local.minute in minute and local.hour in hour and local.month in month and right_day

    by_wall = texts[0].startswith("*") or texts[1].startswith("*")
    at, seen, wall = begin, set[datetime](), begin.astimezone(zone).replace(tzinfo=None) - timedelta(minutes=1)
    while at < end:
        local = at.astimezone(zone).replace(tzinfo=None)
        if by_wall:
            if fits(local):
                yield at.timestamp()
        else:
            passed_over = []
            if abs(local - wall) >= timedelta(hours=3):
                wall, seen = local - timedelta(minutes=1), set()
            while wall < local:
                wall += timedelta(minutes=1)
                passed_over.append(wall)
            if any(fits(one) and one not in seen for one in passed_over):
                yield at.timestamp()
            seen.update(passed_over)
        at += timedelta(minutes=1)


def number(low: int, high: int) -> st.SearchStrategy[str]:
    return st.integers(low, high).map(str)


EXPRESSIONS = st.tuples(
    st.one_of(st.just("*"), st.sampled_from(["*/15", "*/7", "0,30", "5-20/5"]), number(0, 59)),
    st.one_of(st.just("*"), st.sampled_from(["*/6", "1-3", "2", "1", "3", "0", "23"])),
    st.one_of(st.just("*"), st.sampled_from(["1", "15", "29", "1-7", "*/2"])),
    st.one_of(st.just("*"), st.sampled_from(["3", "10", "3,4,10,11", "11"])),
    st.one_of(st.just("*"), st.sampled_from(["0", "7", "1-5", "6,0"])),
).map(" ".join)


@given(EXPRESSIONS, st.sampled_from(CHANGES), st.integers(0, 2_000))
def test_the_times_around_a_change_of_the_clock_are_those_of_the_oracle(
    expression: str, change: tuple[str, tuple[int, int, int]], minute: int
) -> None:
    zone, day = change
    begin = datetime(*day, tzinfo=UTC)
    end = begin + timedelta(days=3)
    times = CronTimes(expression, ZoneInfo(zone))
    found = takewhile(lambda at: at < end.timestamp(), times.after(begin.timestamp() + minute * 60))
    right = minutes_of(expression, ZoneInfo(zone), begin, end)
    assert list(islice(found, 5_000)) == [at for at in right if at > begin.timestamp() + minute * 60]


@pytest.mark.parametrize(
    ("expression", "day", "local"),
    [
        ("30 2 * * *", (2026, 3, 29), ["03:00 CEST"]),  # skipped: when the hour is over
        ("30 2 * * *", (2026, 10, 25), ["02:30 CEST"]),  # comes twice: once
        ("0 * * * *", (2026, 10, 25), ["02:00 CEST", "02:00 CET"]),
    ],
)
def test_nights_with_a_change_of_the_clock(expression: str, day: tuple[int, int, int], local: list[str]) -> None:
    begin = datetime(*day, 1, 30, tzinfo=OSLO).timestamp()
    end = datetime(*day, 4, 0, tzinfo=OSLO).timestamp()
    shown = [
        datetime.fromtimestamp(at, OSLO).strftime("%H:%M %Z")
        for at in takewhile(lambda at: at < end, CronTimes(expression, OSLO).after(begin))
    ]
    assert [one for one in shown if one in local] == local
    assert len(shown) == len(set(shown))


@pytest.mark.skipif(not WHOLE, reason="looks at a million minutes for each; HARNESS_TEST_WHOLE=1")
@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize(
    "expression", ["30 2 * * *", "*/20 * * * *", "0 1-3 * * 0", "5,35 * 29 2,3,10 *", "0 0 1 * 1-5", "59 23 */9 * 6"]
)
def test_two_years_minute_by_minute(expression: str, zone: str) -> None:
    begin = datetime(2026, 1, 1, tzinfo=UTC)
    end = begin + timedelta(days=730)
    found = takewhile(
        lambda at: at < end.timestamp(), CronTimes(expression, ZoneInfo(zone)).after(begin.timestamp() - 60)
    )
    assert list(found) == list(minutes_of(expression, ZoneInfo(zone), begin, end))


@pytest.mark.parametrize(
    ("expression", "zone", "begin", "local"),
    [
        ("30 * * * *", "Australia/Lord_Howe", (2026, 4, 5, 0, 45), ["01:30", "01:30", "02:30"]),
        ("45 1 * * *", "Australia/Lord_Howe", (2026, 4, 5, 0, 45), ["01:45", "01:45"]),  # one on each day
        ("*/30 1 * * *", "Africa/Cairo", (2026, 4, 23, 12, 0), ["01:00", "01:30", "01:00"]),
        ("15 0 * * 5", "Africa/Cairo", (2026, 4, 23, 12, 0), ["01:00", "00:15"]),
        ("7-7/2 5 * * *", "UTC", (2026, 4, 23, 5, 0), ["05:07", "05:07"]),
    ],
)
def test_times_that_cronsim_alone_gets_wrong(
    expression: str, zone: str, begin: tuple[int, int, int, int, int], local: list[str]
) -> None:
    times = CronTimes(expression, ZoneInfo(zone)).after(datetime(*begin, tzinfo=ZoneInfo(zone)).timestamp())
    shown = [datetime.fromtimestamp(at, ZoneInfo(zone)).strftime("%H:%M") for at in islice(times, len(local))]
    assert shown == local


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("in 3 minutes", 180),
        ("in 1 hour 30 minutes", 5_400),
        ("IN 2h30m", 9_000),
        ("in 1 day and 1 s", 86_401),
        ("at 09:31", 60),
        ("9:30", 86_400),
        ("2026-11-24 10:30", 3_600),
        ("at 2026-11-24T09:30:00Z", 3_600),
    ],
)
def test_one_moment_is_written_in_several_ways(text: str, seconds: float) -> None:
    assert parse_when(text, OSLO, NOW) == OneTime(NOW + seconds, OSLO)


@pytest.mark.parametrize(
    "text", ["0 9 * * MON-FRI", "@daily", "*/5,1 * * * *", "0 0 L * *", "0 12 * * 7", "1-5/2 * * * *"]
)
def test_cron_expressions_as_users_write_them(text: str) -> None:
    times = parse_when(text, OSLO, NOW)
    assert isinstance(times, CronTimes)
    assert len(preview(times, NOW)) == 3


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("0 0 9 * * *", "five fields"),
        ("*/70 * * * *", "/70 of the minute is too large"),
        ("0 */24 * * *", "/24 of the hour is too large"),
        ("0 0 31 2 *", "never fires"),
        ("61 * * * *", "cannot be read"),
        ("² * * * *", "cannot be read"),
        ("@reboot", "is not known"),
        ("tomorrow", "five fields"),
        ("in a while", "is not understood"),
        ("in 3 minutes sharp", "is not understood"),
        ("in 0 minutes", "is not possible"),
        ("in 99999999999 days", "is not possible"),
        (f"in {'9' * 400} minutes", "is not possible"),
        ("0001-01-01", "outside of the calendar"),
        ("25:00", "is no time of day"),
        ("2026-11-24 09:30", "has passed"),
        ("2027-03-28 02:30", "does not exist in Europe/Oslo"),
    ],
)
def test_what_is_no_time_is_refused_with_what_can_be_written(text: str, words: str) -> None:
    with pytest.raises(WhenError) as error:
        parse_when(text, OSLO, NOW)
    assert words in str(error.value)


def test_zones_have_names() -> None:
    assert zone_named("Asia/Kolkata").key == "Asia/Kolkata"
    for wrong in ("Mars/Base", "../etc/passwd", ""):
        with pytest.raises(WhenError, match="no time zone"):
            zone_named(wrong)


def test_what_comes_next_is_shown_with_its_zone() -> None:
    assert preview(CronTimes("30 9 * * *", OSLO), NOW, 2) == ("Wed 2026-11-25 09:30 CET", "Thu 2026-11-26 09:30 CET")
    assert preview(OneTime(NOW + 60, OSLO), NOW) == ("Tue 2026-11-24 09:31 CET",)
    assert period_s(CronTimes("*/5 * * * *", OSLO), NOW) == 300


@given(st.integers(0, 40), st.integers(1, 4_000), st.integers(0, 90))
def test_the_times_that_passed_are_those_between_two_moments(minutes: int, length: int, delay: int) -> None:
    times = CronTimes("*/7 * * * *", OSLO)
    since, now = NOW + minutes * 60, NOW + minutes * 60 + length * 60
    every = [at + delay for at in islice(times.after(NOW - 86_400), 1_200)]
    assert list(passed(times, since, now, delay)) == [at for at in every if since < at <= now]
    assert until_next(times, since, delay) == next(at for at in every if at > since)


def test_a_long_absence_costs_no_long_computation() -> None:
    times = CronTimes("* * * * *", OSLO)
    found = passed(times, NOW - 400 * 86_400, NOW, 0.0)
    assert found[0] == NOW - 400 * 86_400 + 60
    assert found[-1] == NOW
    assert len(found) < 12_000


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("UTC", "Etc/UTC", True),
        ("Europe/Oslo", "Europe/Berlin", True),
        ("Europe/Berlin", "Africa/Lagos", False),  # the same in winter
        ("Asia/Tokyo", "Europe/Oslo", False),
    ],
)
def test_zones_with_the_same_clock_all_year_are_the_same(one: str, other: str, same: bool) -> None:
    assert same_clock(one, ZoneInfo(other), 1_795_521_600.0) is same
