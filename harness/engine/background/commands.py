"""Background commands of one session: admitted, watched, and reported exactly once.

    start ──▶ admission ──▶ waits its turn ──▶ runs, its output in a file ──▶ CommandEnded, and an arrival for the model
                                                └── time, size, silence: one look a second at all that run

Each command has a task of its own from admission to end. Requests to end it only set a flag, and its own task ends it,
so that there is exactly one end.
"""

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterable
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from harness.base.concurrency import race
from harness.base.errors import HarnessError
from harness.base.external_text import counted
from harness.engine.admission.runner import AdmissionEntry, AdmissionRunner, NotAdmitted
from harness.engine.background.background_command import (
    BackgroundCommand,
    CommandLimits,
    CommandMonitor,
    ended_text,
    handed_over_text,
    quiet_text,
)
from harness.engine.background.followed import FollowedCommands
from harness.engine.background.foreground import ForegroundCommand, ForegroundCommands
from harness.engine.background.line_monitors import LineMonitors
from harness.engine.background.output import cut_to, end_of, last_lines, read_on, size_of
from harness.engine.core import AgentCore
from harness.engine.inbox import Inbox
from harness.events import (
    ArrivalKind,
    Arrived,
    CommandBegun,
    CommandCreated,
    CommandEnd,
    CommandEnded,
    CommandHandedOver,
    CommandQuiet,
    Event,
    MovedToBackground,
    MoveReason,
    PollNoted,
    WorkEnd,
)
from harness.model import notices
from harness.permissions import commands_of
from harness.permissions.shell.resolution import base_name
from harness.permissions.shell.syntax import Unreadable
from harness.policies.admission.controller import AdmissionController
from harness.policies.background.sleep_poll import note_due, polls
from harness.processes import ProcessResult
from harness.sandbox import USUAL_TERMS, CommandTerms, ProfileName
from harness.tools.background_commands import (
    SHOWN_ENDS,
    SHOWN_LINES,
    CommandRow,
    CommandState,
    CommandText,
    NotMonitored,
    UnknownCommand,
    state_words,
)
from harness.tools.bash import shell_command, shell_environment
from harness.tools.tool import RESULT_CHARACTERS, shorten_line

if TYPE_CHECKING:
    from harness.processes.command import ChildProcess, PipedProcess

__all__ = ["BackgroundCommands", "CommandLimits", "NotHandedOver"]


class NotHandedOver(HarnessError):  # noqa: N818  it says what became of the request
    """The command cannot be handed over: it has not begun, or is over."""


class BackgroundCommands:
    """The background commands of one session. Implements `harness.tools.background_commands.Background`."""

    def __init__(
        self,
        core: AgentCore,
        controller: AdmissionController[AdmissionEntry],
        inbox: Inbox,
        limits: CommandLimits | None = None,
        others: Callable[[], tuple[str, ...]] = tuple,
    ) -> None:
        """
        Args:
            controller: decides how many run at once; for commands alone, because their ids are its keys.
            inbox: receives what the model is to read.
            others: ids of other background work, whose ends are announced as well.
        """
        self.admission = AdmissionRunner(controller, core.conversation.emit, core.clock, log=core.log)
        """Which of them run and which wait."""
        self._processes, self._inbox = core.shared.processes, inbox
        self._emit, self._clock = core.conversation.emit, core.clock
        self._workspace, self._outputs = core.settings.workspace, core.outputs
        self._limits = limits or CommandLimits()
        self._masking = core.conversation.masking
        self._followed = FollowedCommands(core.conversation, self._mask)
        self._commands: dict[str, BackgroundCommand] = {}
        self._others = others
        self._polled = 0
        self.continues_at_limit = self._limits.continues
        """A command in the foreground that reaches its time limit continues in the background."""

    @cached_property
    def foreground(self) -> ForegroundCommands:
        """Those that calls wait for."""
        return ForegroundCommands(self._clock, self._adopt, self._has_room, self._limits)

    @cached_property
    def _lines(self) -> LineMonitors:
        return LineMonitors(self._inbox, self._emit, self._clock, self._mask)

    @cached_property
    def _watch(self) -> CommandMonitor:
        see = (self._report, self._look)
        return CommandMonitor(self._commands, self.admission, self._clock, self._limits, *see)

    def _look(self, now: float) -> None:
        self._lines.look(now)
        self._followed.look()

    # ── what the tools and the user do ────────────────────────────────────────────────────────

    async def start(
        self,
        line: str,
        call_id: str,
        time_s: float | None = None,
        *,
        profile: ProfileName = ProfileName.FREE,
        terms: CommandTerms = USUAL_TERMS,
    ) -> CommandRow:
        """Begin a command, or let it wait for its turn; returns as soon as it is known which.

        Args:
            line: the command line, for bash.
            call_id: the call that asks for it.
            time_s: seconds it may take from its beginning; None: as set for the session.
            profile: what it may read, write and reach.
            terms: what goes with that.

        If the call is cancelled, so is the command.
        """
        command = self._created(line, call_id, self._limits.time_s if time_s is None else time_s)
        begin = partial(
            self._processes.start,
            shell_command(line, self._workspace),
            cwd=self._workspace,
            environment=shell_environment(os.environ, self._workspace, profile),
            output=command.output,
            profile=profile,
            terms=terms,
            limit_memory=True,
        )
        command.task = asyncio.create_task(self._carry(command, begin), name=f"command {command.id}")
        try:
            await asyncio.sleep(0)  # the task asks for admission before it waits for anything
            if command.called or command.over:
                await command.settled.wait()
        except asyncio.CancelledError:
            command.notify = False
            self._order(command, CommandEnd.STOPPED)
            raise
        command.answered = True
        return self._row(command)

    @property
    def rows(self) -> tuple[CommandRow, ...]:
        """All commands of the session, the oldest first."""
        positions = self._positions()
        return tuple(command.row(positions.get(command.id, 0)) for command in self._commands.values())

    @property
    def ids(self) -> tuple[str, ...]:
        """Their ids, the oldest first."""
        return tuple(self._commands)

    def read(
        self, id: str, *, lines: int | None = None, from_byte: int | None = None, most: int = RESULT_CHARACTERS
    ) -> CommandText:
        """A part of the output, at most `most` characters of it: from a byte on, or the last `lines`.

        Raises `UnknownCommand`; OSError where the file cannot be read.
        """
        command = self._known(id)
        if command.pid is None:  # it has not begun, or never will
            return CommandText(self._row(command), "", 0, 0)
        self._mask(command)
        if from_byte is None:
            piece = last_lines(command.output, lines or SHOWN_LINES, most)
        else:
            piece = read_on(command.output, min(from_byte, size_of(command.output)), most)
        return CommandText(self._row(command), piece.text, piece.start, piece.end)

    async def stop(self, id: str, *, notify: bool = True) -> CommandRow:
        """End a command and all its children, and return when they are gone. One that is over stays as it is.

        With `notify` the model is notified of its end. If the call is cancelled, the command still ends.
        Raises `UnknownCommand`.
        """
        command = self._known(id)
        if command.task is not None and not command.over:
            if command.ordered is None:
                command.notify = notify
            self._order(command, CommandEnd.STOPPED)
            try:
                await asyncio.wait({command.task})
            except asyncio.CancelledError:
                command.notify = True
                raise
        return self._row(command)

    def monitor(self, id: str, words: tuple[str, ...] = (), time_s: float | None = None) -> float:
        """Send the lines that a command writes from now on to the model; returns the deadline in Unix time.

        Args:
            words: only lines with one of these texts; empty: all lines.
            time_s: seconds until the deadline; None: ten minutes.

        Raises `UnknownCommand`, and `NotMonitored` for one that does not run or when too many are monitored.
        """
        command = self._known(id)
        if not command.runs:
            raise NotMonitored(f"{id} does not run: {state_words(self._row(command))}.")
        if self._lines.full(command):
            others = ", ".join(self._lines.commands)
            raise NotMonitored(f"{id} cannot be monitored as well; stop the monitor of one of {others} first.")
        return self._lines.start(command, words, time_s)

    def end_monitor(self, id: str) -> bool:
        """Send no more lines of a command. False: it was not monitored. Raises `UnknownCommand`."""
        return self._lines.stop(self._known(id))

    def follow(self, id: str) -> bool:
        """Report the output of a running command once a second, until it ends or the next turn begins; called again,
        end that. Returns whether it is followed now. Raises `UnknownCommand`, and `NotMonitored` where it does not run.
        """
        command = self._known(id)
        if not command.runs:
            raise NotMonitored(
                f"{id} does not run: {state_words(self._row(command))}; /background {id} shows its output."
            )
        return self._followed.toggle(command)

    def poll_note(self, line: str, call_id: str) -> str:
        """What a command line that ran in the foreground gets to read behind its result; empty: nothing.

        That is a note for one that only slept and looked while background work runs.
        """
        running = (*(command.id for command in self._commands.values() if command.unended), *self._others())
        if not running or not polls(commands_in(line)):
            return ""
        self._polled += 1
        if not note_due(self._polled):
            return ""
        self._emit(PollNoted(call_id, running))
        return notices.poll_note(running)

    def hand_over(self, id: str) -> CommandRow:
        """Detach a command: it outlives the program and has no time limit.

        Raises `UnknownCommand`, and `NotHandedOver` where it does not run.
        """
        from harness.processes.command import PipedProcess

        command = self._known(id)
        if not command.runs or command.child is None or command.child.ended or command.ordered is not None:
            raise NotHandedOver(f"{id} does not run, so that it cannot be handed over.")
        if isinstance(command.child, PipedProcess):
            raise NotHandedOver(
                f"{id} began in the foreground, so its output goes through this program, which it cannot outlive."
            )
        command.child.hand_over()
        event = CommandHandedOver(id, command.child.pid)
        self._lines.close(command, announced=True)
        self._followed.close(command)
        self._mask(command)
        command.let_go(self._clock.now())
        self._watch.rest()
        self._report(command, event)
        return self._row(command)

    # ── the session ─────────────────────────────────────────────────────────────────────────────

    def recall(self, events: Iterable[Event]) -> None:
        """Go on where a journal ends. To be called once, after `Inbox.recall` and before anything is started.

        Commands that had not ended are reported as lost, and ends that were not delivered arrive now.
        """
        untold: dict[str, CommandEnded | CommandHandedOver] = {}
        for event in events:
            match event:
                case CommandCreated(command=id):
                    self._commands[id] = BackgroundCommand.recalled(event)
                case CommandBegun(command=id) if command := self._commands.get(id):
                    command.begun(event.pid, at=0.0)
                case CommandHandedOver(command=id) if command := self._commands.get(id):
                    command.let_go(at=0.0)
                    untold[id] = event
                case CommandEnded(command=id) if command := self._commands.get(id):
                    command.close(event, at=0.0)
                    if not event.reported:
                        untold[id] = event
                case Arrived(kind=ArrivalKind.COMMAND_ENDED, source=source):
                    untold.pop(source, None)
        for id, event in untold.items():
            self._notify(self._commands[id], event)
        for command in self._commands.values():
            if not command.over:
                self._close(command, CommandEnd.LOST, None)

    async def aclose(self) -> None:
        """End all that runs and take back all that waits; returns when the last process is gone.

        Call it before admission and processes are closed, while events are still recorded. The ends arrive for the
        model when the session is resumed.
        """
        tasks = {command.task for command in self._commands.values() if command.task and not command.task.done()}
        for command in self._commands.values():
            if not command.over:
                self._order(command, CommandEnd.SHUT_DOWN)
        if self._commands:
            await self._watch.aclose()
        if tasks:
            await asyncio.wait(tasks)

    # ── one command ─────────────────────────────────────────────────────────────────────────────

    def _created(self, line: str, call_id: str, time_s: float, output: Path | None = None) -> BackgroundCommand:
        id = f"b{len(self._commands) + 1}"
        output = output or self._outputs / f"{id}.out"
        command = BackgroundCommand(id, line, output, time_s, since=self._clock.now())
        self._commands[id] = command
        self._emit(CommandCreated(id, call_id, line, str(command.output), time_s))
        return command

    def _has_room(self) -> bool:
        """Whether a command in the foreground that reaches its time limit may continue."""
        moved = sum(command.moved and not command.over for command in self._commands.values())
        status = self.admission.status
        return len(status.running) + moved < status.limits.max_concurrent

    def _adopt(self, foreground: ForegroundCommand, reason: MoveReason) -> CommandRow:
        """Make a background command of one that a call waits for: it runs on. Raises OSError."""
        silent_s, child = foreground.output.silent_s, foreground.child
        output = foreground.output.to_file(self._limits.output_bytes)
        command = self._created(foreground.line, foreground.call_id, self._limits.time_s, output)
        command.moved = command.called = command.answered = True
        command.child = child
        command.begun(child.pid, foreground.began)
        self._emit(CommandBegun(command.id, child.pid))
        self._emit(MovedToBackground(foreground.call_id, command.id, reason, silent_s))
        self._watch.keep()
        command.task = asyncio.create_task(self._carry_moved(command, foreground), name=f"command {command.id}")
        return self._row(command)

    async def _carry_moved(self, command: BackgroundCommand, foreground: ForegroundCommand) -> None:
        finished = await self._watched(command, foreground.child)
        foreground.output.finish()
        self._close(command, command.ordered or CommandEnd.EXITED, finished, command.reason)

    async def _carry(self, command: BackgroundCommand, begin: Callable[[], Awaitable["ChildProcess"]]) -> None:
        """From admission to the end of the last process."""
        try:
            finished = await self.admission.run(
                command.id, partial(self._run, command, begin), partial(_judged, command)
            )
        except NotAdmitted as error:
            self._close(command, command.ordered or CommandEnd.NOT_STARTED, None, "" if command.ordered else str(error))
        except (OSError, ValueError) as error:  # no such folder, no room for a process; a null byte in the line
            self._close(command, CommandEnd.NOT_STARTED, None, str(error))
        else:
            if finished is not None:
                self._close(command, command.ordered or CommandEnd.EXITED, finished, command.reason)
        finally:
            self.admission.end(command.id)

    async def _run(
        self, command: BackgroundCommand, begin: Callable[[], Awaitable["ChildProcess"]]
    ) -> ProcessResult | None:
        """The whole life of its processes; None: it was handed over."""
        command.called = True
        child = command.child = await begin()
        command.begun(child.pid, self._clock.now())
        self._emit(CommandBegun(command.id, child.pid))
        self._watch.keep()
        return await self._watched(command, child)

    async def _watched(self, command: BackgroundCommand, child: "ChildProcess | PipedProcess") -> ProcessResult | None:
        """Its end, and that of its processes; None: it was handed over."""
        await race(child.wait(), command.changed.wait())
        if command.state is CommandState.HANDED_OVER:
            return None
        if not child.ended:
            return await child.end()
        command.ordered = None  # it was faster
        return await self._without_children(command, child, await child.wait())

    async def _without_children(
        self, command: BackgroundCommand, child: "ChildProcess | PipedProcess", finished: ProcessResult
    ) -> ProcessResult:
        """What a command leaves behind ends with it: its slot is free only then."""
        if not finished.left:
            return finished
        command.reason = f"{counted(len(finished.left), 'process', 'processes')} of it lived on and had to be ended"
        return await child.end()

    def _order(self, command: BackgroundCommand, end: CommandEnd) -> None:
        command.order(end)
        if not command.called:
            self.admission.end(command.id)

    def _close(
        self, command: BackgroundCommand, end: CommandEnd, finished: ProcessResult | None, reason: str = ""
    ) -> None:
        """It is over: say so, and let the model know."""
        if finished is not None:
            reason = "; ".join(filter(None, (finished.not_begun, finished.memory_note, finished.denials_note, reason)))
        now, limits = self._clock.now(), self._limits
        if end is CommandEnd.NOT_STARTED and not command.answered:
            command.notify = False
        if end is CommandEnd.TOO_LONG:
            cut_to(command.output, limits.output_bytes)
        self._mask(command)
        event = CommandEnded(
            command.id,
            end,
            finished.exit_code if finished else None,
            now - command.since if command.runs and command.task else 0.0,
            size_of(command.output),
            end_of(command.output, SHOWN_LINES, limits.tail_characters),
            reason,
            forced=finished is not None and finished.forced,
            left=tuple(f"{process.name} ({process.pid})" for process in finished.left) if finished else (),
            reported=not command.notify,
        )
        self._lines.close(command, announced=command.notify)
        self._followed.close(command)
        command.close(event, now)
        self._watch.rest()
        self._emit(event)
        if command.notify:
            self._notify(command, event)

    def _mask(self, command: BackgroundCommand) -> None:
        command.masked_to = self._masking.file(command.output, command.masked_to)

    def _report(self, command: BackgroundCommand, event: CommandHandedOver | CommandQuiet) -> None:
        self._emit(event)
        self._notify(command, event)

    def _notify(self, command: BackgroundCommand, event: CommandEnded | CommandHandedOver | CommandQuiet) -> None:
        """Let the model know, once the event is kept."""
        kind, output = ArrivalKind.COMMAND_ENDED, command.output
        match event:
            case CommandEnded():
                text = ended_text(event, command.line, output, command.time_s, self._limits.output_bytes)
            case CommandHandedOver(pid=pid):
                text = handed_over_text(command.id, command.line, pid, output)
            case CommandQuiet():
                kind, text = ArrivalKind.COMMAND_QUIET, quiet_text(event, command.line)
        self._inbox.arrive(kind, command.id, text)

    # ── what is known ───────────────────────────────────────────────────────────────────────────

    def _known(self, id: str) -> BackgroundCommand:
        if (command := self._commands.get(id)) is not None:
            return command
        ongoing = [f"{one.id} ({shorten_line(one.line, 40)})" for one in self._commands.values() if one.unended]
        over = [one.id for one in self._commands.values() if one.over]
        parts = [f"There is no command {id!r} in the background", f"running or queued: {', '.join(ongoing) or 'none'}"]
        parts += [f"over: {', '.join(over[-SHOWN_ENDS:])}"] if over else []
        raise UnknownCommand("; ".join(parts) + ".")

    def _positions(self) -> dict[str, int]:
        status = self.admission.status
        return {key: position for position, key in enumerate((*status.queued, *status.deferred))}

    def _row(self, command: BackgroundCommand) -> CommandRow:
        return command.row(self._positions().get(command.id, 0))


def commands_in(line: str) -> tuple[tuple[str, ...], ...]:
    """The commands of a line as words, the programs without their folders; none where it cannot be read."""
    try:
        return tuple((base_name(words[0]), *words[1:]) for words in commands_of(line))
    except Unreadable:
        return ()


def _judged(command: BackgroundCommand, finished: ProcessResult | None) -> WorkEnd:
    if command.ordered in (CommandEnd.STOPPED, CommandEnd.SHUT_DOWN):
        return WorkEnd.CANCELLED
    return WorkEnd.SUCCEEDED if finished is None or finished.exit_code == 0 else WorkEnd.FAILED
