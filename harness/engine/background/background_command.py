"""One background command: its state, requests to end it, what the model reads of it, and the look at all that run."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from harness.base.clock import Clock
from harness.engine.admission.runner import AdmissionRunner
from harness.engine.background.output import end_of, size_of, waits_for_input
from harness.events import CommandCreated, CommandEnd, CommandEnded, CommandQuiet
from harness.tools.background_commands import SHOWN_LINES, CommandRow, CommandState

if TYPE_CHECKING:
    from harness.processes.command import ChildProcess, PipedProcess


@dataclass(slots=True, eq=False)
class BackgroundCommand:
    """Private to `BackgroundCommands`; changes while it runs."""

    id: str
    line: str
    output: Path
    time_s: float
    state: CommandState = CommandState.WAITS
    since: float = 0.0
    """Unix time at which it came into this state; 0: before this run of the program."""
    pid: int | None = None
    child: "ChildProcess | PipedProcess | None" = None
    ordered: CommandEnd | None = None
    """The requested end, if any."""
    notify: bool = True
    """Its end arrives for the model."""
    answered: bool = False
    """Its call has returned."""
    moved: bool = False
    """It began in the foreground: it has no slot, and its output goes through this program."""
    called: bool = False
    """Its turn has come."""
    settled: asyncio.Event = field(default_factory=asyncio.Event)
    """It has begun, or never will."""
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    """An end was requested, or it was handed over."""
    task: "asyncio.Task[None] | None" = None
    masked_to: int = 0
    """Bytes of output that hold no known key."""
    size: int = 0
    """Bytes of output at the last look."""
    grew_at: float = 0.0
    """Unix time of the look that found it larger than the one before."""
    quiet: bool = False
    """Its silence was reported."""
    end: CommandEnd | None = None
    exit_code: int | None = None
    reason: str = ""

    @classmethod
    def recalled(cls, event: CommandCreated) -> "BackgroundCommand":
        """The command of an earlier run of the program."""
        return cls(event.command, event.line, Path(event.output), event.time_s)

    def begun(self, pid: int, at: float) -> None:
        """It runs."""
        self.pid, self.state, self.since, self.grew_at = pid, CommandState.RUNS, at, at
        self.settled.set()

    def let_go(self, at: float) -> None:
        """It was handed over."""
        self.state, self.since, self.quiet, self.child = CommandState.HANDED_OVER, at, False, None
        self.changed.set()

    def close(self, event: CommandEnded, at: float) -> None:
        """It is over."""
        self.state, self.since, self.quiet, self.child = CommandState.ENDED, at, False, None
        self.end, self.exit_code, self.reason, self.size = event.end, event.exit_code, event.reason, event.output_bytes
        self.settled.set()

    def order(self, end: CommandEnd) -> None:
        """It is to end now. The first order counts."""
        self.ordered = self.ordered or end
        self.changed.set()

    @property
    def runs(self) -> bool:
        """It has begun, is not over, and is ours."""
        return self.state is CommandState.RUNS

    @property
    def unended(self) -> bool:
        """Its end will be announced."""
        return self.state in (CommandState.WAITS, CommandState.RUNS)

    @property
    def over(self) -> bool:
        """Nothing more comes of it."""
        return self.state in (CommandState.ENDED, CommandState.HANDED_OVER)

    def row(self, before: int = 0) -> CommandRow:
        """Its row; `before` is how many of those that wait begin earlier."""
        size = self.size if self.end else size_of(self.output)
        return CommandRow(
            self.id,
            self.line,
            self.state,
            self.since,
            self.output,
            self.pid,
            size,
            self.end,
            self.exit_code,
            self.quiet,
            before if self.state is CommandState.WAITS else 0,
            self.reason,
            0.0 if self.state is CommandState.HANDED_OVER else self.time_s,
        )


# ── what the model reads of it ──────────────────────────────────────────────────────────────────────


LINE_CHARACTERS = 200
"""Of a command line, as far as it is repeated."""


def ended_text(event: CommandEnded, line: str, output: Path, time_s: float, most_bytes: int) -> str:
    """How a command ended, with the end of its output."""
    reason = f" ({event.reason})" if event.reason else ""
    parts = [f"{event.command} {_how(event, time_s, most_bytes)}{reason}: {_short(line)}"]
    if event.left:
        parts.append(f"These of its processes could not be ended: {', '.join(event.left)}.")
    if event.end is not CommandEnd.NOT_STARTED:
        parts.append(_written(event.output_bytes, event.tail, output))
    return "\n".join(parts)


def quiet_text(event: CommandQuiet, line: str) -> str:
    """A command may be waiting for an answer that it can never get."""
    return (
        f"{event.command} has written nothing for {event.quiet_s:.0f} s and seems to wait for an answer: "
        f"{_short(line)}\n"
        "It cannot get one, because its stdin is empty. If so, end it with kill_background and start it with "
        f"options that ask no questions. The end of its output:\n{event.tail.rstrip()}"
    )


def handed_over_text(command: str, line: str, pid: int, output: Path) -> str:
    """A command was handed over."""
    return (
        f"{command} was handed over by the user and keeps running (process {pid}): {_short(line)}\n"
        f"It has no time limit now and outlives this session, and you will not be notified when it ends. "
        f"Its output is in {output}."
    )


def _how(event: CommandEnded, time_s: float, most_bytes: int) -> str:
    after = f" after {event.duration_s:.1f} s" if event.duration_s else ""
    match event.end:
        case CommandEnd.EXITED if event.exit_code is not None and event.exit_code < 0:
            return f"was killed by signal {-event.exit_code}{after}"
        case CommandEnd.EXITED:
            return f"ended with exit code {event.exit_code}{after}"
        case CommandEnd.TIMED_OUT:
            return f"was ended, because its time limit of {time_s:g} s was up"
        case CommandEnd.TOO_LONG:
            return f"was ended{after}, because it wrote more than {most_bytes:,} bytes"
        case CommandEnd.STOPPED:
            return f"was stopped{after}"
        case CommandEnd.SHUT_DOWN:
            return f"was ended{after}, because the session ended"
        case CommandEnd.LOST:
            return "is lost: the program that watched it ended without warning; what became of it is not known"
        case CommandEnd.NOT_STARTED:
            return "was not started"


def _written(size: int, tail: str, output: Path) -> str:
    if not size:
        return "It wrote nothing."
    return f"Its output, {size:,} bytes, is in {output}. The end of it:\n{tail.rstrip()}"


def _short(line: str) -> str:
    first, _, rest = line.strip().partition("\n")
    return first if len(first) <= LINE_CHARACTERS and not rest else first[:LINE_CHARACTERS].rstrip() + " …"


# ── the regular look at all that run ────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class CommandLimits:
    """What a command in the background may take."""

    time_s: float = 3_600.0
    """Seconds from its beginning, where its call names no other limit."""
    output_bytes: int = 256_000_000
    """A command that has written more is ended, and no more of it is kept."""
    quiet_s: float = 45.0
    """Seconds without output after which a command that seems to wait for input is reported."""
    continues: bool = False
    """A command in the foreground that reaches its time limit continues in the background."""
    ends_hanging: bool = False
    """One that then seems to hang is ended instead, because there is no user who could end it."""
    look_every_s: float = 1.0
    tail_characters: int = 2_000
    """Of the end of the output, in reports of an end or a silence."""


class CommandMonitor:
    """One timer while anything runs, and none otherwise.

    A look compares the time of all that run. It opens the output of no more than admission allows in one scan, those
    that write before those that are silent.
    """

    def __init__(
        self,
        commands: Mapping[str, BackgroundCommand],
        admission: AdmissionRunner,
        clock: Clock,
        limits: CommandLimits,
        seems_to_wait: Callable[[BackgroundCommand, CommandQuiet], None],
        each_look: Callable[[float], None],
    ) -> None:
        """
        Args:
            commands: all of the session, by id; changed by their owner.
            admission: says whose output is looked at.
            seems_to_wait: called once per silence of a command that seems to wait for input.
            each_look: called at each look, with its Unix time.
        """
        self._commands, self._admission, self._clock, self._limits = commands, admission, clock, limits
        self._seems_to_wait, self._each_look = seems_to_wait, each_look
        self._looking: asyncio.Task[None] | None = None

    def keep(self) -> None:
        """A command runs now."""
        if self._looking is None or self._looking.done() or self._looking.cancelling():
            self._looking = asyncio.create_task(self._look_again_and_again(), name="look at commands")

    def rest(self) -> None:
        """A command is over; the timer goes with the last one."""
        if self._looking is not None and not any(command.runs for command in self._commands.values()):
            self._looking.cancel()

    async def aclose(self) -> None:
        """Look no more."""
        if self._looking is not None:
            self._looking.cancel()
            await asyncio.wait({self._looking})

    async def _look_again_and_again(self) -> None:
        while True:
            await self._clock.sleep(self._limits.look_every_s)
            self._look(self._clock.now())

    def _look(self, now: float) -> None:
        for command in self._commands.values():
            held_s = command.child.held_s if command.child else 0.0
            if command.runs and now - command.since - held_s >= command.time_s:
                command.order(CommandEnd.TIMED_OUT)
        moved = (command.id for command in self._commands.values() if command.moved)
        for id in (*self._admission.scan(), *moved):
            watched = self._commands.get(id)
            if watched is not None and watched.runs:
                self._look_at_output(watched, now)
        self._each_look(now)

    def _look_at_output(self, command: BackgroundCommand, now: float) -> None:
        size = size_of(command.output)
        silent_s = now - command.grew_at
        if size != command.size:
            command.size, command.grew_at, command.quiet = size, now, False
            self._admission.active(command.id)
            if size > self._limits.output_bytes:
                command.order(CommandEnd.TOO_LONG)
        elif not command.quiet and silent_s >= self._limits.quiet_s:
            tail = end_of(command.output, SHOWN_LINES, self._limits.tail_characters)
            if waits_for_input(tail):
                command.quiet = True
                self._seems_to_wait(command, CommandQuiet(command.id, silent_s, tail))
