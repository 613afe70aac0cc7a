"""Opens and keeps sessions: an agent and its journal, as front ends use them."""

import asyncio
import logging
import os
from collections.abc import AsyncGenerator, Callable, Collection, Iterable
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Self

from harness import __version__, journal
from harness.agent import Agent
from harness.base.arguments import check_types
from harness.base.clock import Clock, SystemClock
from harness.base.concurrency import in_thread
from harness.base.errors import HarnessError, JournalError
from harness.base.files import replace_atomically
from harness.base.secrets import Masking, Secret
from harness.definitions import CommandFile, tools_named
from harness.engine.agent_base import check_protocols, types_of_agent
from harness.engine.config import Policies, commands_for, retirements, secrets_of, web_access
from harness.engine.conversation import Conversation
from harness.engine.model.context_report import ContextReport
from harness.engine.permissions.asker import Asker
from harness.engine.rewind.rewind import Rewinder
from harness.engine.user_commands import UserCommands
from harness.events import BoardOpened, Effort, Event, Json, SessionResumed, SessionStarted, SettingChanged
from harness.hooks import Hook
from harness.hooks.definition import hook_lines
from harness.journal import Journal, Record, Recorder, SessionState, SessionSummary, unobserved
from harness.model.catalogue import model_named
from harness.settings import PRACTICE_MODEL, LoadedSettings, Settings, load
from harness.skills import SKILL, Skill, catalogue_text, changed, framed
from harness.tools.ignored_files import walk_files
from harness.tools.tool import Tool
from harness.tools.workspace import Workspace, sendable

MOST_FILES = 50_000
"""Files that a completion can name; each key looks through all of them."""


class Session:
    """A conversation with a journal. Make one with `open_session`.

    Its parts are public attributes: `session.breakers.health`, `session.rewind.to_turn(2)`.
    """

    def __init__(
        self, agent: Agent, path: Path, recorder: Recorder | None, state: SessionState, skipped_lines: int = 0
    ) -> None:
        """`recorder`: closed with the session; None: nothing is written to `path`, as in a chapter of the course."""
        parts = agent.parts
        background = parts.background
        assert background is not None, "the agent of a session is not a subagent"
        self.path = path
        """The journal."""
        self.name = journal.name_of_session(path)
        """Given by the user; empty: none."""
        self.resumed_from = state
        """What the journal held when the session was opened; empty for a new one."""
        self.skipped_lines = skipped_lines
        """Lines of the journal that could not be read."""
        self.settings: Settings = parts.settings
        """The settings that the session was opened with."""
        self.commands = commands_for(parts.settings)
        """The slash commands that files define."""
        self.conversation = parts.conversation
        """History, plan, spend, and the numbers of turn and step."""
        self.models = parts.models
        """Model and effort of the next turn."""
        self.tasks = parts.board
        """Its work on a task board; None: it uses none."""
        self.connection = parts.shared.connection
        """Address of the model."""
        self.recovery = parts.decisions
        """The wait for a retry: end it, or ask another model."""
        self.breakers = parts.breakers
        """Circuit breakers, failure budget and the report of a pause."""
        self.loops = parts.loops
        """Loop detection and interventions."""
        self.permissions = parts.shared.rules
        """Permission mode and rules."""
        self.skills = parts.shared.skills
        self.memory = parts.shared.memory
        """Memories from session to session."""
        self.background = background
        """Subagents and background commands together."""
        self.subagents = background.subagents
        self.inbox = background.inbox
        """Results from the background."""
        self.processes = parts.shared.processes
        self.faults = parts.faults
        """Faults ordered on purpose."""
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

    def run(self, prompt: str) -> AsyncGenerator[Event, None]:
        """Take a prompt and yield the events of the turn; the last one is `TurnEnded`."""
        return self._agent.run(prompt)

    def run_command(self, command: CommandFile, arguments: str) -> AsyncGenerator[Event, None]:
        """Run the prompt of a command file, with its model and only its tools."""
        names = (*self._parts.toolbox.names, *web_access(self.settings).names)
        named = None if command.tools is None else tools_named(command.tools, names)
        model = model_named(command.model) if command.model else ""
        return self._agent.run(command.text(arguments), model=model, only=None if named is None else named.tools)

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

    # ── tools, hooks and skills ──────────────────────────────────────────────────────────────────────

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools that the model may call."""
        toolbox = self._parts.toolbox
        return tuple(filter(None, map(toolbox.get, toolbox.names)))

    @property
    def hook_lines(self) -> tuple[str, ...]:
        """The hooks in the order in which they run, one line each."""
        return tuple(hook_lines(self._parts.hooks.hooks, self._parts.toolbox.names))

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
        root = Workspace(self.settings.workspace).root
        prefix = len(f"{root}/".replace("//", "/"))
        return tuple(sendable(path[prefix:]) for path in islice(walk_files(root, root), limit))

    def keep_image(self, data: bytes) -> Path:
        """Write an image to the outputs of the session, so that a prompt can name it with `@`.

        Writes the disk; call it in a thread. Raises OSError.
        """
        file = self._parts.outputs / f"pasted-{sha256(data).hexdigest()[:12]}.png"
        if not file.exists():
            replace_atomically(file, data, private=True)
        return file

    @property
    def retirements(self) -> tuple[str, ...]:
        """A sentence for each model of the settings that is retired or soon will be."""
        return retirements(self.settings, SystemClock())

    def fork(self) -> str:
        """Copy the session and return the id of the copy; this session continues unchanged."""
        return journal.fork(self.path, self.path.parent, journal.new_session_id()).stem

    @property
    def secrets(self) -> tuple[Secret, ...]:
        """The keys that must not appear in anything written elsewhere."""
        return secrets_of(self.settings, os.environ)

    async def aclose(self) -> None:
        """Close connections and journal. Raises JournalError when the end of the journal could not be written."""
        await self._agent.aclose()
        if self._recorder is not None:
            self._recorder.journal.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


def sessions_of(settings: Settings) -> tuple[SessionSummary, ...]:
    """The sessions of the workspace, the latest first."""
    return journal.sessions(journal.session_folder(settings.workspace, settings.state_dir))


AT_A_TIME = 200
"""Records of a resumed session that are shown before everything else gets its turn."""


@dataclass(frozen=True, slots=True)
class Opening:
    """Which conversation a session continues."""

    resume: str | None = None
    """Id, beginning of an id, or "latest"; None: begin a new one."""
    fork: bool = False
    """Go on in a copy and leave the original as it is."""


async def open_session(
    loaded: LoadedSettings | None = None,
    asker: Asker | None = None,
    opening: Opening | None = None,
    *,
    tools: Iterable[Tool] = (),
    standard: Collection[str] | None = None,
    hooks: Iterable[Hook] = (),
    policies: Policies | None = None,
    answer_format: Json | None = None,
    reread: Callable[[], Settings] | None = None,
    observer: Callable[[Event, float], None] | None = None,
    clock: Clock | None = None,
    log: logging.Logger | None = None,
    warm: bool = True,
    **overrides: object,
) -> Session:
    """Open a new session, or continue an old one.

        async with await open_session(tools=[weather], permission_mode="edits") as session:
            async for event in session.run("Is it raining in Oslo?"):
                print(event)

    Args:
        loaded: the settings and where they came from; None: read as for `Agent`.
        asker: answers questions; None: whatever would ask is refused.
        opening: which conversation; None: a new one. A journal holds no tools, hooks and policies: hand them in again.
        tools: tools of your own, added to the standard ones.
        standard: names of the standard tools to keep; None: all of them, `()`: none.
        hooks: functions that are asked at fixed points, after those of the settings.
        policies: what the agent decides by; None: as the settings say.
        answer_format: the `output_config.format` of answers, for models that take one; None: any text.
        reread: reads the settings again when a key was refused.
        observer: sees every event with its Unix time: first those of a session that is resumed, then each new one
            right after it was written, also what happens outside a turn.
        clock: time for waits.
        log: gets what only a developer wants to know.
        warm: get ready for the first turn at once; False: the SDK is not imported and the practice server not started
            before `Session.warm` or the first turn. Settings that cannot be used are refused here all the same.
        overrides: settings by name, for example `model="claude-opus-5-5"`, where `loaded` is None.

    Raises HarnessError (one sentence) when a setting cannot be used, the session is unknown or in use, or the
    journal cannot be written; TypeError and ValueError for tools, hooks and policies that cannot be used.
    """
    check_types(
        {
            "loaded": (loaded, LoadedSettings, "settings as `harness.settings.load` returns them"),
            "opening": (opening, Opening, 'an Opening, such as Opening(resume="latest")'),
            "observer": (observer, Callable, "a function of an event and its time"),  # type: ignore[dict-item]
            **types_of_agent(reread, log, policies, answer_format),
        }
    )
    if opening is not None:
        check_types({"Opening.resume": (opening.resume, str, 'the id or name of a session, or "latest"')})
    check_protocols(asker, clock)
    if loaded is not None and overrides:
        raise TypeError(f"open_session takes loaded= or single settings such as {next(iter(overrides))}=, not both.")
    if loaded is None:
        loaded = load(overrides, os.environ, keywords=True)
        reread = reread or (lambda: load(overrides, os.environ, keywords=True).settings)
    opening = opening or Opening()
    settings = loaded.settings
    observer = observer or unobserved
    journal.close_to_others(journal.state_folder(settings.state_dir), settings.workspace)
    folder = journal.session_folder(settings.workspace, settings.state_dir)
    state, skipped = SessionState(), 0
    records: tuple[Record, ...] = ()
    if opening.resume is None:
        kept = Journal.create(folder, journal.new_session_id())
    else:
        path = journal.find(folder, opening.resume)
        if opening.fork:
            path = journal.fork(path, folder, journal.new_session_id())
        kept = Journal.open(path)
        reading = await in_thread(partial(journal.read, path))  # a long one takes seconds, and a screen has its keys
        records, skipped = reading.records, len(reading.skipped)
        state = journal.replay(records)
        settings = _with_choices_of(state, loaded)
    masking = Masking((*loaded.secrets, *secrets_of(settings, os.environ)))
    for number, record in enumerate(records):
        observer(masking.value(record.event), record.at)
        if number % AT_A_TIME == 0:
            await asyncio.sleep(0)
    recorder = Recorder(kept, observer, lambda event: conversation.show(event))  # noqa: PLW0108  it is made below
    conversation = Conversation(recorder, state, masking=masking)
    try:
        agent = Agent(
            settings,
            tools=tools,
            standard=standard,
            hooks=hooks,
            policies=policies,
            answer_format=answer_format,
            asker=asker,
            conversation=conversation,
            outputs=journal.outputs_folder(kept.path),
            agents=journal.agents_folder(kept.path),
            reread=reread,
            clock=clock,
            log=log,
        )
        agent.parts.shared.connection.check()
        if warm:
            await agent.open()
    except BaseException:
        kept.close()
        raise
    effort, address = settings.effort or "", agent.parts.shared.connection.address
    started = SessionStarted(
        *(kept.session_id, __version__, str(settings.workspace), settings.model, address, settings.practice),
        effort=effort,
    )
    resumed = SessionResumed(
        *(__version__, settings.model, address, settings.practice, skipped, state.interrupted), effort
    )
    parts, events = agent.parts, [record.event for record in records]
    try:
        parts.breakers.recall((record.event, record.at) for record in records)
        parts.checkpoint_fold.recall(events)
        parts.tools.seen.recall(Workspace(settings.workspace).root, events)
        parts.loops.recall((record.event, record.at) for record in records)
        if parts.background is not None:
            parts.background.recall(events)
    except ValueError as error:
        await agent.aclose()
        kept.close()
        raise JournalError(
            f"The session {kept.session_id} cannot be gone on with: its journal is out of order ({error}); "
            "begin a new session."
        ) from error
    conversation.emit(started if opening.resume is None else resumed)
    if any(isinstance(event, SettingChanged) and event.name == "permission_mode" for event in events):
        parts.shared.rules.set_mode(parts.shared.rules.mode)  # a mode that was set by hand ended with its program
    if parts.lists != conversation.lists:
        conversation.emit(parts.lists)
    if parts.board is not None and parts.board.name != conversation.board:
        conversation.emit(BoardOpened(parts.board.name))
    if parts.board is not None:
        parts.board.watch()
    parts.breakers.announce()
    parts.loops.announce()
    if asker is not None and asker.present and settings.schedule and parts.background is not None:
        parts.background.schedule.start()
    return Session(agent, kept.path, recorder, state, skipped)


def _with_choices_of(state: SessionState, loaded: LoadedSettings) -> Settings:
    """The settings with the session's own model and effort, unless others were asked for; with no model of the other
    kind, where the practice model answers now or did then."""
    settings = loaded.settings
    same_kind = (state.model == PRACTICE_MODEL) == settings.practice
    changes: dict[str, object] = {}
    if state.model and same_kind and loaded.origins.get("model") == "default":
        changes["model"] = state.model
    if state.effort in set(Effort) and loaded.origins.get("effort") == "default":
        changes["effort"] = Effort(state.effort)
    return settings.model_copy(update=changes)
