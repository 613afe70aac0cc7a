"""The subagents and background commands of one conversation, and what arrives from them.

Subagents and commands are admitted separately, so that subagents that wait for commands never hold up each other.
Results that no call waits for arrive in one inbox.
"""

import asyncio
from collections.abc import Iterable
from contextlib import AsyncExitStack, suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from harness.base.errors import HarnessError
from harness.engine.admission.runner import AdmissionStatus
from harness.engine.background.commands import BackgroundCommands
from harness.engine.core import AgentCore
from harness.engine.inbox import Inbox
from harness.engine.subagents.fan_out import FanOutQuestions
from harness.engine.subagents.subagents import Subagents
from harness.events import Block, Event, Json, Notice, Origin
from harness.model.notices import arrivals_text
from harness.tools.background_commands import CommandState
from harness.tools.output import fitted
from harness.tools.tool import ToolError

if TYPE_CHECKING:
    from harness.engine.schedule.runner import ScheduleRunner
    from harness.engine.team.team import Team

AT_WORK = (CommandState.WAITS, CommandState.RUNS)


class BackgroundWork:
    """All of it, for the agent of a session."""

    def __init__(
        self,
        core: AgentCore,
        inbox: Inbox,
        fan_out: FanOutQuestions,
        subagents: Subagents,
        commands: BackgroundCommands,
    ) -> None:
        self._core = core
        self._conversation = core.conversation
        self.inbox = inbox
        """Results that wait for the model."""
        self.fan_out = fan_out
        self.subagents = subagents
        self.commands = commands
        self._processes = core.shared.processes
        self._outputs = core.outputs
        self._schedule: ScheduleRunner | None = None
        self._team: Team | None = None

    def deliver(self, *, scheduled: bool = False) -> None:
        """Add the waiting results to the history, in one message. No-op if there are none.

        `scheduled`: with the oldest scheduled prompt, which begins a turn of its own.
        """
        if not (arrived := self.inbox.next(scheduled=scheduled)):
            return
        texts = fitted([one.text for one in arrived], lambda at: self._outputs / f"arrived-{arrived[at].number}.txt")
        shortened = [replace(one, text=text) for one, text in zip(arrived, texts, strict=True)]
        block: Block = {"type": "text", "text": arrivals_text(shortened)}
        self._conversation.add("user", (block,), Origin.ARRIVAL)
        self.inbox.deliver(arrived)

    @property
    def schedule(self) -> "ScheduleRunner":
        """The scheduled prompts, made on first use."""
        if self._schedule is None:
            from harness.engine.schedule.runner import schedule_of

            self._schedule = schedule_of(self._core, self.inbox)
        return self._schedule

    @property
    def has_team(self) -> bool:
        """The session may have members: the setting is on, or it has had some."""
        return self._core.settings.team or self._conversation.state.team

    @property
    def members_claim(self) -> bool:
        """Members claim ready tasks of the board."""
        claims = self._team.claims if self._team is not None else None
        return claims is not None and claims.active

    @property
    def team(self) -> "Team":
        """The members of the session, made on first use. Raises HarnessError where it may have none."""
        if self._team is None:
            if not self.has_team:
                raise HarnessError("This session has no team; start it with --team.")
            from harness.engine.team.team import team_of

            self._team = team_of(self._core, self.subagents, self.inbox)
        return self._team

    def on_event(self, event: Event) -> None:
        if self._team is not None:
            self._team.on_event(event)
        if self._schedule is not None:
            self._schedule.on_event(event)

    @property
    def listens(self) -> bool:
        """Something may arrive while no turn runs."""
        return self.busy or (self._schedule is not None and self._schedule.can_fire)

    @property
    def scheduling(self) -> bool:
        """The schedule is looked at, so that `listens` may become true."""
        return self._schedule is not None and self._schedule.running

    @property
    def agents_work(self) -> bool:
        """Subagents work without a call that waits for them, or members are about to."""
        claims = self._team.claims if self._team is not None else None
        return bool(self.subagents.running) or (claims is not None and claims.busy)

    @property
    def busy(self) -> bool:
        """Something runs that no call waits for."""
        return self.agents_work or any(row.state in AT_WORK for row in self.commands.rows)

    async def ongoing(self) -> tuple[Json, ...]:
        """Work that outlasts the turn, as stop hooks read it (`HookCall.background`)."""
        commands = [("command", row.id, row.line) for row in self.commands.rows if row.state in AT_WORK]
        tasks = {row.id: row.task for row in self.subagents.rows}
        subagents = [("subagent", id, tasks.get(id, "")) for id in self.subagents.running]
        jobs = []
        if self._schedule is not None:
            with suppress(HarnessError):  # each look at the schedule reports the same error
                jobs = [("job", job.id, job.prompt) for job in (await self._schedule.jobs()).values() if not job.paused]
        return tuple({"kind": kind, "id": id, "text": text} for kind, id, text in (*commands, *subagents, *jobs))

    @property
    def movable(self) -> bool:
        """A call waits for something that can continue in the background."""
        return self.commands.foreground.movable or self.subagents.movable

    def move(self) -> str:
        """Let the commands and subagents that calls wait for continue in the background; returns a sentence about them.

        Raises HarnessError.
        """
        try:
            moved = (*self.commands.foreground.move(), *self.subagents.move())
        except OSError as error:
            raise HarnessError(f"The command stays in the foreground: its output cannot be kept ({error}).") from error
        if not moved:
            raise HarnessError("No command or subagent runs that can continue in the background.")
        return f"In the background now: {', '.join(moved)}."

    async def stop(self, id: str) -> str:
        """End a subagent or a background command; returns a sentence about it. Raises HarnessError."""
        if id in self.subagents.known:
            stopped = self.subagents.stop(id)
            return f"Agent {id} is being stopped." if stopped else f"Agent {id} does nothing at the moment."
        if id in self.commands.ids:
            row = await self.commands.stop(id)
            return f"Background command {row.id} has ended."
        rows = [row.id for row in self.commands.rows if row.state in AT_WORK]
        running = ", ".join((*self.subagents.running, *rows)) or "nothing"
        raise HarnessError(f"There is nothing called {id}; running or queued in the background: {running}.")

    def output_of(self, command: str, lines: int = 40) -> str:
        """The last lines that a background command has written. Raises HarnessError."""
        try:
            return self.commands.read(command, lines=lines).text
        except (ToolError, OSError) as error:
            raise HarnessError(f"The output of {command} cannot be shown: {error}") from error

    @property
    def admission(self) -> tuple[AdmissionStatus, ...]:
        """Running and queued work: subagents, then commands."""
        return (self.subagents.admission.status, self.commands.admission.status)

    def recall(self, events: Iterable[Event]) -> None:
        """Continue from the events of an earlier run of this session."""
        earlier = tuple(events)
        team = (self.team,) if self._conversation.state.team else ()
        for part in (self.inbox, *team, self.subagents, self.fan_out, self.commands):
            part.recall(earlier)

    async def open(self) -> None:
        """Take over the mail of an earlier run. Mailboxes that cannot be used now are reported, and opened later."""
        if self._team is not None:
            try:
                await self._team.open()
            except HarnessError as error:
                self._conversation.emit(Notice("warning", str(error)))

    async def aclose(self) -> None:
        """End all of it, with every process of the program: first what starts something new, then what runs."""
        async with AsyncExitStack() as closing:
            closing.push_async_callback(self.commands.admission.aclose)
            if self._schedule is not None:
                closing.push_async_callback(self._schedule.aclose)
            if self._team is not None:
                closing.push_async_callback(self._team.close_mail)
            closing.push_async_callback(self._end)
            closing.push_async_callback(self.subagents.admission.aclose)
            if self._team is not None:
                closing.push_async_callback(self._team.aclose)
            if self._schedule is not None:
                closing.push_async_callback(self._schedule.stop)

    async def _end(self) -> None:
        """End everything at the same time: what resists takes seconds, and they must not add up."""
        servers = self._core.shared.mcp
        mcp = () if servers is None else (servers.aclose(),)  # before its processes: else it would start them again
        ends = (self.subagents.aclose(), self.commands.aclose(), *mcp, self._processes.aclose())
        for error in await asyncio.gather(*ends, return_exceptions=True):
            if isinstance(error, BaseException):
                raise error
