"""What a front end can see of a session and do with it."""

import os
from collections.abc import AsyncGenerator
from dataclasses import fields
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Literal, Self

from harness import journal
from harness.agent import Agent
from harness.base.clock import SystemClock
from harness.base.errors import HarnessError
from harness.definitions import CommandFile, Commands, tools_named
from harness.engine.config import commands_for, numbers_in, retirements, secrets_of
from harness.engine.inbox import Incoming
from harness.engine.model.context_usage import ContextUse
from harness.engine.model.prompt_parts import PromptPart
from harness.engine.rewind.rewind import FilesBack
from harness.engine.subagents.admission import GateStatus
from harness.engine.subagents.rows import AgentRow
from harness.engine.subagents.team import Crew
from harness.events import (
    BreakerCommand,
    CacheMissed,
    DispatchLimits,
    Effort,
    Event,
    HealthRow,
    Json,
    PauseReport,
    PlanItem,
    RolledBack,
    Route,
    SettingChanged,
    SpendChanged,
)
from harness.hooks.text_list import hook_lines
from harness.journal import RewindPoint, SessionState, SessionSummary
from harness.journal.recorder import Recorder
from harness.memory import MemoryBook
from harness.model.catalogue import model_named
from harness.permissions import Mode, PermissionRule
from harness.policies.loops.report import status_lines
from harness.processes import ExitCounts
from harness.settings import Settings
from harness.skills import SKILL, Skill, catalogue_text, changed, framed
from harness.skills import Problem as SkillProblem
from harness.tools.background_commands import CommandRow
from harness.tools.files import replace_atomically
from harness.tools.ignored_files import walk_files
from harness.tools.tool import Tool
from harness.tools.workspace import Workspace, sendable


class Session:
    """A conversation with a journal. Make one with `open_session`."""

    def __init__(
        self, agent: Agent, path: Path, recorder: Recorder, state: SessionState, skipped_lines: int = 0
    ) -> None:
        self._agent = agent
        self._recorder = recorder
        self.path = path
        """The journal."""
        self.resumed_from = state
        """What was there when the session was opened; empty for a new one."""
        self.skipped_lines = skipped_lines
        """Lines of the journal that could not be read (recovery K1)."""
        self._commands = commands_for(agent.settings)

    @property
    def id(self) -> str:
        """What --resume takes."""
        return self.path.stem

    @property
    def settings(self) -> Settings:
        """The settings the session was opened with."""
        return self._agent.settings

    @property
    def model(self) -> str:
        """The model that the next turn begins with."""
        return self._agent.model

    @property
    def retirements(self) -> tuple[str, ...]:
        """A sentence for each of its models that is known to end soon or to have ended."""
        return retirements(self.settings, SystemClock())

    @property
    def address(self) -> str:
        """Where the model answers, in words or as an address."""
        return self._agent.address

    @property
    def turn(self) -> int:
        """Turns so far."""
        return self._agent.conversation.turn

    @property
    def step(self) -> int:
        """Steps so far."""
        return self._agent.conversation.step

    @property
    def spend(self) -> SpendChanged:
        """What the session has cost so far."""
        return self._agent.conversation.spend

    @property
    def cache_misses(self) -> tuple[CacheMissed, ...]:
        """Why the prompt cache missed, oldest first, where the server says so."""
        return self._agent.conversation.cache_misses

    @property
    def plan(self) -> tuple[PlanItem, ...]:
        """The plan that the model declared last; empty: there is none."""
        return self._agent.conversation.plan

    @property
    def state_folder(self) -> Path:
        """Where everything is kept that outlives a run."""
        return journal.state_folder(self.settings.state_dir)

    @property
    def agents_folder(self) -> Path:
        """Where the journals of the agents are; `harness replay` takes one."""
        return journal.agents_folder(self.path)

    def sessions(self) -> tuple[SessionSummary, ...]:
        """The sessions of this workspace, the one used last first."""
        return sessions_of(self.settings)

    def files(self, limit: int = 20_000) -> tuple[str, ...]:
        """Paths of the workspace's files, at most `limit`, without what git ignores. Reads the disk; for a thread."""
        root = Workspace(self.settings.workspace).root
        prefix = len(f"{root}/".replace("//", "/"))
        return tuple(sendable(path[prefix:]) for path in islice(walk_files(root, root), limit))

    def keep_image(self, data: bytes) -> Path:
        """Keep an image that no file holds with the outputs of the session, under a name made from its content.

        A prompt can name it with `@`. Writes the disk; for a thread. Raises OSError.
        """
        file = self._agent.outputs / f"pasted-{sha256(data).hexdigest()[:12]}.png"
        if not file.exists():
            replace_atomically(file, data, private=True)
        return file

    # ── turns ────────────────────────────────────────────────────────────────────────────────────────

    async def warm(self) -> None:
        """Begin to get ready for the first turn, which would do it otherwise: start the practice server if it is to
        answer, import the SDK in the background. For a session that was opened with warm=False."""
        await self._agent.open()

    def answer_with(self, answer_format: Json | None) -> bool:
        """Ask for answers in this output format; False: it has to be asked for in the prompt (`Agent.answer_with`)."""
        return self._agent.answer_with(answer_format)

    def run(self, prompt: str) -> AsyncGenerator[Event, None]:
        """Take a prompt and yield the events of the turn; the last one is `TurnEnded`."""
        return self._agent.run(prompt)

    @property
    def commands(self) -> Commands:
        """The slash commands that files define, as they were when the session was opened."""
        return self._commands

    def run_command(self, command: CommandFile, arguments: str) -> AsyncGenerator[Event, None]:
        """Take the prompt of a command, with its model and with no other tools than its own, as `run` does."""
        named = None if command.tools is None else tools_named(command.tools, self._agent.tool_names)
        model = model_named(command.model) if command.model else ""
        return self._agent.run(command.text(arguments), model=model, only=None if named is None else named.tools)

    def shell(self, command: str) -> AsyncGenerator[Event, None]:
        """Run a command of the person and yield its events; the model learns of it with the next request.

        No permission is asked and no breaker counts it. `interrupt` ends it, and so does the time limit of the
        settings. Raises HarnessError for a command that is empty.
        """
        if not command.strip():
            raise HarnessError("There is no command; type for example !ls.")
        return self._agent.shell(command)

    def retry(self) -> AsyncGenerator[Event, None]:
        """Go on from the history as it stands. Raises HarnessError when nothing was said yet."""
        if not self._agent.conversation.messages:
            raise HarnessError("There is nothing to try again yet; type a prompt.")
        return self._agent.retry()

    def compact(self, focus: str = "") -> AsyncGenerator[Event, None]:
        """Shorten the history now."""
        return self._agent.compact(focus)

    def interrupt(self) -> None:
        """End the turn that runs."""
        self._agent.interrupt()

    def retry_now(self) -> None:
        """Cut a wait short."""
        self._agent.retry_now()

    @property
    def other_model(self) -> str | None:
        """The fallback that can be turned to now; None while no model is waited for, or when none is left."""
        return self._agent.other_model

    def ask_other_model(self) -> None:
        """End the wait for this model and go on with `other_model` for the rest of the turn.

        Raises HarnessError, with what to do, when there is none.
        """
        self._agent.ask_other_model()

    def set_model(self, model: str) -> None:
        """Ask another model from the next turn on."""
        self._agent.set_model(model)

    @property
    def effort(self) -> Effort | None:
        """What the model is wanted to put into its replies; None: what is its own."""
        return self._agent.effort

    @property
    def efforts(self) -> tuple[Effort, ...] | None:
        """The levels that the model takes, the least first; None: not known."""
        return self._agent.efforts

    def set_effort(self, effort: Effort | None) -> None:
        """Ask for another effort from the next turn on. Raises HarnessError for one that the model does not take."""
        self._agent.set_effort(effort)

    def break_model(self, text: str) -> str:
        """Let something go wrong with the practice model ("529 3"; no words list what there is; "off" ends it).

        Returns what was ordered. Raises HarnessError for words that are not understood, and when a real model answers.
        """
        return self._agent.break_model(text)

    def break_tool(self, text: str) -> str:
        """Let the next calls of a tool go wrong ("grep timeout 3"; no words list what there is; "off" ends it).

        Returns what was ordered. Raises HarnessError for words that are not understood.
        """
        return self._agent.break_tool(text)

    # ── the conversation ─────────────────────────────────────────────────────────────────────────────

    @property
    def context(self) -> tuple[int, int]:
        """Estimated tokens of the next request, and the model's window."""
        return self._agent.context()

    @property
    def context_use(self) -> ContextUse:
        """Where those tokens are, and what is done when there are too many."""
        return self._agent.context_use()

    @property
    def prompt_parts(self) -> tuple[PromptPart, ...]:
        """What stands before the conversation in every request, with the tokens of each part."""
        return self._agent.prompt_parts()

    def clear(self) -> None:
        """Forget the conversation; the journal keeps it."""
        self._agent.clear()

    def fork(self) -> str:
        """Copy the session as it stands and return the id of the copy; this session goes on unchanged."""
        return journal.fork(self.path, self.path.parent, journal.new_session_id()).stem

    def masked(self, text: str) -> str:
        """The text without the keys that this session knows."""
        return self._agent.conversation.masking.text(text)

    def export(self, file: Path, form: Literal["markdown", "json"]) -> None:
        """Write the session so far to `file`, keys masked. Raises HarnessError when the file cannot be written."""
        from harness.journal.export import as_json, markdown, save

        write = markdown if form == "markdown" else as_json
        secrets = secrets_of(self.settings, os.environ)
        save(write(journal.read(self.path).records, secrets), file)

    @property
    def rewind_points(self) -> tuple[RewindPoint, ...]:
        """The prompts that `rewind` can go back to, oldest first; none from before a compaction or /clear."""
        return self._agent.conversation.rewind_points

    def rewind(self, turn: int) -> str:
        """Cut the history before the prompt of that turn, and return the prompt. Files stay as they are.

        Raises HarnessError while a turn runs, and for a turn that is none of `rewind_points`.
        """
        return self._agent.rewinding.rewind(turn)

    async def files_since(self, turn: int) -> FilesBack | None:
        """What became of the files since that turn began: what `rewind_files` would undo, and what stays.

        None: nothing was kept since then, because no call could have changed a file, nobody can be asked in this
        session, or the setting `checkpoints` is off. Raises HarnessError for a turn that never was, and for files
        that were kept by the session that this one is a copy of.
        """
        return await self._agent.rewinding.files_since(turn)

    async def rewind_files(self, turn: int, *, conversation: bool = False) -> RolledBack:
        """Take the files back to what they held when that turn began, without asking; `conversation`: that, too.

        What they hold now is kept, so that `undo_rewind` can bring it back. Raises HarnessError while a turn runs,
        and for a turn from which on nothing was kept; then nothing has been changed.
        """
        return await self._agent.rewinding.rewind_files(turn, conversation=conversation)

    def rewind_with_files(self, turn: int) -> AsyncGenerator[Event, None]:
        """Take back the files and the conversation, after the person was shown what would be done and has agreed.

        The events come as they do in a turn. Raises HarnessError like `rewind_files` and `rewind`.
        """
        return self._agent.rewinding.rewind_with_files(turn)

    def undo_rewind(self) -> AsyncGenerator[Event, None]:
        """Let the files hold again what they held before they were taken back last, after the person has agreed."""
        return self._agent.rewinding.undo_rewind()

    # ── tools and their breakers ─────────────────────────────────────────────────────────────────────

    @property
    def tools(self) -> tuple[Tool, ...]:
        """What the model may use."""
        return tuple(filter(None, map(self._agent.toolbox.get, self._agent.toolbox.names)))

    @property
    def health(self) -> tuple[HealthRow, ...]:
        """How the tools are: one line of the breaker table for each."""
        return self._agent.dispatching.board.rows()

    @property
    def dispatch_limits(self) -> DispatchLimits:
        """The numbers the breakers and the failure budget work with."""
        return self._agent.dispatching.board.limits

    @property
    def report(self) -> PauseReport:
        """What is done and what is not, and what the failures of this turn have cost."""
        return self._agent.dispatching.report()

    def routes(self, tool: str) -> tuple[Route, ...]:
        """The ways round a tool as things stand, best first. Raises HarnessError for one that does not exist."""
        return self._agent.dispatching.routes(self._known(tool))

    def command_breaker(self, command: BreakerCommand, tool: str = "") -> None:
        """Move a breaker by hand; no tool: all of them. Raises HarnessError for a tool that does not exist."""
        self._agent.dispatching.command(command, self._known(tool) if tool else "")

    def set_dispatch_limits(self, **changed: object) -> None:
        """Work with other numbers from the next decision on. Raises HarnessError for one that makes no sense."""
        names = [field.name for field in fields(DispatchLimits)]
        for name in changed:
            if name not in names:
                raise HarnessError(f"There is no number called {name}; there are {', '.join(names)}.")
        try:
            self._agent.dispatching.announce(**changed)
        except ValueError as error:
            raise HarnessError(f"That cannot be set: {error}.") from error

    def _known(self, tool: str) -> str:
        toolbox = self._agent.toolbox
        if tool.partition(":")[0] in toolbox.names:  # "bash:npm" is a part of bash
            return tool
        near = toolbox.nearest(tool)
        hint = f"did you mean {near}?" if near else f"there are {', '.join(toolbox.names)}."
        raise HarnessError(f"There is no tool called {tool}; {hint}")

    # ── loops and hooks ──────────────────────────────────────────────────────────────────────────────

    @property
    def loop_lines(self) -> tuple[str, ...]:
        """What of the behaviour repeats and how far, where the loops stand on the ladder, and the numbers."""
        return tuple(status_lines(self._agent.escaping.status))

    def set_escape(self, text: str) -> None:
        """Switch the escape mechanism "on" or "off", or set numbers such as "copies=5 nudges=2".

        Raises HarnessError for one that makes no sense.
        """
        try:
            self._agent.escaping.announce(**({"enabled": text == "on"} if text in ("on", "off") else numbers_in(text)))
        except ValueError as error:
            raise HarnessError(f"That cannot be set: {error}.") from error

    @property
    def hook_lines(self) -> tuple[str, ...]:
        """The hooks in the order in which they are asked, one line each."""
        return tuple(hook_lines(self._agent.hooking.hooks, self._agent.toolbox.names))

    # ── permissions ──────────────────────────────────────────────────────────────────────────────────

    @property
    def permission_mode(self) -> str:
        """What happens to a tool call that writes or runs; the words are those of `Mode`."""
        return self._agent.permissions.mode.value

    def set_permission_mode(self, mode: str) -> None:
        """Decide tool calls by another mode from the next one on. Raises HarnessError for one that does not exist."""
        if mode not in tuple(Mode):
            raise HarnessError(f"There is no permission mode {mode}; there are {', '.join(Mode)}.")
        self._agent.set_permission_mode(Mode(mode))

    @property
    def permission_rules(self) -> tuple[PermissionRule, ...]:
        """The rules about what may run: of the settings, kept by the person, and of this session."""
        return self._agent.granting.rules

    def add_permission_rule(self, verdict: str, rule: str, *, keep: bool = False) -> PermissionRule:
        """Go by a rule such as "bash(npm run *)" from the next call on.

        Args:
            verdict: allow, ask or deny.
            keep: in later sessions, too; it is written into the file of the person.

        Raises HarnessError for one that is not understood or cannot be kept.
        """
        added = self._agent.granting.add(verdict, rule, keep=keep)
        self._agent.conversation.emit(SettingChanged("permissions", f"{added.verdict} {added.text} ({added.scope})"))
        return added

    def remove_permission_rule(self, rule: str) -> tuple[PermissionRule, ...]:
        """Do not go by a rule any longer, and do not keep it. Raises HarnessError for one of the settings."""
        removed = self._agent.granting.remove(rule)
        for one in removed:
            self._agent.conversation.emit(SettingChanged("permissions", f"without {one.verdict} {one.text}"))
        return removed

    # ── skills and memory ────────────────────────────────────────────────────────────────────────────

    @property
    def skills(self) -> tuple[Skill, ...]:
        """The skills that there are, by name."""
        return self._agent.skills.skills

    @property
    def skill_problems(self) -> tuple[SkillProblem, ...]:
        """What is wrong with files of skills."""
        return self._agent.skills.problems

    @property
    def has_skill_tool(self) -> bool:
        """The model can read skills by itself."""
        return SKILL in self._agent.toolbox.names

    def reload_skills(self) -> None:
        """Read the skills from the disk again. If they have changed, the model is told with the next prompt."""
        book = self._agent.skills
        before = catalogue_text(book.skills)
        book.reload()
        if catalogue_text(book.skills) != before:
            self._agent.attached["skills"] = changed(book.skills)

    def use_skill(self, name: str) -> Skill:
        """Let the text of a skill go with the next prompt. Raises HarnessError for one that does not exist."""
        skill = self._agent.skills.get(name)
        if skill is None:
            raise HarnessError(self._agent.skills.unknown(name))
        self._agent.attached[f"skill {name}"] = framed(skill)
        return skill

    @property
    def memory(self) -> MemoryBook:
        """What is remembered from session to session. The model is told of a change with the next prompt."""
        return self._agent.memory

    # ── who works for the agent ──────────────────────────────────────────────────────────────────────

    @property
    def incoming(self) -> Incoming:
        """What has arrived from the background."""
        return self._crew.incoming

    def deliver(self) -> AsyncGenerator[Event, None]:
        """Let the model go on with what has arrived; the events are those of a turn."""
        return self._agent.deliver()

    @property
    def busy_elsewhere(self) -> bool:
        """Agents or commands work in the background."""
        return self._crew.busy

    @property
    def agents(self) -> tuple[AgentRow, ...]:
        """The agents that can be asked to go on, the one asked last at the end."""
        return self._crew.agents.rows

    @property
    def background(self) -> tuple[CommandRow, ...]:
        """The commands of the session that went to the background, the oldest first."""
        return self._crew.commands.rows

    @property
    def gates(self) -> tuple[GateStatus, ...]:
        """Where the gates of agents and of commands stand."""
        return self._crew.gates

    @property
    def exits(self) -> ExitCounts:
        """How the processes of this program have ended."""
        return self._agent.processes.counts

    async def stop_work(self, id: str) -> str:
        """End an agent or a background command, and return what was done in a sentence. Raises HarnessError."""
        return await self._crew.stop(id)

    def hand_over(self, command: str) -> CommandRow:
        """Let a background command go on when the program ends. Raises HarnessError."""
        return self._crew.commands.hand_over(command)

    def output_of(self, command: str, lines: int = 40) -> str:
        """The end of what a background command has written. Raises HarnessError."""
        return self._crew.output_of(command, lines)

    @property
    def _crew(self) -> Crew:
        crew = self._agent.crew
        assert crew is not None, "an agent that works for a person has a crew"
        return crew

    # ── the end ──────────────────────────────────────────────────────────────────────────────────────

    async def aclose(self) -> None:
        """Close connections and journal. Raises JournalError when the end of the journal could not be written."""
        await self._agent.aclose()
        self._recorder.journal.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


def sessions_of(settings: Settings) -> tuple[SessionSummary, ...]:
    """The sessions of the workspace, the one used last first."""
    return journal.sessions(journal.session_folder(settings.workspace, settings.state_dir))
