"""Opens sessions: new ones, and ones that continue from a journal."""

import asyncio
import logging
import os
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from functools import partial

from harness import __version__, journal
from harness.agent import Agent
from harness.base.clock import Clock
from harness.base.errors import JournalError
from harness.base.secrets import Masking
from harness.base.threads import in_thread
from harness.engine.config import Policies, schedule_file, secrets_of
from harness.engine.conversation import Conversation
from harness.engine.permissions.asker import Asker
from harness.events import BoardOpened, Effort, Event, Json, SessionResumed, SessionStarted, SettingChanged
from harness.hooks import Hook
from harness.journal import Journal, Record, Recorder, SessionState, unobserved
from harness.session.session import Session
from harness.settings import PRACTICE_MODEL, LoadedSettings, Settings, load
from harness.tools.tool import Tool

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
    if loaded is not None and overrides:
        raise TypeError(f"open_session takes loaded= or single settings such as {next(iter(overrides))}=, not both.")
    if loaded is None:
        loaded = load(overrides, os.environ)
        reread = reread or (lambda: load(overrides, os.environ).settings)
    opening = opening or Opening()
    settings = loaded.settings
    observer = observer or unobserved
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
    conversation = Conversation.resumed(recorder, state, masking)
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
    if (
        asker is not None
        and asker.present
        and settings.schedule
        and parts.background is not None
        and schedule_file(settings).exists()
    ):
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
