"""What the keys and prompts of the app do to a session."""

import logging
import time
from collections.abc import AsyncGenerator, Callable, Coroutine
from typing import TYPE_CHECKING, Any

from harness.errors import HarnessError, SettingsError
from harness.events import BreakerCommand, BreakerState, Event, PauseReport
from harness.session import Opening, Session, open_session
from harness.settings import Loaded, Settings
from harness.ui.app.asker import ScreenAsker
from harness.ui.app.command_candidates import command_candidates
from harness.ui.app.menu import Menu
from harness.ui.app.prompt_history import PromptHistory
from harness.ui.app.screen_commands import SCREEN_COMMANDS, run_screen_command
from harness.ui.app.status_facts import status_of
from harness.ui.app.turns import Played, Turns
from harness.ui.app.views import Actions, Views
from harness.ui.app.workspace_files import WorkspaceFiles
from harness.ui.command_results import CommandError, Do, GoOn, Leave, Play, Say
from harness.ui.commands import COMMANDS, is_command, prompt_of, run_command, works_any_time
from harness.ui.greeting import greeting
from harness.ui.line import Line, Tone
from harness.ui.panel.state import Panel, Phase
from harness.ui.transcript.entries import Note

if TYPE_CHECKING:
    from harness.ui.app.app import HarnessApp

LONG_TURN_S = 10.0
"""A turn that took longer tells of its end, if the person looks elsewhere."""
TWICE_S = 2.0
"""Seconds after an interruption in which another Esc is still about it."""
GRACE_S = 8.0
"""Seconds a turn may take to end when the app is told to."""
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
        self._turns = Turns(self._after_turn, self.trouble, log)
        self._warning = ""
        self._unwarn: Callable[[], None] = _nothing
        self._leaving: int | None = None
        self._stopping = False
        """The person stopped the turn, and nothing has begun since."""
        self._deciding = False
        """A turn has paused, and the person is asked how to go on."""
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
            self._take_over(before, session)
        session.incoming.on_change = self._incoming_changed
        self._views.leave()
        self._views = views
        views.enter()
        for line in greeting(session, self._loaded):
            views.show(Note(line))
        self._equip_prompt(session)
        self._tell()
        if before is not None:
            await before.aclose()

    def _take_over(self, before: Session, session: Session) -> None:
        """What was typed while the session before ran is meant for the one that follows."""
        before.incoming.on_change = _nothing
        while (line := before.incoming.take_typed()) is not None:
            session.incoming.type(line)

    def _equip_prompt(self, session: Session) -> None:
        """What can be completed in this session, and the prompts of earlier days."""
        prompt = self._app.prompt
        early = prompt.history.prompts
        prompt.history = PromptHistory(session.state_folder / PROMPTS)
        for text in early:
            prompt.history.add(text)
        self._app.commands = command_candidates((*COMMANDS.values(), *SCREEN_COMMANDS.values()), session)
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
                self.menu.choose_theme(settings.theme)
            except CommandError as error:
                raise SettingsError(f"{self._loaded.origins['theme']}: {error}") from error
        self._app.calls = settings.call
        await self.open(opening)
        if said:
            self._views.show(said.rstrip())
        if choose:
            self.menu.pick_session()

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
        if not self.running or self._leaving is not None:
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
        self._views.show_step(None)
        self._app.stage.chat.follow()
        if (self.running or self._app.asking) and not (is_command(line) and works_any_time(line)):
            self.session.incoming.type(text)
        else:
            self._obey(text)

    def _obey(self, text: str) -> None:
        line = text.strip()
        try:
            if line.startswith("!") and line[1:].strip():
                self._begin(self.session.shell(line[1:].strip()))
            elif is_command(line):
                self._command(line)
            else:
                self._begin(self.session.run(prompt_of(text)))
        except HarnessError as error:
            self.trouble(str(error))

    def _command(self, line: str) -> None:
        if run_screen_command(line, self.menu):
            return
        match run_command(line, self.session):
            case Say(text):
                self._views.show(text)
            case Do(work):
                self.later(self._do(work))
            case Play(events):
                self._begin(events)
            case GoOn(opening, text):
                self.go_on(opening, text)
            case Leave():
                self.leave(0)
        self._tell()

    async def _do(self, work: Coroutine[Any, Any, str]) -> None:
        self._views.show(await work)

    def go_on(self, opening: Opening, text: str) -> None:
        """Leave the session for another one, and say this there."""
        self.later(self._go_on(opening, text))

    async def _go_on(self, opening: Opening, text: str) -> None:
        await self.open(opening)
        if text:
            self._views.show(text)

    # ── turns ───────────────────────────────────────────────────────────────────────────────────

    @property
    def running(self) -> bool:
        """A turn runs, or something else that emits events."""
        return self._turns.running

    def _begin(self, events: AsyncGenerator[Event, None]) -> None:
        self._stopping = False
        self._turns.begin(events)
        self._tell()

    def _after_turn(self, played: Played) -> None:
        if played.at_once:
            self._views.show(Note(Line("○", "stopped at once; /retry goes on from here", Tone.TROUBLE)))
        if self._leaving is not None:
            self._app.exit(self._leaving)
            return
        if played.duration_s >= LONG_TURN_S:
            self._app.call_person("the turn has ended")
        if played.paused is not None and not played.stopped:
            self._deciding = True
            self.later(self._how_to_go_on(played.paused))
        elif played.stopped:
            self._give_back_typed()
        else:
            self._go_on_with_incoming()
        self._tell()

    def _give_back_typed(self) -> None:
        """The person stopped the turn, so what was typed after its prompt is theirs to change."""
        typed = []
        while (line := self.session.incoming.take_typed()) is not None:
            typed.append(line)
        if typed:
            self._app.prompt.load("\n".join((*typed, self._app.prompt.text)).rstrip("\n"))

    def _go_on_with_incoming(self) -> None:
        """Nothing runs: the next prompt that was typed, else what has arrived from the background."""
        incoming = self.session.incoming
        if (line := incoming.take_typed()) is not None:
            self._obey(line)
        elif incoming.waiting:
            self._begin(self.session.deliver())

    def _incoming_changed(self) -> None:
        """Something was typed or has arrived. After a stop and while a question stands the next prompt brings it."""
        asked = self._deciding or self._app.asking
        if not (self.running or self._stopping or asked or self._leaving is not None):
            self._go_on_with_incoming()
        self._tell()

    def question_gone(self) -> None:
        """What a question between two turns was about is done: prompts that were typed while it stood go on."""
        self._incoming_changed()

    async def _how_to_go_on(self, report: PauseReport) -> None:
        """The turn paused with a report: ask whether and how to go on, and do it."""
        troubled = [row.tool for row in self.session.health if row.state is not BreakerState.CLOSED]
        try:
            tool = await self._asker.pause(report, troubled)
        finally:
            self._deciding = False
        if tool is None:
            self._views.show("stopped; /retry goes on with a fresh budget")
            self.question_gone()
            return
        if tool:
            self.session.command_breaker(BreakerCommand.RESET, "" if tool == "all" else tool)
        self._begin(self.session.retry())

    def later(self, work: Coroutine[None, None, None]) -> None:
        """Do something beside the keys; what goes wrong in it is told, and never ends the app."""
        self._app.run_worker(self._guarded(work), exit_on_error=False)

    async def _guarded(self, work: Coroutine[None, None, None]) -> None:
        try:
            await work
        except HarnessError as error:
            self.trouble(str(error))
        except Exception as error:  # noqa: BLE001 (the border: see above)
            self._log.exception("something beside the turn failed")
            self.trouble(f"something in the program failed ({type(error).__name__}: {error})")

    # ── keys ────────────────────────────────────────────────────────────────────────────────────

    def interrupt(self) -> None:
        """Stop the turn; the second time at once, without waiting for what it runs."""
        if self._stopping:
            self._turns.end_at_once()
        else:
            self._stopping = True
            self._interrupted_at = time.monotonic()
            self.session.interrupt()
            self.warn("stopping")

    def escape(self) -> None:
        """Back to the present, or stop the turn, or, twice, go back to an earlier prompt."""
        if self._views.shown_step is not None:
            self._views.show_step(None)
        elif self.running:
            self.interrupt()
        elif time.monotonic() - self._interrupted_at < TWICE_S:
            pass  # pressed twice to be sure that the turn stops; it has
        elif self._app.twice("escape"):
            self.menu.pick_rewind()
        else:
            self.warn("Esc again goes back to an earlier prompt")

    def shortcut(self, key: str) -> bool:
        """A key while the prompt is empty; True: it meant something."""
        panel = self._views.fold.now
        match key:
            case "r" if panel.model.retry is not None or panel.model.silence is not None:
                self.session.retry_now()
            case "m" if self._can_turn_to_another(panel):
                self.session.ask_other_model()
            case "left" | "right":
                self._views.walk(-1 if key == "left" else 1)
            case "question_mark":
                self.menu.show_keys()
            case _:
                return False
        return True

    def next_mode(self) -> None:
        """Ask, edit freely, read only, and round again; everything allowed only where the session began so."""
        modes = ["ask", "edits", "deny"] + (["yolo"] if self.session.settings.permission_mode == "yolo" else [])
        now = self.session.permission_mode
        self.session.set_permission_mode(modes[(modes.index(now) + 1) % len(modes)] if now in modes else "ask")
        self._tell()

    def actions(self, panel: Panel) -> Actions:
        """What can be pressed while the panel shows this."""
        other = [("m", "other model")] if self._can_turn_to_another(panel) else []
        if panel.model.phase is Phase.WAITING:
            return [("r", "retry now"), *other, ("Esc", "stop")]
        if panel.model.silence is not None:
            return [("r", "ask again"), *other, ("Esc", "stop")]
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
            running=self.running,
            past=self._views.shown_step is not None,
            waiting=len(self._session.incoming.typed),
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
