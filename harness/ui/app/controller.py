"""What the keys and prompts of the app do to a session."""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from harness.base.errors import HarnessError, SettingsError
from harness.events import (
    BreakerCommand,
    BreakerState,
    Event,
    PauseReport,
    PauseReported,
    TransitionCode,
    TurnEnded,
)
from harness.session import Opening, Session, open_session
from harness.settings import Loaded, Settings
from harness.ui.app.asker import ScreenAsker
from harness.ui.app.command_candidates import Offered, command_candidates
from harness.ui.app.menu import Menu
from harness.ui.app.prompt_history import PromptHistory
from harness.ui.app.screen_commands import SCREEN_COMMANDS, run_screen_command
from harness.ui.app.status_facts import status_of
from harness.ui.app.views import Actions, Views
from harness.ui.app.workspace_files import WorkspaceFiles
from harness.ui.commands.commands import COMMANDS, is_command, leaves, prompt_of, run_command, works_any_time
from harness.ui.commands.file_commands import file_command_names
from harness.ui.commands.results import CommandError, Do, GoOn, Leave, Play, Say, ShowList
from harness.ui.lines.columns import Groups
from harness.ui.lines.line import Line, Tone
from harness.ui.panel.state import Panel, Phase
from harness.ui.plain.greeting import greeting
from harness.ui.transcript.entries import Listed, Note
from harness.ui.turn_queue import Delivery, Ended, Item, TurnLoop, Typed

if TYPE_CHECKING:
    from harness.ui.app.app import HarnessApp

LONG_TURN_S = 10.0
"""A turn that took longer tells of its end, if the person looks elsewhere."""
TWICE_S = 2.0
"""Seconds after an interruption in which another Esc is still about it."""
GRACE_S = 8.0
"""Seconds a turn may take to end when the app is told to."""
STOPPED = (TransitionCode.ABORTED_STREAMING, TransitionCode.ABORTED_TOOLS)
"""Ends of a turn that the user stopped."""
TYPED = (
    ("!COMMAND", "a shell command of your own; the model sees it"),
    ("@FILE", "a file of this folder"),
    ("//TEXT", "a prompt that begins with a slash"),
    ("?", "every key"),
)
"""What lines can begin with."""
PROMPTS = "prompts.jsonl"
"""File of the state folder that remembers what was typed."""


class Controller:
    """One person, one screen, one session at a time."""

    def __init__(self, app: "HarnessApp", loaded: Loaded, reread: Callable[[], Settings], log: logging.Logger) -> None:
        self._app = app
        self._loaded = loaded
        self._reread = reread
        self._log = log
        self._asker = ScreenAsker(app.put)
        self._views = self._fresh_views()
        self._session: Session | None = None
        self.menu = Menu(app, self)
        """What can be chosen or opened on the screen."""
        self._turns = TurnLoop(self._carry_out, self._ended, self._arrived)
        self._playing = False
        """Events are being played, of a turn or of something else that can be stopped."""
        self._pausing: asyncio.Future[str | None] | None = None
        """A turn has paused, and the user is asked how to go on."""
        self._warning = ""
        self._unwarn: Callable[[], None] = _nothing
        self._leaving: int | None = None
        self._interrupted_at = -TWICE_S
        self._warmed = False

    # ── sessions ────────────────────────────────────────────────────────────────────────────────

    async def open(self, opening: Opening) -> None:
        """Open a session and show it; the one before is closed. Raises HarnessError when it cannot be opened."""
        views = self._fresh_views()
        session = await open_session(
            self._loaded, self._asker, opening, reread=self._reread, observer=views.see, log=self._log, warm=False
        )
        before, self._session = self._session, session
        if before is not None:
            before.incoming.on_change = _nothing
        session.incoming.on_change = self._turns.wake
        self._turns.queue.hold()
        self._views.leave()
        self._views = views
        views.enter()
        for line in greeting(session, self._loaded):
            views.show(Note(line))
        self._equip_prompt(session)
        self._tell()
        if before is not None:
            await before.aclose()

    def _equip_prompt(self, session: Session) -> None:
        """What can be completed in this session, and the prompts of earlier days."""
        prompt = self._app.prompt
        early = prompt.history.prompts
        prompt.keep_image = session.keep_image
        prompt.history = PromptHistory(session.state_folder / PROMPTS, session.masked)
        for text in early:
            prompt.history.add(text)
        of_files = [Offered(one.name, one.hint, one.description) for one in session.commands.commands]
        self._app.commands = command_candidates((*of_files, *COMMANDS.values(), *SCREEN_COMMANDS.values()), session)
        self._app.files = WorkspaceFiles(session.files, prompt.look_again)

    @property
    def session(self) -> Session:
        """The session that is open. Raises RuntimeError before one is."""
        if self._session is None:
            raise RuntimeError("no session is open")
        return self._session

    @property
    def views(self) -> Views:
        """Conversation and panel of the session that is open."""
        return self._views

    async def begin(self, opening: Opening, *, choose: bool, said: str) -> None:
        """Open the first session; `choose` lets the person pick it, `said` is shown above it."""
        settings = self._loaded.settings
        if settings.theme is not None:
            try:
                await self.menu.choose_theme(settings.theme)
            except CommandError as error:
                raise SettingsError(f"{self._loaded.origins['theme']}: {error}") from error
        self._app.calls = settings.call
        await self.open(opening)
        if said:
            self._views.show(said.rstrip())
        if choose and self.menu.other_sessions():
            self._turns.put("/resume")
        self._turns.start()

    @property
    def worth_resuming(self) -> str:
        """The id of the session, if anything was said in it; else empty."""
        return self._session.id if self._session is not None and self._session.turn else ""

    async def aclose(self) -> None:
        """End the turn and close the session."""
        self._views.leave()
        await self._turns.aclose()
        if self._session is not None:
            self._session.incoming.on_change = _nothing
            await self._session.aclose()

    def leave(self, code: int) -> None:
        """End the app with this exit code, after the turn has ended; a second call does not wait for that."""
        self._turns.queue.close()
        if not self._playing or self._leaving is not None:
            self._app.exit(code)
            return
        self._leaving = code
        self.session.interrupt()
        self._app.set_timer(GRACE_S, lambda: self._app.exit(code))

    def get_warm(self) -> None:
        """Somebody types: import what the first request needs meanwhile."""
        if not self._warmed and self._session is not None:
            self._warmed = True
            self.later(self._session.warm())

    # ── what is typed ───────────────────────────────────────────────────────────────────────────

    def submit(self, text: str) -> None:
        """Do what was typed: a prompt, a command after `/`, a shell command after `!`. Prompts wait for their turn."""
        line = text.strip()
        if not line:
            return
        if self._views.shown_step is not None:
            self._views.show_step(None)
        self._app.stage.chat.follow()
        if self.running and line == "/retry" and self._waits:
            self.retry_now()
        elif self.running and self._works_now(line):
            self._at_once(line)
        else:
            self._turns.put(text)
            self._tell()

    def _works_now(self, line: str) -> bool:
        """Whether a line is a command that does not wait for its turn. Leaving waits for the prompts typed before."""
        if not self._is_command(line) or (leaves(line) and len(self._turns.queue)):
            return False
        return works_any_time(line, file_command_names(self.session))

    def _is_command(self, line: str) -> bool:
        return is_command(line, {*SCREEN_COMMANDS, *file_command_names(self.session)})

    def _at_once(self, line: str) -> None:
        """Do a command beside what runs."""
        try:
            if (screen := run_screen_command(line, self.menu)) is not None:
                self.later(screen)
                return
            match run_command(line, self.session):
                case Say(text):
                    self._views.show(text)
                case ShowList(groups):
                    self._show_list(groups)
                case Do(work):
                    self.later(self._do(work))
                case Leave():
                    self.leave(0)
        except HarnessError as error:
            self.trouble(str(error))
        self._tell()

    async def _carry_out(self, item: Item) -> None:
        """Do what is next, to its end. Raises HarnessError, one sentence, when it cannot be done."""
        match item:
            case Delivery():
                await self._play(self.session.deliver())
            case Typed(text):
                self._tell()
                await self._obey(text)

    async def _obey(self, text: str) -> None:
        line = text.strip()
        if line.startswith("!") and line[1:].strip():
            await self._play(self.session.shell(line[1:].strip()))
        elif self._is_command(line):
            await self._command(line)
        else:
            await self._play(self.session.run(prompt_of(text)))

    async def _command(self, line: str) -> None:
        if (screen := run_screen_command(line, self.menu)) is not None:
            await screen
            return
        match run_command(line, self.session):
            case Say(text):
                self._views.show(text)
            case ShowList(groups):
                self._show_list(groups)
            case Do(work):
                self.later(self._do(work))
            case Play(events):
                await self._play(events)
            case GoOn(opening, text):
                await self.go_on(opening, text)
            case Leave():
                self.leave(0)

    def _show_list(self, groups: Groups) -> None:
        """The commands, with those of the screen, from the first one on."""
        only_here = [(f"/{one.name}", one.help) for one in SCREEN_COMMANDS.values() if not one.only_alone]
        self._views.show(Listed((*groups, ("The screen", only_here), ("Typing", TYPED))), from_top=True)

    async def _do(self, work: Coroutine[Any, Any, str]) -> None:
        self._views.show(await work)

    async def go_on(self, opening: Opening, text: str) -> None:
        """Leave the session for another one, and say this there. What waits in the queue runs in that one."""
        await self.open(opening)
        if text:
            self._views.show(text)

    # ── turns ───────────────────────────────────────────────────────────────────────────────────

    @property
    def running(self) -> bool:
        """Something runs, or is about to."""
        return self._turns.busy

    def _arrived(self) -> bool:
        """Something from the background has not been delivered yet."""
        return bool(self.session.incoming.waiting)

    async def _play(self, events: AsyncGenerator[Event, None]) -> None:
        """Let events come until they end; the views get them from the session. Then ask, if the turn paused."""
        self._turns.queue.release()
        self._playing, began, paused, begun = True, time.monotonic(), None, False
        self._tell()
        try:
            async with aclosing(events):
                async for event in events:
                    if not begun and self._turns.queue.stopping:
                        self.session.interrupt()  # it was stopped before it had begun, which forgets such a wish
                    begun = True
                    match event:
                        case TurnEnded(code=code) if code in STOPPED:
                            self._turns.queue.stop()
                        case PauseReported(report=report):
                            paused = report
        finally:
            self._playing = False
        if time.monotonic() - began >= LONG_TURN_S and self._leaving is None:
            self._app.call_person("the turn has ended")
        if paused is not None and not self._turns.queue.stopping and self._leaving is None:
            await self._how_to_go_on(paused)

    def _ended(self, ended: Ended) -> None:
        """One item of the queue has ended, and the next one has not begun."""
        if ended.error is not None:
            self._tell_error(ended.error)
        if ended.at_once:
            self._views.show(Note(Line("○", "stopped at once; /retry goes on from here", Tone.TROUBLE)))
        if ended.given_back:
            self._app.prompt.load("\n".join((*ended.given_back, self._app.prompt.text)).rstrip("\n"))
        if self._leaving is not None:
            self._app.exit(self._leaving)
            return
        self._tell()

    async def _how_to_go_on(self, report: PauseReport) -> None:
        """The turn paused with a report: ask whether and how to go on, and do it."""
        troubled = [row.tool for row in self.session.health if row.state is not BreakerState.CLOSED]
        self._tell()
        self._pausing = asyncio.ensure_future(self._asker.pause(report, troubled))
        try:
            await asyncio.wait({self._pausing})
        finally:
            pausing, self._pausing = self._pausing, None
            pausing.cancel()
        tool = None if pausing.cancelled() else pausing.result()
        if tool is None:
            self._turns.queue.stop()
            self._views.show("stopped; /retry goes on with a fresh budget")
            return
        if tool:
            self.session.command_breaker(BreakerCommand.RESET, "" if tool == "all" else tool)
        await self._play(self.session.retry())

    def later(self, work: Coroutine[None, None, None]) -> None:
        """Do something beside the keys; what goes wrong in it is told, and never ends the app."""
        self._app.run_worker(self._guarded(work), exit_on_error=False)

    async def _guarded(self, work: Coroutine[None, None, None]) -> None:
        try:
            await work
        except Exception as error:  # noqa: BLE001 (the border: see above)
            self._tell_error(error)

    def _tell_error(self, error: BaseException) -> None:
        """Say what went wrong; what is no expected error goes to the log, too."""
        if isinstance(error, HarnessError):
            self.trouble(str(error))
        else:
            self._log.error("something failed", exc_info=error)
            self.trouble(f"something in the program failed ({type(error).__name__}: {error})")

    # ── keys ────────────────────────────────────────────────────────────────────────────────────

    def interrupt(self) -> None:
        """Stop the turn; the second time at once, without waiting for what it runs."""
        if self._pausing is not None:
            self._pausing.cancel()
        elif not self._playing:
            pass  # what runs is short
        elif self._turns.queue.stop():
            self._interrupted_at = time.monotonic()
            self.session.interrupt()
            self.warn("stopping")
        else:
            self._turns.end_at_once()

    def escape(self) -> None:
        """Back to the present, or stop the turn, or, twice, go back to an earlier prompt."""
        if self._views.shown_step is not None:
            self._views.show_step(None)
        elif self._playing or self._pausing is not None:
            self.interrupt()
        elif time.monotonic() - self._interrupted_at < TWICE_S:
            pass  # pressed twice to be sure that the turn stops; it has
        elif self._app.twice("escape"):
            self.submit("/rewind")
        else:
            self.warn("Esc again goes back to an earlier prompt")

    def shortcut(self, key: str) -> bool:
        """A key while the prompt is empty; True: it meant something."""
        match key:
            case "left" | "right":
                self._views.walk(-1 if key == "left" else 1)
            case "question_mark" if not self.running:
                self.menu.show_keys()
            case _:
                return False
        return True

    def retry_now(self) -> None:
        """Do not wait for the retry, or for a silent model."""
        if self._waits:
            self.session.retry_now()
        else:
            self.warn("no retry is waited for")

    def ask_other_model(self) -> None:
        """Ask the next fallback instead of waiting for this model."""
        try:
            self.session.ask_other_model()
        except HarnessError as error:
            self.warn(str(error))

    @property
    def _waits(self) -> bool:
        """A retry is waited for, or a silent model is."""
        model = self._views.fold.now.model
        return model.retry is not None or model.silence is not None

    def next_mode(self) -> None:
        """Ask, edit freely, read only, and round again; everything allowed only where the session began so."""
        modes = ["ask", "edits", "deny"] + (["yolo"] if self.session.settings.permission_mode == "yolo" else [])
        now = self.session.permission_mode
        self.session.set_permission_mode(modes[(modes.index(now) + 1) % len(modes)] if now in modes else "ask")
        self._tell()

    def actions(self, panel: Panel) -> Actions:
        """What can be pressed while the panel shows this."""
        other = [("Alt+M", "other model")] if self._can_turn_to_another(panel) else []
        if panel.model.phase is Phase.WAITING:
            return [("Alt+R", "retry now"), *other, ("Esc", "stop")]
        if panel.model.silence is not None:
            return [("Alt+R", "ask again"), *other, ("Esc", "stop")]
        return []

    def _can_turn_to_another(self, panel: Panel) -> bool:
        waits = panel.model.phase is Phase.WAITING or panel.model.silence is not None
        return waits and self._session is not None and self._session.other_model is not None

    # ── what is said in the status line ─────────────────────────────────────────────────────────

    def warn(self, text: str) -> None:
        """Say something for a moment."""
        self._warning = text
        self._unwarn()
        self._unwarn = self._app.set_timer(2.5, self._forget_warning).stop
        self._tell()

    def _forget_warning(self) -> None:
        self._unwarn = _nothing
        self._warning = ""
        self._tell()

    def trouble(self, text: str) -> None:
        """Say in the conversation that something could not be done."""
        self._views.show(Note(Line("!", text, Tone.TROUBLE)))

    def _tell(self, panel: Panel | None = None) -> None:
        """Bring the status line up to date."""
        if self._session is None:
            return
        status = status_of(
            self._session,
            panel or self._views.fold.now,
            running=self._playing,
            past=self._views.shown_step is not None,
            waiting=len(self._turns.queue),
            warning=self._warning,
        )
        self._app.status.tell(status)

    def redraw(self) -> None:
        """The space has changed."""
        self._views.changed()

    def _fresh_views(self) -> Views:
        return Views(self._app, self._app.stage, self.actions, self._redrawn)

    def _redrawn(self, panel: Panel) -> None:
        self._tell(panel)
        self._app.redraw_full_panel()


def _nothing() -> None:
    """There is no warning to take back, and no session to listen to."""
