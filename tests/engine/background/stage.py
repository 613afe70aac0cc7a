"""One session's background for tests: real processes, real files, and a clock that the test moves."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import psutil

from harness.base.errors import JournalError
from harness.base.secrets import Masking
from harness.engine.admission.runner import AdmissionEntry, AdmissionRunner
from harness.engine.background.commands import BackgroundCommands, CommandLimits
from harness.engine.conversation import Conversation
from harness.engine.inbox import Inbox
from harness.events import (
    AdmissionPool,
    CommandEnded,
    Event,
)
from harness.policies.admission.controller import AdmissionController, AdmissionLimits
from harness.processes import Processes, ProcessLimits
from harness.processes.memory_groups import MemoryGroups
from harness.sandbox import ProfileName
from harness.tools.background_commands import background_tools
from harness.tools.bash import bash_tool
from harness.tools.tool import ToolContext, ToolResult
from harness.tools.workspace import Workspace
from tests.engine.cores import core_in
from tests.engine.hand_clock import HandClock, quiet

E = TypeVar("E", bound=Event)
SHORT = ProcessLimits(term_grace_s=0.3, kill_grace_s=2, pipe_grace_s=0.1)


@dataclass
class Stage:
    """One session's background with all that it needs, and everything it says."""

    folder: Path
    clock: HandClock
    events: list[Event]
    processes: Processes
    runner: AdmissionRunner
    incoming: Inbox
    commands: BackgroundCommands
    conversation: Conversation
    calls: int = 0
    profile: ProfileName = ProfileName.FREE
    """Of the commands that `call` starts."""

    def of(self, kind: type[E]) -> list[E]:
        """The events of one kind."""
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def end(self) -> CommandEnded:
        """The only reported end."""
        (end,) = self.of(CommandEnded)
        return end

    @property
    def told(self) -> list[str]:
        """The results that wait for the model."""
        return [arrived.text for arrived in self.incoming.waiting]

    async def until(self, condition: Callable[[], object]) -> None:
        """Wait in real time for what another process does."""
        async with asyncio.timeout(60):
            while not condition():  # noqa: ASYNC110  another process has no event for us
                await asyncio.sleep(0.01)

    async def pass_by(self, seconds: int) -> None:
        """Let time pass, second by second."""
        await quiet()
        for _ in range(seconds):
            self.clock.move(1)
            await quiet()

    async def say(self, name: str, text: str = "go\n") -> None:
        """Release the command that reads from the pipe of this name."""
        await asyncio.to_thread((self.folder / name).write_text, text)

    async def over(self, *ids: str) -> None:
        """Wait until these commands have ended."""
        await self.until(lambda: {event.command for event in self.of(CommandEnded)} >= set(ids))

    def sleeping(self, seconds: str) -> list[int]:
        """The processes `sleep` that take so long; in a sandbox they know themselves by other numbers."""
        found = []
        for process in psutil.process_iter():
            with suppress(psutil.Error):
                if process.cmdline() == ["sleep", seconds]:
                    found.append(process.pid)
        return found

    async def call(self, name: str, **arguments: object) -> ToolResult:
        """Call one of the tools as the model does."""
        tools = (bash_tool(background=self.commands), *background_tools(self.commands))
        (tool,) = [tool for tool in tools if tool.name == name]
        self.calls += 1
        context = ToolContext(
            Workspace(self.folder / "workspace"), self.folder / "outputs", f"toolu_{self.calls}", self.processes
        )
        context = replace(context, profile=self.profile)
        return await tool.run(context, tool.parse(arguments))


def stage(
    folder: Path,
    *,
    concurrent: int = 5,
    queue: int = 20,
    watch_cap: int = 50,
    limits: CommandLimits | None = None,
    disk_is_full: Callable[[Event], bool] = lambda event: False,
    memory: MemoryGroups | None = None,
    masking: Masking | None = None,
) -> Stage:
    """A session. The journal of an earlier one can be given to `commands.recall`."""
    (folder / "workspace").mkdir(exist_ok=True)
    clock, events = HandClock(), list[Event]()

    def record(event: Event) -> None:
        if disk_is_full(event):
            raise JournalError("the journal cannot be written: the disk is full")
        events.append(event)

    controller: AdmissionController[AdmissionEntry] = AdmissionController(
        AdmissionLimits(max_concurrent=concurrent, max_queue_size=queue, watch_cap=watch_cap), AdmissionPool.COMMANDS
    )
    processes = Processes(SHORT, memory)
    conversation = Conversation(record, masking=masking)
    core = core_in(folder, conversation, clock=clock, processes=processes)
    incoming = Inbox(events.append)
    commands = BackgroundCommands(core, controller, incoming, limits)
    return Stage(folder, clock, events, processes, commands.admission, incoming, commands, conversation)


async def close(here: Stage) -> None:
    """As the session ends."""
    await here.commands.aclose()
    assert here.runner.scan() == ()
    await here.runner.aclose()
    assert await here.processes.aclose() == ()


def lives(pid: int) -> bool:
    """Whether a process is there and more than a zombie."""
    with suppress(psutil.NoSuchProcess):
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    return False
