"""Opens a session: its journal, its agent, and the events that announce it."""

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from harness import journal
from harness.agent import Agent
from harness.base.arguments import check_types
from harness.base.concurrency import in_thread
from harness.base.errors import JournalError
from harness.base.secrets import Masking
from harness.base.version import __version__
from harness.engine.build.from_settings import secrets_of
from harness.engine.build.options import AgentOptions
from harness.engine.conversation import Conversation
from harness.engine.parts import AgentParts
from harness.engine.permissions.asker import Asker
from harness.events import (
    BoardOpened,
    Effort,
    Event,
    PlanChanged,
    PlanItem,
    SandboxFound,
    SessionResumed,
    SessionStarted,
    SettingChanged,
)
from harness.journal import Journal, Record, Recorder, SessionState, unobserved
from harness.permissions import Mode
from harness.sandbox import SandboxState
from harness.session import worktrees
from harness.session.session import Session
from harness.settings import PRACTICE_MODEL, LoadedSettings, Settings, load
from harness.tools.workspace import Workspace

AT_A_TIME = 200
"""Records of a resumed session that are shown before everything else gets its turn."""


@dataclass(frozen=True, slots=True)
class Opening:
    """Which conversation a session continues."""

    resume: str | None = None
    """Id, beginning of an id, or "latest"; None: begin a new one."""
    fork: bool = False
    """Go on in a copy and leave the original as it is."""
    mode: str = ""
    """The permission mode that it begins in; empty: that of the settings, or plan mode where it is resumed in that."""
    steps: tuple[str, ...] = ()
    """The checklist that it begins with."""
    worktree: str | None = None
    """The worktree that it works in, made where there is none; empty: a new one; None: that of a resumed session."""
    carry: bool = False
    """A new worktree has the user's uncommitted changes as well."""


@dataclass(frozen=True, slots=True)
class _Kept:
    """A journal under lock, with what it held."""

    journal: Journal
    resumes: bool = False
    records: tuple[Record, ...] = ()
    state: SessionState = field(default_factory=SessionState)
    skipped: int = 0
    """Lines that could not be read."""

    @property
    def events(self) -> Sequence[Event]:
        return [record.event for record in self.records]

    @property
    def dated(self) -> Sequence[tuple[Event, float]]:
        return [(record.event, record.at) for record in self.records]


async def open_session(
    loaded: LoadedSettings | None = None,
    asker: Asker | None = None,
    opening: Opening | None = None,
    *,
    observer: Callable[[Event, float], None] = unobserved,
    warm: bool = True,
    **options: object,
) -> Session:
    """Open a new session, or continue an old one.

        async with await open_session(tools=[weather], permission_mode="edits") as session:
            async for event in session.run("Is it raining in Oslo?"):
                print(event)

    Args:
        loaded: the settings and where they came from; None: read as for `Agent`.
        asker: answers questions; None: whatever would ask is refused.
        opening: which conversation; None: a new one. A journal holds no tools, hooks and policies: hand them in again.
        observer: sees every event with its Unix time: first those of a session that is resumed, then each new one
            right after it was written, also what happens outside a turn.
        warm: get ready for the first turn at once; False: the SDK is not imported and the practice server not started
            before `Session.warm` or the first turn. Settings that cannot be used are refused here all the same.
        options: fields of `AgentOptions`, for example `tools=[weather]`; where `loaded` is None also settings by name,
            for example `model="claude-opus-5-5"`.

    Raises HarnessError when a setting cannot be used, the session is unknown or in use, or the journal cannot be
    written; TypeError and ValueError for options that cannot be used.
    """
    _check(loaded, opening, observer)
    opening = opening or Opening()
    loaded, chosen = _chosen(loaded, asker, options)
    kept = await _journal(loaded.settings, opening)
    try:
        settings = _with_choices_of(kept.state, loaded) if kept.resumes else loaded.settings
        worktree = opening.worktree if opening.worktree is not None else kept.state.worktree or None
        entry = await worktrees.enter(settings, worktree, kept.journal.session_id, carry=opening.carry)
        masking = Masking((*loaded.secrets, *secrets_of(entry.settings, os.environ)))
        await _replayed(kept, observer, masking)
        recorder = Recorder(kept.journal, observer)
        agent = _agent(entry.settings, chosen, kept, Conversation(recorder, kept.state, masking=masking))
        if warm:
            await agent.open()
        await _recall(agent, kept)
    except BaseException:
        kept.journal.close()
        await worktrees.leave(loaded.settings, kept.journal.session_id)
        raise
    await _begin(agent.parts, kept, opening, entry.events)
    session = Session(agent, kept.journal.path, recorder, kept.state, kept.skipped, entry.events)
    if warm and session.mcp is not None:
        session.mcp.start()
    return session


def _check(loaded: object, opening: object, observer: object) -> None:
    """Raise TypeError for an argument of another type."""
    check_types(
        {
            "loaded": (loaded, LoadedSettings, "settings as `harness.settings.load` returns them"),
            "opening": (opening, Opening, 'an Opening, such as Opening(resume="latest")'),
            "observer": (observer, Callable, "a function of an event and its time"),  # type: ignore[dict-item]
        }
    )
    if isinstance(opening, Opening):
        check_types({"Opening.resume": (opening.resume, str, 'the id or name of a session, or "latest"')})


def _chosen(
    loaded: LoadedSettings | None, asker: Asker | None, options: Mapping[str, object]
) -> tuple[LoadedSettings, AgentOptions]:
    """Settings and options, whether they are given whole or by name."""
    chosen, overrides = AgentOptions(asker=asker).changed(options)
    if loaded is not None and overrides:
        raise TypeError(f"open_session takes loaded= or single settings such as {next(iter(overrides))}=, not both.")
    if loaded is not None:
        return loaded, chosen
    read = partial(load, overrides, os.environ, keywords=True)
    return read(), replace(chosen, reread=chosen.reread or (lambda: read().settings))


async def _journal(settings: Settings, opening: Opening) -> _Kept:
    private = partial(journal.close_to_others, journal.state_folder(settings.state_dir), settings.workspace)
    folder = journal.session_folder(settings.workspace, settings.state_dir)
    if opening.resume is None:
        private()
        return _Kept(Journal.create(folder, journal.new_session_id()))
    path = journal.find(folder, opening.resume)
    private()
    if opening.fork:
        path = journal.fork(path, folder, journal.new_session_id())
    kept = Journal.open(path)
    reading = await in_thread(partial(journal.read, path))  # a long one takes seconds, and a screen has its keys
    skipped = len(reading.skipped)
    return _Kept(kept, resumes=True, records=reading.records, state=journal.replay(reading.records), skipped=skipped)


async def _replayed(kept: _Kept, observer: Callable[[Event, float], None], masking: Masking) -> None:
    """Show the observer what the journal holds, and let everything else have its turn."""
    for number, record in enumerate(kept.records):
        observer(masking.value(record.event), record.at)
        if number % AT_A_TIME == 0:
            await asyncio.sleep(0)


def _agent(settings: Settings, options: AgentOptions, kept: _Kept, conversation: Conversation) -> Agent:
    """The agent of a session. Raises SettingsError when its settings cannot be used."""
    path = kept.journal.path
    own = replace(
        options, conversation=conversation, outputs=journal.outputs_folder(path), agents=journal.agents_folder(path)
    )
    agent = Agent(settings, own)
    agent.core.shared.connection.check()
    return agent


async def _recall(agent: Agent, kept: _Kept) -> None:
    """Fold what the journal holds into the parts that continue from it. Raises JournalError for one out of order, with
    the agent closed."""
    try:
        _fold(agent.parts, kept)
    except ValueError as error:
        await agent.aclose()
        raise JournalError(
            f"The session {kept.journal.session_id} cannot be gone on with: its journal is out of order ({error}); "
            "begin a new session."
        ) from error


def _fold(parts: AgentParts, kept: _Kept) -> None:
    parts.breakers.recall(kept.dated)
    parts.core.shared.rules.recall(kept.events)
    parts.checkpoint_fold.recall(kept.events)
    parts.tools.seen.recall(Workspace(parts.core.settings.workspace).root, kept.events)
    parts.loops.recall(kept.dated)
    if parts.steering is not None:
        parts.steering.recall(kept.events)
    if parts.background is not None:
        parts.background.recall(kept.events)


async def _begin(parts: AgentParts, kept: _Kept, opening: Opening, entered: Sequence[Event]) -> None:
    """Emit the first events of the session, and let its members and its schedule go on."""
    sandbox = parts.core.shared.processes.sandbox
    _announce(parts, kept, opening, await in_thread(lambda: sandbox.state))
    for event in entered:
        parts.core.conversation.emit(event)
    sandbox.take_change()
    if parts.background is not None:
        await parts.background.open()
        if _wants_schedule(parts):
            parts.background.schedule.start()


def _announce(parts: AgentParts, kept: _Kept, opening: Opening, sandbox: SandboxState) -> None:
    """The first events of the session as it is now."""
    core, conversation = parts.core, parts.core.conversation
    settings, address = core.settings, core.shared.connection.address
    effort = settings.effort or ""
    if kept.resumes:
        resumed = (
            __version__,
            settings.model,
            address,
            settings.practice,
            kept.skipped,
            kept.state.interrupted,
            effort,
        )
        conversation.emit(SessionResumed(*resumed))
    else:
        begun = (kept.journal.session_id, __version__, str(settings.workspace), settings.model, address)
        conversation.emit(SessionStarted(*begun, settings.practice, effort=effort))
    conversation.emit(SandboxFound(sandbox.level.value, sandbox.by, sandbox.why, sandbox.repair))
    rules = core.shared.rules
    begins = opening.mode or (Mode.PLAN if kept.state.planning is not None else rules.mode)
    changed = any(isinstance(event, SettingChanged) and event.name == "permission_mode" for event in kept.events)
    if changed or begins != rules.mode or begins == Mode.PLAN:
        rules.set_mode(begins)  # plan mode outlives its program; any other mode that was set by hand ended with it
    if opening.steps:
        conversation.emit(PlanChanged(tuple(PlanItem(step) for step in opening.steps)))
    if parts.lists != conversation.state.lists:
        conversation.emit(parts.lists)
    if parts.board is not None and parts.board.name != conversation.state.board:
        conversation.emit(BoardOpened(parts.board.name))
    if parts.board is not None:
        parts.board.watch()
    parts.breakers.announce()
    parts.loops.announce()


def _wants_schedule(parts: AgentParts) -> bool:
    """Somebody is present for whom jobs may fire."""
    return parts.core.asker.present and parts.core.settings.schedule


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
