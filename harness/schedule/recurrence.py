"""The times of a job: a cron expression in a time zone, or one moment.

cronsim knows the calendar (https://github.com/cuu508/cronsim). Where a clock changes, the times are those of Debian's
cron (https://manpages.debian.org/cron.8): a skipped time fires when the skipped time is over, a time that comes twice
fires once, and jobs whose minute or hour begins with `*` fire whenever the clock shows the time. After a change of
three hours or more all jobs follow the new clock. What cronsim lets through and users do not mean is refused here.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from heapq import heappop, heappush
from itertools import chain, islice, pairwise, takewhile
from math import inf
from types import MappingProxyType
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from harness.base.errors import HarnessError

ALIASES: Mapping[str, str] = MappingProxyType(
    {
        "@hourly": "0 * * * *",
        "@daily": "0 0 * * *",
        "@midnight": "0 0 * * *",
        "@weekly": "0 0 * * 0",
        "@monthly": "0 0 1 * *",
        "@yearly": "0 0 1 1 *",
        "@annually": "0 0 1 1 *",
    }
)
FIELDS = ("minute", "hour", "day of the month", "month", "day of the week")
SIZES = (60, 24, 31, 12, 7)
UNITS: Mapping[str, float] = MappingProxyType({"s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0})
_PART = re.compile(
    r"(\d+(?:\.\d+)?)\s*(seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h|days?|d)(?![a-z])[\s,]*(?:and\s+)?", re.I
)
_ONE_VALUE = re.compile(r"\b(\w+)-\1/\d+")
LONGEST_ABSENCE_S = 7 * 86_400.0
"""Of a longer absence not every missed time is computed."""
CORRECTION = timedelta(hours=3)
"""A change of the clock that is none of summer time."""
FARTHEST_S = 3_650 * 86_400.0
"""From now to the time that `in …` means."""
_CLOCK = re.compile(r"(?:at\s+)?(\d{1,2}):(\d{2})")


class WhenError(HarnessError):
    """A time cannot be used."""

    exit_code = 2


@dataclass(frozen=True, slots=True)
class CronTimes:
    """The times of a cron expression."""

    expression: str
    """Five fields."""
    zone: ZoneInfo

    def after(self, moment: float) -> Iterator[float]:
        """The times after a moment, in Unix seconds, without end."""
        from cronsim import CronSim

        minute, hour, *_ = self.expression.split()
        by_clock = minute.startswith("*") or hour.startswith("*")
        found: list[float] = []
        expression = _ONE_VALUE.sub(r"\1", self.expression)  # cronsim reads `5-5/2` as `5/2`
        for local in CronSim(expression, _local_start(moment, self.zone)):
            more = _moments(local, self.zone, by_clock=by_clock)
            while more and found and found[0] < more[0]:  # the second half of a repeated hour comes after the first
                if (at := heappop(found)) > moment:
                    yield (moment := at)
            for at in more:
                heappush(found, at)

    def __str__(self) -> str:
        return self.expression


@dataclass(frozen=True, slots=True)
class OneTime:
    """One moment."""

    at: float
    """Unix time."""
    zone: ZoneInfo

    def after(self, moment: float) -> Iterator[float]:
        """The moment, if it is later than `moment`."""
        if self.at > moment:
            yield self.at

    def __str__(self) -> str:
        return datetime.fromtimestamp(self.at, self.zone).isoformat(" ", "seconds")


Times = CronTimes | OneTime


def _local_start(moment: float, zone: ZoneInfo) -> datetime:
    """The local time at a moment, without a zone; earlier where the clock is set back, as it shows that time again."""
    days = (moment - 86_400, moment, moment + 86_400)
    before, now, after = (datetime.fromtimestamp(at, zone).replace(tzinfo=None, fold=0) for at in days)
    shift = max(abs(now - before - timedelta(days=1)), abs(after - now - timedelta(days=1)))
    return now - shift


def _moments(local: datetime, zone: ZoneInfo, *, by_clock: bool) -> tuple[float, ...]:
    """When a time on the clock is due: twice or never where the clock changes, or once unless it goes `by_clock`."""
    first, second = local.replace(tzinfo=zone), local.replace(tzinfo=zone, fold=1)
    skipped = (second.utcoffset() or timedelta()) - (first.utcoffset() or timedelta())
    if not skipped:
        return (first.timestamp(),)
    if abs(skipped) >= CORRECTION or by_clock:
        return () if skipped > timedelta() else (first.timestamp(), second.timestamp())
    if skipped < timedelta():
        return (first.timestamp(),)
    return _moments(local + timedelta(minutes=1), zone, by_clock=False)


def zone_named(name: str) -> ZoneInfo:
    """A time zone by its name. Raises WhenError."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise WhenError(f"There is no time zone {name!r}; use a name such as Europe/Oslo or UTC.") from error


def same_clock(name: str, zone: ZoneInfo, now: float) -> bool:
    """Whether a time zone has the clock of another one in each of the next twelve months. Raises WhenError."""
    other = zone_named(name)
    moments = [now + month * 30.5 * 86_400 for month in range(12)] if other.key != zone.key else []
    return all(
        datetime.fromtimestamp(at, other).utcoffset() == datetime.fromtimestamp(at, zone).utcoffset() for at in moments
    )


def parse_when(text: str, zone: ZoneInfo, now: float) -> Times:
    """The times that a text means. Raises WhenError with what can be written.

    Understood are cron expressions of five fields, `@daily` and the like, "in 3 minutes", "at 09:30" (the next one)
    and "2026-11-24 09:30".
    """
    words = " ".join(text.split())
    if words.lower().startswith("in "):
        return OneTime(now + _seconds_in(words[3:]), zone)
    if clock := _CLOCK.fullmatch(words):
        return _next_clock(int(clock[1]), int(clock[2]), zone, now)
    if (moment := _moment(words.removeprefix("at "), zone)) is not None:
        if moment <= now:
            raise WhenError(f"{words} has passed; give a time in the future.")
        return OneTime(moment, zone)
    return CronTimes(_cron(words), zone)


def _cron(words: str) -> str:
    expression = ALIASES.get(words.lower(), words)
    if expression.startswith("@"):
        raise WhenError(f"{words} is not known; use {', '.join(ALIASES)}, or five fields.")
    fields = expression.split()
    if len(fields) != len(FIELDS):
        raise WhenError(
            f"{words!r} is not a time. Write five fields (minute hour day month weekday, as in `30 9 * * 1-5`), "
            "@daily, `in 3 minutes`, `at 09:30` or `2026-11-24 09:30`."
        )
    for field, name, size in zip(fields, FIELDS, SIZES, strict=True):
        for step in re.findall(r"/(\d+)", field):
            if int(step) >= size:
                raise WhenError(f"The step /{step} of the {name} is too large; use less than {size}.")
    from cronsim import CronSim, CronSimError

    try:
        next(CronSim(expression, datetime.now(UTC)))
    except (CronSimError, StopIteration) as error:
        what = str(error) or "the expression"
        raise WhenError(f"{words!r} never fires or cannot be read ({what}); correct that field.") from error
    return expression


def _seconds_in(text: str) -> float:
    found = list(_PART.finditer(text))
    if not found or "".join(part[0] for part in found) != text:
        raise WhenError(f"`in {text}` is not understood; write `in 3 minutes` or `in 2 hours 30 minutes`.")
    seconds = sum(float(part[1]) * UNITS[part[2][0].lower()] for part in found)
    if not 0 < seconds <= FARTHEST_S:
        raise WhenError(
            f"`in {text}` is not possible; use more than 0 seconds and at most {FARTHEST_S / 86_400:g} days."
        )
    return seconds


def _next_clock(hour: int, minute: int, zone: ZoneInfo, now: float) -> OneTime:
    if hour > 23 or minute > 59:
        raise WhenError(f"{hour}:{minute:02} is no time of day; use 00:00 to 23:59.")
    times = CronTimes(f"{minute} {hour} * * *", zone)
    return OneTime(next(times.after(now)), zone)


def _moment(text: str, zone: ZoneInfo) -> float | None:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    if moment.tzinfo is not None:
        return moment.timestamp()
    local = moment.replace(tzinfo=zone)
    try:
        exists = local.astimezone(UTC).astimezone(zone).replace(tzinfo=None) == moment
    except OverflowError as error:
        raise WhenError(f"{text} is outside of the calendar; choose another time.") from error
    if not exists:
        raise WhenError(f"{text} does not exist in {zone.key}: the clock skips that hour; choose another time.")
    return local.timestamp()


def period_s(times: CronTimes, now: float, count: int = 50) -> float:
    """The shortest distance between the next times, in seconds."""
    following = times.after(now)
    moments = [next(following) for _ in range(count)]
    return min(after - before for before, after in pairwise(moments))


def preview(times: Times, now: float, count: int = 3, end: float = inf) -> tuple[str, ...]:
    """The next times before `end`, as local times with their zone."""
    following = takewhile(lambda at: at < end, islice(times.after(now), count))
    return tuple(datetime.fromtimestamp(at, times.zone).strftime("%a %Y-%m-%d %H:%M %Z") for at in following)


def passed(times: Times, since: float, now: float, delay_s: float) -> tuple[float, ...]:
    """The times after `since` up to now, each with the delay; of a long absence the first one and those of its end."""
    start = max(since, now - LONGEST_ABSENCE_S)
    first = islice(times.after(since - delay_s), start > since)
    found = (at + delay_s for at in chain(first, times.after(start - delay_s)))
    return tuple(dict.fromkeys(at for at in takewhile(lambda at: at <= now, found) if at > since))


def until_next(times: Times, since: float, delay_s: float) -> float | None:
    """The first time after `since`, with the delay; None: there is none."""
    return next((at + delay_s for at in times.after(since - delay_s) if at + delay_s > since), None)
