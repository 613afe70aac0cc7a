"""One background command: its state, and requests to end it."""

import asyncio
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from harness.engine.background.output import size_of
from harness.events import CommandCreated, CommandEnd, CommandEnded
from harness.tools.background_commands import CommandRow, CommandState

if TYPE_CHECKING:
    from harness.processes.command import ChildProcess


@dataclass(slots=True, eq=False)
class BackgroundCommand:
    """Private to `BackgroundCommands`; changes while it runs."""

    id: str
    line: str
    output: Path
    time_s: float
    read_only: bool = False
    """It cannot change any file, where the system offers that."""
    state: CommandState = CommandState.WAITS
    since: float = 0.0
    """Unix time at which it came into this state; 0: before this run of the program."""
    pid: int | None = None
    child: "ChildProcess | None" = None
    ordered: CommandEnd | None = None
    """The requested end, if any."""
    tell: bool = True
    """Its end arrives for the model."""
    answered: bool = False
    """Its call has returned."""
    called: bool = False
    """Its turn at the gate has come."""
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
