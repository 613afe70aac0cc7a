"""The regular look at the commands that run in the background: time, size and silence."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from harness.base.clock import Clock
from harness.engine.background.command import BackgroundCommand
from harness.engine.background.output import end_of, size_of, waits_for_input
from harness.engine.subagents.admission import AdmissionRunner
from harness.events import CommandEnd, CommandQuiet
from harness.tools.background_commands import SHOWN_LINES


@dataclass(frozen=True, slots=True)
class CommandLimits:
    """What a command in the background may take."""

    time_s: float = 3_600.0
    """Seconds from its beginning, where its call names no other limit."""
    output_bytes: int = 256_000_000
    """A command that has written more is ended, and no more of it is kept."""
    quiet_s: float = 45.0
    """Seconds without output after which a command that seems to wait for input is reported."""
    look_every_s: float = 1.0
    tail_characters: int = 2_000
    """Of the end of the output, in reports of an end or a silence."""


class CommandMonitor:
    """One timer while anything runs, and none otherwise.

    A look compares the time of all that run. It opens the output of no more than the gate allows in one scan, those
    that write before those that are silent.
    """

    def __init__(
        self,
        commands: Mapping[str, BackgroundCommand],
        admission: AdmissionRunner,
        clock: Clock,
        limits: CommandLimits,
        seems_to_wait: Callable[[BackgroundCommand, CommandQuiet], None],
    ) -> None:
        """
        Args:
            commands: all of the session, by id; changed by their owner.
            admission: says whose output is looked at.
            seems_to_wait: called once per silence of a command that seems to wait for input.
        """
        self._commands, self._admission, self._clock, self._limits = commands, admission, clock, limits
        self._seems_to_wait = seems_to_wait
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
            if command.runs and now - command.since >= command.time_s:
                command.order(CommandEnd.TIMED_OUT)
        for id in self._admission.scan():
            watched = self._commands.get(id)
            if watched is not None and watched.runs:
                self._look_at_output(watched, now)

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
