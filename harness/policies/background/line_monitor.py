"""When the lines of a monitored command reach the model.

Each notification costs a request, so lines are merged: one notification holds all lines since the last one, the latest
of them in full and the others counted. Between two notifications there is an interval, which doubles while a command
keeps writing, and none follows while the last one is unread.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import inf

from harness.events import MonitorEnd


@dataclass(frozen=True, slots=True)
class MonitorLimits:
    """What monitors may take."""

    monitors: int = 5
    """At the same time."""
    time_s: float = 600.0
    """Seconds, where the call names no other time."""
    interval_s: float = 5.0
    """Least seconds between two notifications of one monitor."""
    longest_interval_s: float = 80.0
    """The interval of a command that keeps writing doubles up to this."""
    lines: int = 20
    """Latest lines in one notification."""
    line_characters: int = 300
    notifications: int = 30
    """Of one monitor; with the last one it ends."""


@dataclass(frozen=True, slots=True)
class LineMonitor:
    """The state of one monitor."""

    until: float
    """Unix time of its deadline."""
    words: tuple[str, ...] = ()
    """Only lines with one of these texts, in any case; empty: all lines."""
    pending: tuple[str, ...] = ()
    """The latest lines that were not sent."""
    left_out: int = 0
    """Earlier lines since the last notification, only counted."""
    sent_at: float = -inf
    interval_s: float = 0.0
    """Until the next notification."""
    sent: int = 0


@dataclass(frozen=True, slots=True)
class LineBatch:
    """One notification."""

    lines: tuple[str, ...]
    left_out: int
    """Earlier lines that are not among them."""


@dataclass(frozen=True, slots=True)
class MonitorStep:
    """A decision about one monitor."""

    monitor: LineMonitor
    batch: LineBatch | None = None
    """To be sent now."""
    end: MonitorEnd | None = None
    """The monitor is over."""


def observed(monitor: LineMonitor, lines: Iterable[str], limits: MonitorLimits) -> LineMonitor:
    """The monitor after more lines."""
    found = [line[: limits.line_characters] for line in lines if _matches(line, monitor.words)]
    if not found:
        return monitor
    every = (*monitor.pending, *found)
    kept = every[-limits.lines :]
    return replace(monitor, pending=kept, left_out=monitor.left_out + len(every) - len(kept))


def decide(monitor: LineMonitor, now: float, limits: MonitorLimits, *, unread: bool, over: bool = False) -> MonitorStep:
    """Send the pending lines, wait, or end.

    Args:
        now: Unix time.
        unread: the last notification was not delivered yet.
        over: the command has ended.
    """
    end = MonitorEnd.COMMAND_ENDED if over else MonitorEnd.DEADLINE if now >= monitor.until else None
    waits = unread or now - monitor.sent_at < monitor.interval_s
    if not monitor.pending or (waits and end is None):
        return MonitorStep(monitor, end=end)
    batch = LineBatch(monitor.pending, monitor.left_out)
    busy = now - monitor.sent_at < 2 * max(limits.interval_s, monitor.interval_s)
    interval_s = min(limits.longest_interval_s, 2 * monitor.interval_s) if busy else limits.interval_s
    sent = replace(monitor, pending=(), left_out=0, sent_at=now, interval_s=interval_s, sent=monitor.sent + 1)
    if end is None and sent.sent >= limits.notifications:
        end = MonitorEnd.TOO_MANY
    return MonitorStep(sent, batch, end)


def _matches(line: str, words: tuple[str, ...]) -> bool:
    folded = line.casefold()
    return bool(line.strip()) and (not words or any(word.casefold() in folded for word in words))
