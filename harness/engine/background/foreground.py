"""Commands that a call waits for, which can continue in the background: the same process, and all of its output.

wait_for ──▶ ends ──────────────────────▶ its result
          ├─ the user moves it ─────────▶ a background command, and the call ends
          └─ its time limit is up ──────▶ the same where that is on and there is room; otherwise it is ended
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from harness.base.clock import Clock
from harness.base.concurrency import race, shielded
from harness.engine.background.background_command import CommandLimits
from harness.events import MoveReason
from harness.processes import ProcessResult
from harness.tools.background_commands import CommandRow, MovedCommand, hangs
from harness.tools.output import CommandOutput

if TYPE_CHECKING:
    from harness.processes.command import PipedProcess


@dataclass(slots=True, eq=False)
class ForegroundCommand:
    """A command that a call waits for."""

    line: str
    call_id: str
    child: "PipedProcess"
    output: CommandOutput
    began: float
    """Unix time."""
    left: asyncio.Event = field(default_factory=asyncio.Event)
    """The call no longer waits for it."""
    moved: MovedCommand | None = None


class ForegroundCommands:
    """All commands that calls wait for now."""

    def __init__(
        self,
        clock: Clock,
        adopt: Callable[[ForegroundCommand, MoveReason], CommandRow],
        has_room: Callable[[], bool],
        limits: CommandLimits,
    ) -> None:
        """
        Args:
            adopt: makes a background command of one. Raises OSError where its output cannot be kept.
            has_room: whether one more may continue in the background without being asked for.
        """
        self._limits = limits
        self._clock, self._adopt, self._has_room = clock, adopt, has_room
        self._waited_for: list[ForegroundCommand] = []

    @property
    def movable(self) -> bool:
        """Whether a call waits for a running command."""
        return any(not one.child.ended for one in self._waited_for)

    async def wait_for(
        self, child: "PipedProcess", output: CommandOutput, line: str, call_id: str, time_s: float
    ) -> ProcessResult | MovedCommand:
        """Wait for the end of a command, for its time limit, or until it is moved.

        When the call is cancelled, the command is ended, unless it was moved before.
        """
        command = ForegroundCommand(line, call_id, child, output, self._clock.now())
        self._waited_for.append(command)
        try:
            await race(child.wait(), command.left.wait(), child.time_up(time_s))
            if command.moved is not None:
                return command.moved
            if child.exited:
                return await child.wait()
            return self._continued(command, time_s) or replace(await child.end(), timed_out=True)
        except asyncio.CancelledError:
            if command.moved is None:
                await shielded(child.end())
            raise
        finally:
            self._waited_for.remove(command)

    def move(self) -> tuple[str, ...]:
        """Let all of them continue in the background; returns their new ids. Raises OSError where output is lost."""
        running = [one for one in self._waited_for if one.moved is None and not one.child.exited]
        return tuple(self._move(command, MoveReason.ASKED).row.id for command in running)

    def _continued(self, command: ForegroundCommand, time_s: float) -> MovedCommand | None:
        """It continues after its time limit; None: it has to be ended."""
        if not self._limits.continues or (self._limits.ends_hanging and hangs(command.output.silent_s, time_s)):
            return None
        try:
            return self._move(command, MoveReason.TIME_LIMIT) if self._has_room() else None
        except OSError:
            return None  # what it writes cannot be kept

    def _move(self, command: ForegroundCommand, reason: MoveReason) -> MovedCommand:
        silent_s = command.output.silent_s
        command.moved = MovedCommand(self._adopt(command, reason), reason, silent_s)
        command.left.set()
        return command.moved
