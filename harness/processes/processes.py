"""The one owner of every child process of the program."""

import asyncio
import errno
import os
import subprocess
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from secrets import token_hex
from typing import IO, TYPE_CHECKING

from harness.processes.outcome import MARK, ExitCounts, ProcessEnd, ProcessLimits, ProcessResult, SurvivingProcess
from harness.sandbox import USUAL_TERMS, CommandTerms, ProfileName
from harness.sandbox.sandbox import Sandbox

if TYPE_CHECKING:
    from harness.processes.command import ChildProcess, PipedProcess, ProcessCommand, SessionLeader
    from harness.processes.memory_groups import MemoryGroup, MemoryGroups
    from harness.processes.watcher_link import WatcherLink


class Processes:
    """Starts the child processes of a program, and leaves none behind.

    Every command leads a session of its own. What belongs to it is found by `harness.processes.tree`, which is imported
    with the first command, because what it needs to look at processes is large. When the program crashes or is killed,
    a watcher ends them (`harness.processes.watcher_link` says what each system gets).

    Not started here, because they end in ways of their own: the user's external editor, which has the terminal, and the
    app behind `harness serve`, which ends itself when its lifeline does.
    """

    def __init__(
        self,
        limits: ProcessLimits | None = None,
        memory: "MemoryGroups | None" = None,
        sandbox: Sandbox | None = None,
    ) -> None:
        """
        Args:
            limits: those of commands that are given none.
            memory: limits the memory of commands that ask for `limit_memory`; None: nothing does.
            sandbox: holds commands to their profiles.
        """
        self.sandbox = sandbox or Sandbox()
        """Holds commands to their profiles."""
        self._limits = limits or ProcessLimits()
        self._memory = memory
        self._owner = f"{token_hex(8)}."
        """What the marks of all commands begin with."""
        self._program = os.getpid()
        self._watch: WatcherLink | None = None
        """None until there is something to watch over."""
        self._ends: Counter[ProcessEnd] = Counter()
        self._started = 0
        self._slowest_end_s = 0.0
        self._commands: dict[ProcessCommand, str] = {}
        """Those that run, and those that left something running, each with the subagent that started it, if any."""
        self._children: dict[ProcessCommand, ChildProcess] = {}
        self._handed_over: set[str] = set()
        """Marks of commands that were handed over."""
        self._in_a_hurry = asyncio.Event()
        self._closing: asyncio.Task[tuple[SurvivingProcess, ...]] | None = None

    async def run(
        self,
        command: Sequence[str],
        *,
        cwd: Path,
        environment: Mapping[str, str],
        sink: Callable[[bytes], None],
        limits: ProcessLimits | None = None,
        stdin: int | IO[bytes] = subprocess.DEVNULL,
        errors: Callable[[bytes], None] | None = None,
        profile: ProfileName = ProfileName.FREE,
    ) -> ProcessResult:
        """Run `command` to its end; `sink` gets stdout and stderr in one stream, in the order of writing.

        With `errors`, that gets stderr, and `sink` only stdout. `profile` is what it may read, write and reach.
        When the task is cancelled, CancelledError is passed on only after the whole tree is gone. Raises OSError when
        the command cannot be started, among them SandboxError, and ValueError when it holds a null byte.
        """
        limits = limits or self._limits
        piped = await self.pipe(
            command,
            cwd=cwd,
            environment=environment,
            sink=sink,
            limits=limits,
            stdin=stdin,
            errors=errors,
            profile=profile,
        )
        return await piped.within(limits.time_s)

    async def pipe(
        self,
        command: Sequence[str],
        *,
        cwd: Path,
        environment: Mapping[str, str],
        sink: Callable[[bytes], None],
        limits: ProcessLimits | None = None,
        stdin: int | IO[bytes] = subprocess.DEVNULL,
        errors: Callable[[bytes], None] | None = None,
        profile: ProfileName = ProfileName.FREE,
        terms: CommandTerms = USUAL_TERMS,
        limit_memory: bool = False,
        agent: str = "",
    ) -> "PipedProcess":
        """Start `command` and return when it runs; the rest is as for `run`. Its time limit is up to the caller.

        `terms` go with its profile. With `limit_memory` its memory is limited if this owner limits any. `agent` is the
        subagent that starts it; see `end_left`.
        """
        from harness.processes.command import PipedProcess

        sinks = (sink,) if errors is None else (sink, errors)
        pipes = [os.pipe() for _ in sinks]
        try:
            writing_ends = (writing for _, writing in pipes)
            running = await self._begin(
                command,
                cwd,
                environment,
                *writing_ends,
                stdin=stdin,
                profile=profile,
                terms=terms,
                limit_memory=limit_memory,
                agent=agent,
            )
        except BaseException:
            for reading, _ in pipes:
                os.close(reading)
            raise
        finally:
            for _, writing in pipes:
                os.close(writing)
        heard = [(reading, one) for (reading, _), one in zip(pipes, sinks, strict=True)]
        return PipedProcess(running, heard, limits or self._limits)

    async def start(
        self,
        command: Sequence[str],
        *,
        cwd: Path,
        environment: Mapping[str, str],
        output: Path,
        profile: ProfileName = ProfileName.FREE,
        terms: CommandTerms = USUAL_TERMS,
        limit_memory: bool = False,
    ) -> "ChildProcess":
        """Start `command` and return when it runs; stdout and stderr go into the file `output`, which only its owner
        can read. The rest is as for `pipe`, and it raises like `run`."""
        from harness.processes.command import ChildProcess

        output.parent.mkdir(parents=True, exist_ok=True)
        writing = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)
        try:
            running = await self._begin(
                command,
                cwd,
                environment,
                writing,
                profile=profile,
                terms=terms,
                limit_memory=limit_memory,
            )
        finally:
            os.close(writing)
        self._children[running] = ChildProcess(running, output, self._limits, self._let_go)
        return self._children[running]

    async def end_left(self, agent: str) -> tuple[SurvivingProcess, ...]:
        """End what the commands of a subagent have left running; returns those processes."""
        commands = [command for command, owner in self._commands.items() if owner == agent and command.left]
        if not commands:
            return ()
        from harness.processes.command import end_command
        from harness.processes.tree import look_at

        look_at([command.tree for command in commands])
        lived = tuple(dict.fromkeys(process for command in commands for process in command.tree.left_over()))
        await asyncio.wait({end_command(command, self._limits) for command in commands})
        return lived

    def marked(self, environment: Mapping[str, str]) -> dict[str, str]:
        """The environment for a short child process that other code starts and waits for, such as git: remaining
        processes are ended with ours, at our end or after a crash. Alone it is not worth a watcher."""
        return _marked(environment, f"{self._owner}others")

    @property
    def children(self) -> "tuple[ChildProcess, ...]":
        """Those that `start` began, that have not ended and are still ours."""
        return tuple(self._children.values())

    @property
    def counts(self) -> ExitCounts:
        """How the commands ended until now, those of `run` included."""
        ends = {how.name.lower(): self._ends[how] for how in ProcessEnd}
        return ExitCounts(self._started, **ends, slowest_end_s=self._slowest_end_s)

    async def aclose(self) -> tuple[SurvivingProcess, ...]:
        """Stop starting commands and end every running one: TERM to all at the same time, 3 s, KILL.

        Returns what could not be ended. Calling it again waits for the first call. Cancelled once, it finishes first
        and is cancelled then; cancelled twice, it kills at once.
        """
        if self._closing is None:
            self._closing = asyncio.create_task(self._close())
        cancelled: asyncio.CancelledError | None = None
        while not self._closing.done():
            try:
                await asyncio.wait({self._closing})
            except asyncio.CancelledError as error:
                if cancelled is not None:
                    self._in_a_hurry.set()
                cancelled = error
        if cancelled is not None:
            raise cancelled
        return self._closing.result()

    async def _begin(
        self,
        command: Sequence[str],
        cwd: Path,
        environment: Mapping[str, str],
        output: int,
        errors: int | None = None,
        *,
        stdin: int | IO[bytes] = subprocess.DEVNULL,
        profile: ProfileName,
        terms: CommandTerms = USUAL_TERMS,
        limit_memory: bool = False,
        agent: str = "",
    ) -> "ProcessCommand":
        from harness.processes.command import ProcessCommand, SessionLeader
        from harness.processes.tree import ProcessTree

        entered = await self.sandbox.enter(profile, command, cwd=cwd, environment=environment, terms=terms)
        mark, watch, memory = f"{self._owner}{self._started + 1}", self._watch_over(), None
        try:
            watch.expect(mark)
            entered.environment = _marked(entered.environment, mark)
            memory = self._memory.make() if self._memory and limit_memory else None
            leader = entered.start(partial(SessionLeader, entered, cwd=cwd, output=output, stdin=stdin, errors=errors))
            if memory:
                _limit_memory(leader, memory)
        except BaseException:
            watch.gone(mark)
            if memory:
                memory.remove()
            entered.close()
            raise
        watch.leads(mark, leader.process)
        self._started += 1
        tree = ProcessTree(mark, leader.pid, (leader.process,))
        running = ProcessCommand(leader, tree, mark, self._ended, self._in_a_hurry.is_set, memory)
        self._commands[running] = agent
        return running

    def _watch_over(self) -> "WatcherLink":
        from harness.processes.watcher_link import WatcherLink

        if self._closing is not None:
            raise OSError(errno.ECANCELED, "the program is ending and starts no more processes")
        if os.getpid() != self._program:
            raise OSError(errno.EPERM, "only the program itself starts processes, not a forked copy of it")
        self._watch = self._watch or WatcherLink(self._owner)
        return self._watch

    def _ended(self, command: "ProcessCommand", how: ProcessEnd | None, seconds: float) -> None:
        assert self._watch is not None
        if command.mark in self._handed_over:
            return
        if how is not None:
            self._children.pop(command, None)
            self._ends[how] += 1
        self._slowest_end_s = max(self._slowest_end_s, seconds)
        if command.left:
            self._watch.left(command.mark, command.pid, command.tree.members)
        else:
            self._commands.pop(command, None)
            self._watch.gone(command.mark)

    def _let_go(self, command: "ProcessCommand") -> None:
        assert self._watch is not None
        del self._children[command], self._commands[command]
        self._handed_over.add(command.mark)
        self._watch.free(command.mark)
        self._ends[ProcessEnd.HANDED_OVER] += 1

    async def _close(self) -> tuple[SurvivingProcess, ...]:
        if self._watch is None or os.getpid() != self._program:
            return ()
        from harness.processes.command import end_commands
        from harness.processes.tree import ProcessTree

        ending = {command.mark: command.ending for command in self._commands if command.ending}
        others = [command for command in self._commands if not command.ending]
        everything = ProcessTree(self._owner, spared=self._handed_over | ending.keys())
        await asyncio.wait({*ending.values(), end_commands(others, self._limits, self._in_a_hurry.is_set, everything)})
        self._watch.close()
        trees = (everything, *(command.tree for command in self._commands))
        return tuple(dict.fromkeys(process for tree in trees for process in tree.left_over()))


def _limit_memory(leader: "SessionLeader", memory: "MemoryGroup") -> None:
    try:
        memory.add(leader.process)
    except OSError as error:
        leader.abandon()
        raise OSError(error.errno, f"its memory cannot be limited (bash_memory): {error.strerror}") from error


def _marked(environment: Mapping[str, str], mark: str) -> dict[str, str]:
    return {**environment, MARK: " ".join((*environment.get(MARK, "").split(), mark))}
