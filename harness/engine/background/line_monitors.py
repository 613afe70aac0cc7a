"""The monitored commands of one session: their new lines are read from their files and sent to the model.

monitor ──▶ MonitorSet ──▶ one look a second ──▶ an arrival with lines ──▶ MonitorEnded, and an arrival that says so
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from harness.base.clock import Clock, time_of_day
from harness.engine.background.background_command import BackgroundCommand
from harness.engine.background.output import read_lines, size_of
from harness.engine.inbox import Inbox
from harness.events import ArrivalKind, Event, MonitorEnd, MonitorEnded, MonitorSet
from harness.policies.background.line_monitor import LineBatch, LineMonitor, MonitorLimits, decide, observed

LOOK_BYTES = 262_144
"""Most bytes of one command that one look reads; of more only the last are read."""


@dataclass(slots=True)
class _Monitored:
    """A command with the state of its monitor."""

    command: BackgroundCommand
    monitor: LineMonitor
    read_to: int
    """Byte of its output where the next look begins."""


class LineMonitors:
    """All monitors of one session, at most one for each command."""

    def __init__(
        self,
        inbox: Inbox,
        emit: Callable[[Event], None],
        clock: Clock,
        mask: Callable[[BackgroundCommand], None],
        limits: MonitorLimits | None = None,
    ) -> None:
        """`mask` takes known keys out of the output of a command."""
        self._inbox, self._emit, self._clock, self._mask = inbox, emit, clock, mask
        self._limits = limits or MonitorLimits()
        self._monitored: dict[str, _Monitored] = {}

    @property
    def commands(self) -> tuple[str, ...]:
        """The ids of monitored commands."""
        return tuple(self._monitored)

    def full(self, command: BackgroundCommand) -> bool:
        """No other command can be monitored now."""
        return command.id not in self._monitored and len(self._monitored) >= self._limits.monitors

    def start(self, command: BackgroundCommand, words: tuple[str, ...], time_s: float | None) -> float:
        """Send the lines that a command writes from now on; returns the deadline in Unix time.

        A second call for the command sets deadline and words anew and loses no line.
        """
        until = self._clock.now() + (self._limits.time_s if time_s is None else time_s)
        before = self._monitored.get(command.id)
        read_to = before.read_to if before else size_of(command.output)
        self._monitored[command.id] = _Monitored(command, LineMonitor(until, words), read_to)
        self._emit(MonitorSet(command.id, words, until))
        return until

    def stop(self, command: BackgroundCommand) -> bool:
        """Send no more lines. False: it was not monitored."""
        if command.id not in self._monitored:
            return False
        self._end(self._monitored[command.id], MonitorEnd.STOPPED)
        return True

    def look(self, now: float) -> None:
        """Read new output and send the lines that are due."""
        for one in tuple(self._monitored.values()):
            self._look(one, now)

    def close(self, command: BackgroundCommand, *, announced: bool) -> None:
        """A command has ended; if its end is `announced`, send its last lines before."""
        if (one := self._monitored.get(command.id)) is None:
            return
        if announced:
            self._look(one, self._clock.now(), over=True)
        else:
            self._end(one, MonitorEnd.COMMAND_ENDED)

    def _look(self, one: _Monitored, now: float, *, over: bool = False) -> None:
        self._mask(one.command)
        lines, one.read_to = read_lines(one.command.output, one.read_to, LOOK_BYTES, whole=over)
        unread = any(
            waits.kind is ArrivalKind.COMMAND_LINES and waits.source == one.command.id for waits in self._inbox.waiting
        )
        step = decide(observed(one.monitor, lines, self._limits), now, self._limits, unread=unread, over=over)
        one.monitor = step.monitor
        ended = step.end if step.end in (MonitorEnd.DEADLINE, MonitorEnd.TOO_MANY) else None
        if step.end is not None:
            self._end(one, step.end)
        if step.batch is not None or ended is not None:
            text = "\n".join(_texts(one.command.id, one.command.output, step.batch, ended, one.monitor.until))
            self._inbox.arrive(ArrivalKind.COMMAND_LINES, one.command.id, text)

    def _end(self, one: _Monitored, end: MonitorEnd) -> None:
        del self._monitored[one.command.id]
        self._emit(MonitorEnded(one.command.id, end, one.monitor.sent))


def _texts(id: str, output: Path, batch: LineBatch | None, end: MonitorEnd | None, until: float) -> list[str]:
    texts = []
    if batch is not None:
        earlier = f", the last of {len(batch.lines) + batch.left_out:,}; all of them are in {output}"
        texts += [f"{id} wrote{earlier if batch.left_out else ''}:", *batch.lines]
    match end:
        case MonitorEnd.DEADLINE:
            texts.append(f"The monitor of {id} has ended at its deadline ({time_of_day(until)}). {AGAIN}")
        case MonitorEnd.TOO_MANY:
            texts.append(f"The monitor of {id} has ended, because it sent too many notifications. {AGAIN}")
        case _:
            pass
    return texts


AGAIN = "The command runs on, and its end will be announced; monitor_background sends its lines again."
