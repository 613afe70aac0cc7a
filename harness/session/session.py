"""Opens and keeps sessions: an agent and its journal, as front ends use them."""

import asyncio
import os
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping
from contextlib import aclosing, suppress
from functools import partial
from hashlib import sha256
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Self

from harness import journal
from harness.agent import Agent
from harness.base.clock import SystemClock
from harness.base.concurrency import in_thread
from harness.base.errors import HarnessError
from harness.base.files import replace_atomically
from harness.base.secrets import Secret
from harness.definitions import CommandFile, tools_named
from harness.engine.build.from_settings import commands_for, retirements, secrets_of
from harness.engine.core import web_access
from harness.engine.fleet_status import fleet_status, status_lines
from harness.engine.model.context_report import ContextReport
from harness.engine.repository import Changes, changes_since, local_changes
from harness.engine.rewind.rewind import Rewinder
from harness.engine.store_places import stores_line
from harness.engine.turn_lifecycle import LedEnd, led
from harness.engine.user_commands import UserCommands
from harness.engine.worktrees import worktrees_for
from harness.events import Event, Notice, ToolCall, TransitionCode, TurnEnded, WorktreeLeft
from harness.hooks.definition import hook_lines
from harness.journal import Recorder, SessionState, SessionSummary
from harness.model.catalogue import model_named
from harness.sandbox import SandboxLevel, SandboxState
from harness.session.command_prompts import REVIEW, changes_text, command_text, init_prompt, instructions_in
from harness.session.sandbox import SandboxReport, sandbox_report
from harness.session.worktrees import leave
from harness.settings import Settings
from harness.skills import SKILL, Skill, catalogue_text, changed, framed
from harness.tools.ignored_files import walk_files
from harness.tools.tool import Effect, Tool, ToolResult
from harness.tools.workspace import sendable
from harness.worktrees import Worktrees

if TYPE_CHECKING:
    from harness.mcp.offers import ServerPrompt

INSTRUCTIONS = "AGENTS.md"
"""The file that /init writes."""
SANDBOX_NOTICE = "sandbox-notice"
"""In the state folder: the last notice about the sandbox that was shown."""
MOST_FILES = 50_000
"""Files that a completion can name; each key looks through all of them."""


class Session:
    """A conversation with a journal. Make one with `open_session`.

    Its parts are public attributes: `session.breakers.health`, `session.rewind.to_turn(2)`.
    """

    def __init__(
        self,
        agent: Agent,
        path: Path,
        recorder: Recorder | None,
        state: SessionState,
        skipped_lines: int = 0,
        begun: tuple[Event, ...] = (),
    ) -> None:
        """`recorder`: closed with the session; None: nothing is written to `path`, as in a chapter of the course."""
        parts = agent.parts
        background = parts.background
        assert background is not None, "the agent of a session is not a subagent"
        assert parts.steering is not None, "the agent of a session is not a subagent"
        self.path = path
        """The journal."""
        self.name = journal.name_of_session(path)
        """Given by the user; empty: none."""
        self.resumed_from = state
        """What the journal held when the session was opened; empty for a new one."""
        self.skipped_lines = skipped_lines
        """Lines of the journal that could not be read."""
        self.settings: Settings = parts.core.settings
        """The settings that the session was opened with."""
        self.stores = stores_line(parts.core.settings)
        """Where it keeps what it shares with other sessions."""
        self.commands = commands_for(parts.core.settings)
        """The slash commands that files define."""
        self.conversation = parts.core.conversation
        """History, plan, spend, and the numbers of turn and step."""
        self.models = parts.models
        """Model and effort of the next turn."""
        self.tasks = parts.board
        """Its work on a task board; None: it uses none."""
        self.mcp = parts.core.shared.mcp
        """Its MCP servers; None: it has none."""
        self.connection = parts.core.shared.connection
        """Address of the model."""
        self.endpoints = parts.core.shared.endpoints
        """Breakers and limits of the models."""
        self.recovery = parts.decisions
        """The wait for a retry: end it, or ask another model."""
        self.breakers = parts.breakers
        """Circuit breakers, failure budget and the report of a pause."""
        self.loops = parts.loops
        """Loop detection and interventions."""
        self.permissions = parts.core.shared.rules
        """Permission mode and rules."""
        self.skills = parts.core.shared.skills
        self.memory = parts.core.shared.memory
        """Memories from session to session."""
        self.background = background
        """Subagents and background commands together."""
        self.subagents = background.subagents
        self.inbox = background.inbox
        """Results from the background."""
        self.steering = parts.steering
        """Texts for the turn that runs; `steer` adds one."""
        self.processes = parts.core.shared.processes
        self.faults = parts.faults
        """Faults ordered on purpose."""
        self.begun = begun
        """What its opening found about worktrees."""
        self.left: list[WorktreeLeft] = []
        """Worktrees that were left when the session was closed."""
        self._agent = agent
        self._parts = parts
        self._recorder = recorder

    @property
    def id(self) -> str:
        """The argument of `--resume`."""
        return self.path.stem

    @property
    def context(self) -> ContextReport:
        """Tokens of the next request."""
        return self._parts.context

    @property
    def rewind(self) -> Rewinder:
        """Back to an earlier turn."""
        return self._parts.rewind

    @property
    def user_commands(self) -> UserCommands:
        """Shell commands, compaction, a new conversation."""
        return self._parts.user_commands

    # ── turns ────────────────────────────────────────────────────────────────────────────────────────

    async def warm(self) -> None:
        """Start the practice server if it is to answer, and import the SDK in the background, for a session that was
        opened with warm=False. The first turn does it otherwise."""
        await self._agent.open()
        if self.mcp is not None:
            self.mcp.start()

    def run(self, prompt: str) -> AsyncGenerator[Event, None]:
        """Take a prompt and yield the events of the turn; the last one is `TurnEnded`."""
        return self._agent.run(prompt)

    def run_script(self, typed: str, work: Callable[[], Coroutine[None, None, LedEnd]]) -> AsyncGenerator[Event, None]:
        """Let a program lead a turn in place of the model, with the subagents of this session; `typed` is its command.

        An interruption cancels `work`.
        """
        return self._parts.core.turns.events(partial(led, self._parts, typed, work))

    def run_command(self, command: CommandFile, arguments: str) -> AsyncGenerator[Event, None]:
        """Run the prompt of a command file, with its model and only its tools."""
        names = (*self._parts.toolbox.names, *web_access(self.settings).names)
        named = None if command.tools is None else tools_named(command.tools, names)
        model = model_named(command.model) if command.model else ""
        return self._agent.run(command.text(arguments), model=model, only=None if named is None else named.tools)

    def steer(self, text: str) -> int:
        """Give a text to the turn that runs. The model reads it with the next request, after the tools that run now;
        if the turn would end with an answer, one more request follows.

        Returns its number: `SteeringDelivered` has it as soon as the text is in the history. A text that no request
        holds yet can be taken back with `steering.take_back`. What a turn left, for example because it failed, the next
        one delivers first. Raises HarnessError if no turn runs, and for a text that is empty or fits no window.
        """
        if problem := self.context.too_long(text):
            raise HarnessError(problem)
        return self.steering.add(self.conversation.masking.text(text))

    def run_skill(self, skill: Skill, arguments: str) -> AsyncGenerator[Event, None]:
        """Run a prompt that asks for this skill and carries its text."""
        self._parts.attached[f"skill {skill.name}"] = framed(skill, arguments)
        return self._agent.run(f"Use the skill {skill.name}" + (f": {arguments}" if arguments else "."))

    async def local_changes(self, wanted: str = "") -> Changes:
        """What is staged, unstaged and untracked in the repository of the workspace; `wanted`: only in this file or
        folder. Raises HarnessError."""
        return await in_thread(partial(local_changes, self.settings.workspace, wanted))

    async def worktree_changes(self, name: str) -> Changes:
        """What a worktree has changed since it began, with what is not committed. Raises HarnessError."""
        tree = await self.worktrees.find(name)
        return await in_thread(partial(changes_since, tree.path, tree.base))

    async def review(self, base: str) -> AsyncGenerator[Event, None]:
        """Let the model review what differs from `base` (empty: the default branch), with tools that only read.

        Raises HarnessError, for example where nothing differs.
        """
        changes = await in_thread(partial(changes_since, self.settings.workspace, base))
        if not changes.files:
            raise HarnessError(f"Nothing differs from {changes.base}; there is nothing to review.")
        text = REVIEW.format(base=changes.base)
        async with aclosing(self._run_own(f"/review {base}".rstrip(), text, changes_text(changes))) as events:
            async for event in events:
                yield event

    async def write_instructions(self) -> AsyncGenerator[Event, None]:
        """Let the model look at the workspace with tools that only read and write the text of its AGENTS.md; show that,
        ask, and write it."""
        present = (self.settings.workspace / INSTRUCTIONS).exists()
        ends: list[TurnEnded] = []
        async with aclosing(self._run_own("/init", init_prompt(INSTRUCTIONS, present=present))) as events:
            async for event in events:
                ends += [event] if isinstance(event, TurnEnded) else []
                yield event
        if not ends or ends[-1].code is not TransitionCode.COMPLETED:
            return
        text = instructions_in([ends[-1].answer])
        if not text:
            raise HarnessError(
                f"The answer is no text for {INSTRUCTIONS} (it begins with no heading); nothing is written."
            )
        async with aclosing(self.user_commands.offer_file(INSTRUCTIONS, text)) as events:
            async for event in events:
                yield event

    @property
    def server_prompts(self) -> "Mapping[str, ServerPrompt]":
        """The prompts of MCP servers by the names of their slash commands."""
        return self.mcp.prompts if self.mcp is not None else {}

    @property
    def mentions(self) -> tuple[str, ...]:
        """The resources of MCP servers, as a prompt names them behind `@`."""
        return self.mcp.mentions if self.mcp is not None else ()

    async def run_server_prompt(self, name: str, arguments: str) -> AsyncGenerator[Event, None]:
        """Run a prompt of an MCP server by the name of its command. It need not be known yet while the server starts.

        Raises HarnessError where the server is not there, has no such prompt, or arguments are missing.
        """
        if self._parts.mcp is None:
            raise HarnessError(f"/{name} is a prompt of an MCP server, and this session has none.")
        text = await self._parts.mcp.prompt(name, arguments)
        async with aclosing(self._run_own(f"/{name} {arguments}".rstrip(), text, any_tool=True)) as events:
            async for event in events:
                yield event

    async def _run_own(
        self, typed: str, text: str, beside: str = "", *, any_tool: bool = False
    ) -> AsyncGenerator[Event, None]:
        """Run a command as the user typed it, with tools that only read or with all; what it asks for goes beside
        it."""
        attached = self._parts.attached
        reading = None if any_tool else [tool.name for tool in self.tools if tool.effect is Effect.READ]
        attached |= {"command": command_text(text), "changes": beside}
        try:
            async with aclosing(self._agent.run(typed, only=reading)) as events:
                async for event in events:
                    yield event
        finally:  # a hook may have refused the command
            attached.pop("command", None)
            attached.pop("changes", None)

    def retry(self) -> AsyncGenerator[Event, None]:
        """Continue from the history as it is. Raises HarnessError when it is empty."""
        if not self.conversation.messages:
            raise HarnessError("There is nothing to try again yet; type a prompt.")
        return self._agent.retry()

    def deliver(self) -> AsyncGenerator[Event, None]:
        """Let the model continue with results from the background; the events are those of a turn."""
        return self._agent.deliver()

    def interrupt(self) -> None:
        """End the turn that runs."""
        self._agent.interrupt()

    def leave(self) -> None:
        """End the turn that runs because the program ends; the scheduled prompt that began it fires again."""
        self.background.schedule.leaving = True
        self._agent.interrupt()

    @property
    def asks_for_format(self) -> bool:
        """Requests ask for the answer format; False: there is none, or the model takes none."""
        calls = self._parts.calls
        return calls.answer_format is not None and calls.takes_format(self.models.current)

    async def call(self, call: ToolCall, interrupt: asyncio.Event) -> ToolResult:
        """Run a tool that no model asked for, with permissions, hooks and sandbox; no breaker counts it.

        Of the calls that are not safe beside others one runs at a time; a question about one holds up no other.
        `interrupt` ends it. Raises KeyError for an unknown tool.
        """
        tool = self._parts.toolbox.get(call.name)
        if tool is None:
            raise KeyError(call.name)
        if self._parts.hooks is not None:
            self._parts.hooks.begin()
        return await self._parts.tools.beside_turn(self.conversation.masking.value(call), tool, interrupt)

    # ── tools, hooks and skills ──────────────────────────────────────────────────────────────────────

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools that the model may call."""
        toolbox = self._parts.toolbox
        return tuple(filter(None, map(toolbox.get, toolbox.names)))

    @property
    def hook_lines(self) -> tuple[str, ...]:
        """The hooks in running order, one line each."""
        hooks = self._parts.hooks.hooks if self._parts.hooks is not None else ()
        return tuple(hook_lines(hooks, self._parts.toolbox.names))

    @property
    def has_skill_tool(self) -> bool:
        """The model can read skills itself."""
        return SKILL in self._parts.toolbox.names

    def reload_skills(self) -> None:
        """Read the skills from disk again. If they have changed, the model reads so with the next prompt."""
        before = catalogue_text(self.skills.skills)
        self.skills.reload()
        if catalogue_text(self.skills.skills) != before:
            self._parts.attached["skills"] = changed(self.skills.skills)

    def use_skill(self, name: str) -> Skill:
        """Attach the text of a skill to the next prompt. Raises HarnessError for one that does not exist."""
        skill = self.skills.get(name)
        if skill is None:
            raise HarnessError(self.skills.unknown(name))
        self._parts.attached[f"skill {name}"] = framed(skill)
        return skill

    # ── files ────────────────────────────────────────────────────────────────────────────────────────

    @property
    def state_folder(self) -> Path:
        """Everything that outlives a run."""
        return journal.state_folder(self.settings.state_dir)

    @property
    def agents_folder(self) -> Path:
        """The journals of subagents; `harness replay` plays one."""
        return journal.agents_folder(self.path)

    def sessions(self) -> tuple[SessionSummary, ...]:
        """The sessions of this workspace, the latest first."""
        return sessions_of(self.settings)

    def rename(self, name: str) -> str:
        """Name the session; returns the name as kept. Raises JournalError."""
        self.name = journal.rename(self.path, self.conversation.masking.text(name))
        return self.name

    def files(self, limit: int = MOST_FILES) -> tuple[str, ...]:
        """Paths of the first files in the workspace that git does not ignore. Reads the disk; call it in a thread."""
        workspace = self.permissions.workspace
        inside = f"{workspace.root}/".replace("//", "/")
        found = chain.from_iterable(walk_files(root, root) for root in workspace.roots)
        return tuple(sendable(path.removeprefix(inside)) for path in islice(found, limit))

    def keep_image(self, data: bytes) -> Path:
        """Write an image to the outputs of the session, so that a prompt can name it with `@`.

        Writes the disk; call it in a thread. Raises OSError.
        """
        file = self._parts.core.outputs / f"pasted-{sha256(data).hexdigest()[:12]}.png"
        if not file.exists():
            replace_atomically(file, data, private=True)
        return file

    @property
    def worktrees(self) -> Worktrees:
        """The worktrees of the repository."""
        return worktrees_for(self.settings, self.processes, self.id)

    @property
    def retirements(self) -> tuple[str, ...]:
        """A sentence for each model of the settings that is retired or soon will be."""
        return retirements(self.settings, SystemClock())

    @property
    def sandbox(self) -> SandboxState:
        """What holds the commands of the model."""
        return self.processes.sandbox.state

    async def fleet_status(self) -> str:
        """The status of the fleet, as `harness fleet status` prints it. Raises HarnessError."""
        return "\n".join(status_lines(await in_thread(partial(fleet_status, self.settings))))

    async def sandbox_report(self) -> SandboxReport:
        """The sandbox as it is now: state, hosts, what is hidden."""
        rules, inherited = self.permissions, self.settings.sandbox_env
        return await in_thread(partial(sandbox_report, self.processes.sandbox, rules.host_scopes, inherited))

    def take_sandbox_notice(self) -> str:
        """The state of the sandbox if it is not full and differs from the last notice, which the state folder keeps;
        else empty, as where the user has switched it off."""
        last = self.state_folder / SANDBOX_NOTICE
        notice = "" if self.sandbox.level is SandboxLevel.FULL else self.sandbox.in_words
        if self.settings.sandbox == "off" or notice == (last.read_text("utf-8", "replace") if last.is_file() else ""):
            return ""
        with suppress(OSError):  # it is shown again then
            replace_atomically(last, notice.encode(), private=True)
        return notice

    def fork(self) -> str:
        """Copy the session and return the id of the copy; this session continues unchanged."""
        return journal.fork(self.path, self.path.parent, journal.new_session_id()).stem

    @property
    def secrets(self) -> tuple[Secret, ...]:
        """The keys that must not appear in anything written elsewhere."""
        return secrets_of(self.settings, os.environ)

    async def aclose(self) -> None:
        """Close connections and journal, and leave the worktrees of the session. Raises JournalError when the end of
        the journal could not be written."""
        await self._agent.aclose()
        await self._leave_worktrees()
        if self._recorder is not None:
            self._recorder.journal.close()

    async def _leave_worktrees(self) -> None:
        try:
            left = await leave(self.settings, self.id)
        except HarnessError as error:
            self.conversation.emit(Notice("warning", f"a worktree is left as it is: {error}"))
            return
        for event in left:
            self.left.append(event)
            self.conversation.emit(event)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


def sessions_of(settings: Settings) -> tuple[SessionSummary, ...]:
    """The sessions of the workspace, the latest first."""
    return journal.sessions(journal.session_folder(settings.workspace, settings.state_dir))
