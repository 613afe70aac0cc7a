"""Carries out the keys and prompts of the app on a session."""

import logging
import time
from collections.abc import Callable, Collection, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from harness.base.errors import HarnessError, SettingsError
from harness.events import Event, McpServerChanged, PauseReport
from harness.session import Opening, Session, open_session
from harness.session.session import MOST_FILES
from harness.settings import LoadedSettings, Settings
from harness.ui.app.activity import activity, joins, status_of, title
from harness.ui.app.alarm import Alarm
from harness.ui.app.asker import ScreenAsker
from harness.ui.app.candidates import WorkspaceFiles, command_candidates
from harness.ui.app.pickers import SCREEN_COMMANDS, Menu, run_screen_command
from harness.ui.app.prompt_history import PromptHistory
from harness.ui.app.prompt_text import by_kind
from harness.ui.app.views import Actions, Views
from harness.ui.commands.commands import COMMANDS, file_commands
from harness.ui.commands.results import CommandError
from harness.ui.driver import SessionDriver
from harness.ui.folds.model import Phase
from harness.ui.lines.events import left_line
from harness.ui.lines.line import Groups, Line
from harness.ui.lines.reports import example_prompts, greeting
from harness.ui.panel.state import Panel
from harness.ui.transcript.entries import DiffEntry, ExamplesEntry, ListEntry, NoteEntry, TextEntry
from harness.ui.turn_queue import ItemEnd

if TYPE_CHECKING:
    from harness.ui.app.app import HarnessApp

LONG_TURN_S = 10.0
"""The end of a longer turn is notified."""
TWICE_S = 2.0
"""For so many seconds after an interruption another Esc is ignored."""
WORTH_MOVING_S = 3.0
"""Seconds after which a running tool has the hint that it can continue in the background."""
GRACE_S = 8.0
"""Seconds a turn may take to end when the app quits."""
TYPED = (
    ("!COMMAND", "run a shell command; the model sees its output"),
    ("!!COMMAND", "run a program on the terminal; without a second ! only known ones such as vim, less, ssh"),
    ("@FILE", "mention a file"),
    ("//TEXT", "a prompt that starts with a slash"),
    ("?", "list the keys"),
)
"""Prefixes of a line."""
PROMPTS = "prompts.jsonl"
"""The prompt history, in the state folder of the session."""

T = TypeVar("T")


class Controller(SessionDriver):
    """One user, one screen, one session at a time."""

    own_commands: Collection[str] = SCREEN_COMMANDS

    def __init__(
        self, app: "HarnessApp", loaded: LoadedSettings, reread: Callable[[], Settings], log: logging.Logger
    ) -> None:
        super().__init__(log)
        self._app = app
        self._loaded = loaded
        self._reread = reread
        self._asker = ScreenAsker(app.ask, app.away)
        self._views = self._fresh_views()
        self.menu = Menu(app, self)
        """Lists and pages."""
        self._warning = ""
        self._unwarn = Alarm(app, self._forget_warning)
        self._leaving: int | None = None
        self._interrupted_at = -TWICE_S
        self._warmed = False
        self._given_back: tuple[str, ...] = ()
        """Lines that a stop put into the prompt."""

    def _see(self, views: Views, event: Event, at: float) -> None:
        views.see(event, at, answered=self.is_answered(event))
        self.on_event(event)
        if isinstance(event, McpServerChanged) and views is self._views:
            self._offer_commands(self.session)
            self._app.prompt.refresh_completion()

    # ── sessions ────────────────────────────────────────────────────────────────────────────────

    async def open(self, opening: Opening) -> None:
        """Open and show a session, then close the previous one. Raises HarnessError."""
        views = self._fresh_views()
        session = await open_session(
            self._loaded,
            self._asker,
            opening,
            reread=self._reread,
            observer=partial(self._see, views),
            log=self._log,
            warm=False,
        )
        before = self.attach(session)
        self._views.leave()
        self._views = views
        views.enter()
        for line in greeting(session, self._loaded):
            views.show(NoteEntry(line))
        if examples := example_prompts(session):
            views.show(ExamplesEntry(examples))
        self._set_up_prompt(session)
        self._app.prompt.suggest(examples)
        self._update_status()
        if session.mcp is not None:
            session.mcp.start()
        if before is not None:
            await before.aclose()

    def _set_up_prompt(self, session: Session) -> None:
        prompt = self._app.prompt
        early = prompt.history.prompts
        prompt.keep_image = session.keep_image
        prompt.turn_runs = lambda: self.running
        prompt.history = PromptHistory(session.state_folder / PROMPTS, session.conversation.masking.text)
        for text in early:
            prompt.history.add(text)
        self._offer_commands(session)
        files = WorkspaceFiles(session.files, prompt.refresh_completion, self._warn_of_more_files)
        self._app.files = lambda: (*files(), *session.mentions) if session.mentions else files()

    def _offer_commands(self, session: Session) -> None:
        """What `/` completes; the prompts of MCP servers come and go."""
        self._app.commands = command_candidates(
            (*file_commands(session), *COMMANDS.values(), *SCREEN_COMMANDS.values()), session
        )

    def _warn_of_more_files(self, count: int) -> None:
        if count >= MOST_FILES:
            self.warn(f"@ completes the first {MOST_FILES:,} files only; write the paths of others out")

    @property
    def views(self) -> Views:
        """Conversation and panel of the open session."""
        return self._views

    async def start(self, opening: Opening, *, choose: bool, text: str) -> None:
        """Open the first session. `choose` offers a list of sessions; `text` is shown above the conversation."""
        settings = self._loaded.settings
        if settings.theme is not None:
            try:
                await self.menu.choose_theme(settings.theme)
            except CommandError as error:
                raise SettingsError(f"{self._loaded.origins['theme']}: {error}") from error
        self._app.notification = settings.notification
        if settings.vim_keys:
            self._app.prompt.use_vim_keys()
        await self.open(opening)
        if text:
            self._views.show(text.rstrip())
        if choose and self.menu.other_sessions():
            self.put("/resume")
        self.start_turns()

    @property
    def left(self) -> tuple[str, ...]:
        """What became of the worktrees of the session, after its end."""
        return tuple(map(left_line, self.session.left)) if self.is_open else ()

    @property
    def worth_resuming(self) -> str:
        """The id of the session if it has a turn, else empty."""
        return self.session.id if self.is_open and self.session.conversation.turn else ""

    async def aclose(self) -> None:
        """End the turn and close the session."""
        self._views.leave()
        await super().aclose()

    def leave(self, code: int = 0) -> None:
        """Quit with this exit code after the turn has ended; a second call quits at once."""
        if self.end_turn():
            self._leaving = code
            Alarm(self._app, lambda: self._app.exit(code)).set(GRACE_S)
        else:
            self._app.exit(code)

    def warm_up(self) -> None:
        """Import what the first request needs, while the user types."""
        if not self._warmed and self.is_open:
            self._warmed = True
            self.later(self.session.warm())

    # ── typed lines ───────────────────────────────────────────────────────────────────────────

    def submit(self, text: str, *, own_turn: bool = False) -> bool:
        if not text.strip():
            return False
        if self._views.shown_step is not None:
            self._views.show_step(None)
        self._app.split_view.chat.follow()
        lines, self._given_back = by_kind(text, self._given_back), ()
        *earlier, last = lines
        for line in earlier:
            super().submit(line, own_turn=own_turn)
        return super().submit(last, own_turn=own_turn)

    # ── called by the driver ────────────────────────────────────────────────────────────────────

    def own_command(self, line: str) -> Coroutine[Any, Any, None] | None:
        return run_screen_command(line, self.menu)

    def show_text(self, text: str, heading: str = "") -> None:
        self._views.show(TextEntry(text, heading))

    def show_diff(self, parts: Sequence[str], heading: str) -> None:
        self._views.show(DiffEntry(heading, tuple(parts)))

    def to_terminal(self, text: str) -> bool:
        self._app.copy_to_clipboard(text)
        return True

    def show_line(self, line: Line) -> None:
        self._views.show(NoteEntry(line))

    def show_list(self, groups: Groups) -> None:
        only_here = [(f"/{one.name}", one.help) for one in SCREEN_COMMANDS.values() if not one.only_alone]
        self._views.show(ListEntry((*groups, ("The screen", only_here), ("Typing", TYPED))), from_top=True)

    @contextmanager
    def playing_turn(self) -> Iterator[None]:
        began = time.monotonic()
        self._update_status()
        yield
        if time.monotonic() - began >= LONG_TURN_S and self._leaving is None:
            self._app.notify_user("the turn has ended")

    def ended(self, end: ItemEnd, given_back: Sequence[str]) -> None:
        if given_back:
            self._given_back = tuple(given_back)
            self._app.prompt.load("\n".join((*given_back, self._app.prompt.text)).rstrip("\n"))
        if self._leaving is not None:
            self._app.exit(self._leaving)
            return
        self._update_status()

    def changed(self) -> None:
        self._update_status()

    async def ask_how_to_continue(self, report: PauseReport, open_tools: Sequence[str]) -> str | None:
        return await self._asker.pause(report, open_tools)

    async def away(self, work: Coroutine[None, None, T]) -> T:
        return await self._app.away(work)

    async def switch(self, opening: Opening, text: str) -> None:
        """Open another session and show `text` there. Queued prompts run in that session."""
        await self.open(opening)
        if text:
            self._views.show(text)

    # ── keys ────────────────────────────────────────────────────────────────────────────────────

    def interrupt(self) -> bool:
        if self.playing and not self.queue.stopping:
            self._interrupted_at = time.monotonic()
        return super().interrupt()

    def escape(self) -> None:
        """Return from an earlier step to the present, stop the turn, or, twice, choose an earlier prompt."""
        if self._views.shown_step is not None:
            self._views.show_step(None)
        elif self.playing or self.asks:
            self.interrupt()
        elif time.monotonic() - self._interrupted_at < TWICE_S:
            pass  # pressed twice to stop the turn, which has ended
        elif self._app.pressed_twice("escape"):
            self._forget_warning()
            self.submit("/rewind")
        else:
            self.warn("press Esc again to go back to an earlier prompt")

    def shortcut(self, key: str) -> bool:
        """Handle a key while the prompt is empty; returns whether it has a meaning."""
        match key:
            case "left" | "right":
                self._views.walk(-1 if key == "left" else 1)
            case "question_mark" if not self.running:
                self.menu.show_keys()
            case "up" if (line := self.take_last()) is not None:
                self._app.prompt.load(line)
                self._update_status()
            case _:
                return False
        return True

    def retry_now(self) -> bool:
        if not (waited := super().retry_now()):
            self.warn("there is no retry to wait for")
        return waited

    def move_to_background(self) -> None:
        """Let what the turn waits for continue in the background."""
        try:
            self.warn(self.session.background.move())
        except HarnessError as error:
            self.warn(str(error))

    def ask_other_model(self) -> None:
        """Use the fallback model instead of waiting."""
        try:
            self.session.recovery.ask_other_model()
        except HarnessError as error:
            self.warn(str(error))

    def next_mode(self) -> None:
        """Cycle the permission modes; yolo is among them only if the settings allow it."""
        modes = ["ask", "edits", "plan", "deny"] + (["yolo"] if self.session.settings.permission_mode == "yolo" else [])
        now = self.session.permissions.mode
        mode = modes[(modes.index(now) + 1) % len(modes)] if now in modes else "ask"
        self.session.permissions.set_mode(mode, stepping=True)
        self._update_status()

    def actions(self, panel: Panel) -> Actions:
        """The keys that the panel offers."""
        other = [("Alt+M", "fallback model")] if self._can_switch_model(panel) else []
        if panel.model.phase is Phase.WAITING:
            return [("Alt+R", "retry now"), *other, ("Esc", "stop")]
        if panel.model.silence is not None:
            return [("Alt+R", "ask again"), *other, ("Esc", "stop")]
        if self.playing and panel.model.phase is Phase.TOOLS and time.time() - panel.model.since >= WORTH_MOVING_S:
            return [("Ctrl+B", "background"), ("Esc", "stop")] if self.session.background.movable else []
        return []

    def _can_switch_model(self, panel: Panel) -> bool:
        waits = panel.model.phase is Phase.WAITING or panel.model.silence is not None
        return waits and self.is_open and self.session.recovery.other_model is not None

    # ── status line ─────────────────────────────────────────────────────────

    def warn(self, text: str) -> None:
        """Show a text in the status line for a moment."""
        self._warning = text
        self._unwarn.set(2.5)
        self._update_status()

    def _forget_warning(self) -> None:
        self._unwarn.stop()
        self._warning = ""
        self._update_status()

    def _update_status(self, panel: Panel | None = None) -> None:
        if not self.is_open:
            return
        session = self.session
        now = self._views.fold.now
        status = status_of(
            session,
            panel or now,
            running=self.playing,
            past=self._views.shown_step is not None,
            warning=self._warning or ("stopping" if self.queue.stopping else ""),
        )
        self._app.status.show(status)
        asks = self.asks
        runs = self.playing or asks
        where = "comes back when the turn has stopped" if self.queue.stopping else joins(now, time.time(), running=runs)
        self._app.queued.show(self.joining, where, self.queue)
        self._app.activity.show(activity(now, time.time(), self.actions(now), asks=asks) if runs else None)
        if self._loaded.settings.terminal_title:
            name = session.name or session.settings.workspace.name
            self._app.show_title(title(now, name, running=runs, asks=asks))

    def redraw(self) -> None:
        """Draw again after a resize."""
        self._views.changed()

    def _fresh_views(self) -> Views:
        return Views(self._app, self._app.split_view, self.actions, self._redrawn)

    def _redrawn(self, panel: Panel) -> None:
        self._update_status(panel)
        self._app.redraw_full_panel()
