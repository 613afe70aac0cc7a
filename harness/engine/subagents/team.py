"""Who works for an agent besides itself, and what it hears of them.

Agents and commands in the background each pass a gate of their own, so that agents that wait for commands can never
hold up each other. What comes of work that nobody waits for arrives in one queue.
"""

import asyncio
import logging
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path

from harness.base.clock import Clock
from harness.base.errors import HarnessError
from harness.definitions import usable
from harness.engine.background.commands import BackgroundCommands, CommandLimits
from harness.engine.config import agent_limits, command_limits, tools_for, web_access
from harness.engine.conversation import Conversation
from harness.engine.inbox import Incoming
from harness.engine.shared import Shared
from harness.engine.subagents.admission import GateStatus, Gating
from harness.engine.subagents.fan_out import FanOutQuestions
from harness.engine.subagents.subagents import Subagents
from harness.engine.subagents.worker import Order, Worker
from harness.events import Block, Event, GateName, Origin
from harness.memory import keeping_tools
from harness.model.notification_texts import arrivals_text
from harness.policies.admission.gate import Gate
from harness.policies.admission.limits import GateLimits
from harness.settings import Settings
from harness.tools.ask_user import ASK_USER
from harness.tools.background_commands import CommandState
from harness.tools.output import fitted
from harness.tools.task import task_tool
from harness.tools.tool import Tool, ToolError

AT_WORK = (CommandState.WAITS, CommandState.RUNS)


class Crew:
    """The agents and background commands of one conversation."""

    def __init__(
        self,
        conversation: Conversation,
        settings: Settings,
        shared: Shared,
        clock: Clock,
        log: logging.Logger,
        *,
        outputs: Path,
        hire: Callable[[Order], Worker],
        model: Callable[[], str],
        kept: bool,
        own: Sequence[Tool] = (),
        standard: Collection[str] | None = None,
        admission: GateLimits | None = None,
    ) -> None:
        """
        Args:
            shared: what the agents share with the one they work for.
            outputs: folder for what commands write.
            hire: makes an agent.
            model: the model that will answer it.
            kept: each agent has a journal.
            own: tools of the program, which agents may use as well.
            standard: names of the standard tools that may be used; None: all.
            admission: how many agents work and wait; None: as the settings say.
        """
        self._conversation = conversation
        self._settings = settings
        self._processes = shared.processes
        self._outputs = outputs
        self._skills, self._memory = shared.skills, shared.memory
        emit = conversation.emit
        given = tools_for(settings, None, shared.skills, shared.memory)
        names = (*(one.name for one in given), *((ASK_USER,) if settings.ask_user != "off" else ()))
        tools = (
            *(name for name in names if standard is None or name in standard),
            *(one.name for one in own),
            *web_access(settings).names,
        )
        self.incoming = Incoming(emit)
        """What has arrived."""
        self.agent_gate = Gating(
            Gate(admission or agent_limits(settings), GateName.AGENTS),
            emit,
            clock,
            shared=shared.slots,
            existing=lambda: self.agents.known,
            log=log,
        )
        self.command_gate = Gating(
            Gate(command_limits(settings), GateName.COMMANDS),
            emit,
            clock,
            existing=lambda: self._command_ids,
            log=log,
        )
        self._fan_out = FanOutQuestions(
            conversation,
            shared.asker,
            mode=settings.fan_out,
            free=settings.fan_out_agents,
            most=settings.max_agents,
            cost=lambda usage: shared.catalogue.cost(model(), usage),
        )
        self.agents = Subagents(
            conversation,
            self.agent_gate,
            self.incoming,
            shared.asker,
            self._fan_out,
            clock,
            log,
            hire=hire,
            tools=tools,
            kinds=usable(shared.agents, tools),
            model=model,
            result_characters=settings.result_characters,
            kept=kept,
            most=settings.max_agents,
        )
        self.commands = BackgroundCommands(
            shared.processes,
            self.command_gate,
            self.incoming,
            emit,
            clock,
            workspace=settings.workspace,
            outputs=outputs,
            limits=CommandLimits(time_s=settings.background_timeout_s),
            masking=conversation.masking,
        )

    def tools(self) -> tuple[Tool, ...]:
        """What an agent with a crew may use: the standard tools, those that delegate, those for the background, and
        those that write down what is to be remembered."""
        settings = self._settings
        standard = tools_for(settings, self.commands, self._skills, self._memory)
        kinds = {kind.name: kind.description for kind in self.agents.kinds.agents}
        keeping = keeping_tools(self._memory) if self._memory.on else ()
        return (*standard, *keeping, task_tool(self.agents, steps=settings.agent_turns, kinds=kinds))

    # ── what arrives ────────────────────────────────────────────────────────────────────────────

    def deliver(self) -> bool:
        """Tell the model, in one message, what has arrived since the last time. False: nothing has."""
        if not (arrived := self.incoming.waiting):
            return False
        texts = fitted([one.text for one in arrived], lambda at: self._outputs / f"arrived-{arrived[at].number}.txt")
        told = [replace(one, text=text) for one, text in zip(arrived, texts, strict=True)]
        block: Block = {"type": "text", "text": arrivals_text(told)}
        self._conversation.add("user", (block,), Origin.ARRIVAL)
        self.incoming.deliver()
        return True

    # ── what a session shows and does ───────────────────────────────────────────────────────────

    @property
    def busy(self) -> bool:
        """Something works that nobody waits for."""
        return bool(self.agents.running) or any(row.state in AT_WORK for row in self.commands.rows)

    async def stop(self, id: str) -> str:
        """End an agent or a background command; returns what was done, in a sentence. Raises HarnessError."""
        if id in self.agents.known:
            stopped = self.agents.stop(id)
            return f"Agent {id} is being stopped." if stopped else f"Agent {id} does nothing at the moment."
        if id in self._command_ids:
            row = await self.commands.stop(id)
            return f"Background command {row.id} has ended."
        there = ", ".join((*self.agents.known, *self._command_ids))
        raise HarnessError(f"There is nothing called {id}; " + (f"there are {there}." if there else "nothing works."))

    @property
    def _command_ids(self) -> tuple[str, ...]:
        return tuple(row.id for row in self.commands.rows)

    def output_of(self, command: str, lines: int) -> str:
        """The end of what a background command has written. Raises HarnessError."""
        try:
            return self.commands.read(command, lines=lines).text
        except (ToolError, OSError) as error:
            raise HarnessError(f"The output of {command} cannot be shown: {error}") from error

    @property
    def gates(self) -> tuple[GateStatus, ...]:
        """Where the gates stand."""
        return (self.agent_gate.status, self.command_gate.status)

    def recall(self, events: Iterable[Event]) -> None:
        """Go on with what an earlier run of this session left."""
        told = tuple(events)
        self.incoming.recall(told)
        self.agents.recall(told)
        self._fan_out.recall(told)
        self.commands.recall(told)

    async def aclose(self) -> None:
        """End all of it, with every process of the program; nobody is told any more."""
        async with AsyncExitStack() as closing:
            closing.push_async_callback(self.command_gate.aclose)
            closing.push_async_callback(self._end)
            closing.push_async_callback(self.agent_gate.aclose)

    async def _end(self) -> None:
        """End all of it at the same time: what resists takes seconds, and they must not add up (resilience D11)."""
        ends = (self.agents.aclose(), self.commands.aclose(), self._processes.aclose())
        for error in await asyncio.gather(*ends, return_exceptions=True):
            if isinstance(error, BaseException):
                raise error
