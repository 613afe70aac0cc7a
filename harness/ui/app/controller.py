"""Carries out the keys and prompts of the app on a session."""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import aclosing
from functools import partial
from typing import TYPE_CHECKING, Any

from harness.base.errors import HarnessError, SettingsError
from harness.events import (
    BreakerCommand,
    BreakerState,
    Event,
    JobFired,
    PauseReport,
    PauseReported,
    TransitionCode,
    TurnEnded,
)
from harness.session import Opening, Session, open_session
from harness.session.session import MOST_FILES
from harness.settings import LoadedSettings, Settings
from harness.ui.app.activity import activity, status_of, title
from harness.ui.app.alarm import Alarm
from harness.ui.app.asker import ScreenAsker
from harness.ui.app.candidates import FileCommand, WorkspaceFiles, command_candidates
from harness.ui.app.pickers import SCREEN_COMMANDS, Menu, run_screen_command
from harness.ui.app.prompt_history import PromptHistory
from harness.ui.app.views import Actions, Views
from harness.ui.commands.commands import (
    COMMANDS,
    file_command_names,
    is_command,
    prompt_of,
    quits,
    run_command,
    works_any_time,
)
from harness.ui.commands.results import (
    CommandError,
    CommandResult,
    EditQueue,
    PlayEvents,
    Quit,
    ShowList,
    ShowText,
    StartTask,
    SwitchSession,
)
from harness.ui.folds.model import Phase
from harness.ui.lines.line import Groups, Line, Tone
from harness.ui.lines.queue import queue_text
from harness.ui.lines.reports import example_prompts, greeting
from harness.ui.panel.state import Panel
from harness.ui.terminal_programs import command_after_sign, ended_line
from harness.ui.transcript.entries import ExamplesEntry, ListEntry, NoteEntry
from harness.ui.turn_queue import Delivery, Item, ItemEnd, TurnLoop, TypedLine

if TYPE_CHECKING:
    from harness.ui.app.app import HarnessApp

LONG_TURN_S = 10.0
"""The end of a longer turn is notified."""
TWICE_S = 2.0
"""Seconds after an interruption in which another Esc is ignored."""
WORTH_MOVING_S = 3.0
"""Seconds after which a running tool has the hint that it can continue in the background."""
GRACE_S = 8.0
"""Seconds a turn may take to end when the app quits."""
STOPPED = (TransitionCode.ABORTED_STREAMING, TransitionCode.ABORTED_TOOLS)
"""Transitions that end a stopped turn."""
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


class Controller:
    """One user, one screen, one session at a time."""

    def __init__(
        self, app: "HarnessApp", loaded: LoadedSettings, reread: Callable[[], Settings], log: logging.Logger
    ) -> None:
        self._app = app
        self._loaded = loaded
        self._reread = reread
        self._log = log
        self._asker = ScreenAsker(app.ask)
        self._views = self._fresh_views()
        self._session: Session | None = None
        self.menu = Menu(app, self)
        """Lists and pages."""
        self._turns = TurnLoop(self._carry_out, self._ended, self._arrived)
        self._playing = False
        """Events are arriving, of a turn or of another command that can be stopped."""
        self._pausing: asyncio.Future[str | None] | None = None
        """The question how to continue a paused turn."""
        self._warning = ""
        self._unwarn = Alarm(app, self._forget_warning)
        self._leaving: int | None = None
        self._interrupted_at = -TWICE_S
        self._warmed = False

    def _see(self, views: Views, event: Event, at: float) -> None:
        views.see(event, at)
        if isinstance(event, JobFired):
            self._turns.queue.release()  # a scheduled prompt begins a turn also before the first typed one

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
        before, self._session = self._session, session
        if before is not None:
            before.inbox.notify(None)
        session.inbox.notify(self._turns.wake)
        self._turns.queue.hold()
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
        if before is not None:
            await before.aclose()

    def _set_up_prompt(self, session: Session) -> None:
        prompt = self._app.prompt
        early = prompt.history.prompts
        prompt.keep_image = session.keep_image
        prompt.history = PromptHistory(session.state_folder / PROMPTS, session.conversation.masking.text)
        for text in early:
            prompt.history.add(text)
        of_files = [FileCommand(one.name, one.hint, one.description) for one in session.commands.commands]
        self._app.commands = command_candidates((*of_files, *COMMANDS.values(), *SCREEN_COMMANDS.values()), session)
        self._app.files = WorkspaceFiles(session.files, prompt.refresh_completion, self._warn_of_more_files)

    def _warn_of_more_files(self, count: int) -> None:
        if count >= MOST_FILES:
            self.warn(f"@ completes the first {MOST_FILES:,} files only; write the paths of others out")

    @property
    def session(self) -> Session:
        """The open session. Raises RuntimeError before one is open."""
        if self._session is None:
            raise RuntimeError("no session is open")
        return self._session

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
            self._turns.put("/resume")
        self._turns.start()

    @property
    def worth_resuming(self) -> str:
        """The id of the session if it has a turn, else empty."""
        return self._session.id if self._session is not None and self._session.conversation.turn else ""

    async def aclose(self) -> None:
        """End the turn and close the session."""
        self._views.leave()
        await self._turns.aclose()
        if self._session is not None:
            self._session.inbox.notify(None)
            await self._session.aclose()

    def leave(self, code: int) -> None:
        """Quit with this exit code after the turn has ended; a second call quits at once."""
        self._turns.queue.close()
        if not self._playing or self._leaving is not None:
            self._app.exit(code)
            return
        self._leaving = code
        self.session.leave()
        Alarm(self._app, lambda: self._app.exit(code)).set(GRACE_S)

    def warm_up(self) -> None:
        """Import what the first request needs, while the user types."""
        if not self._warmed and self._session is not None:
            self._warmed = True
            self.later(self._session.warm())

    # ── typed lines ───────────────────────────────────────────────────────────────────────────

    def submit(self, text: str) -> None:
        """Run a typed line: a prompt, a slash command, or a shell command after `!`. Prompts are queued."""
        line = text.strip()
        if not line:
            return
        if self._views.shown_step is not None:
            self._views.show_step(None)
        self._app.split_view.chat.follow()
        runs = self._turns.queue.running is not None  # what is about to run is not overtaken
        if runs and line == "/retry" and self._waits:
            self.retry_now()
        elif runs and self._works_now(line):
            self._at_once(line)
        else:
            self._turns.put(text)
            self._update_status()

    def _works_now(self, line: str) -> bool:
        if not self._is_command(line) or (quits(line) and len(self._turns.queue)):
            return False
        return works_any_time(line, file_command_names(self.session))

    def _is_command(self, line: str) -> bool:
        return is_command(line, {*SCREEN_COMMANDS, *file_command_names(self.session)})

    def _at_once(self, line: str) -> None:
        """Run a command while a turn is running."""
        try:
            if (screen := run_screen_command(line, self.menu)) is not None:
                self.later(screen)
                return
            self._show_result(run_command(line, self.session))
        except HarnessError as error:
            self.show_error(str(error))
        self._update_status()

    async def _carry_out(self, item: Item) -> None:
        """Run an item of the queue to its end. Raises HarnessError."""
        match item:
            case Delivery():
                await self._play(self.session.deliver())
            case TypedLine(text):
                self._update_status()
                await self._run_line(text)

    async def _run_line(self, text: str) -> None:
        line = text.strip()
        if line.startswith("!") and line.strip("! "):
            await self._run_own(line)
        elif self._is_command(line):
            await self._run_command(line)
        else:
            await self._play(self.session.run(prompt_of(text)))

    async def _run_own(self, line: str) -> None:
        command, on_terminal = command_after_sign(line)
        if on_terminal:
            code = await self._app.away(self.session.user_commands.with_terminal(command))
            self._views.show(NoteEntry(ended_line(command, code)))
        else:
            await self._play(self.session.user_commands.shell(command))

    async def _run_command(self, line: str) -> None:
        if (screen := run_screen_command(line, self.menu)) is not None:
            await screen
            return
        match run_command(line, self.session):
            case PlayEvents(events):
                await self._play(events)
            case SwitchSession(opening, text):
                await self.switch(opening, text)
            case result:
                self._show_result(result)

    def _show_result(self, result: CommandResult) -> None:
        match result:
            case ShowText(text):
                self._views.show(text)
            case ShowList(groups):
                self._show_list(groups)
            case StartTask(work):
                self.later(self._show_when_done(work))
            case EditQueue(clear):
                self._views.show(queue_text(self._turns.queue, clear=clear))
            case Quit():
                self.leave(0)

    def _show_list(self, groups: Groups) -> None:
        only_here = [(f"/{one.name}", one.help) for one in SCREEN_COMMANDS.values() if not one.only_alone]
        self._views.show(ListEntry((*groups, ("The screen", only_here), ("Typing", TYPED))), from_top=True)

    async def _show_when_done(self, work: Coroutine[Any, Any, str]) -> None:
        self._views.show(await work)

    async def switch(self, opening: Opening, text: str) -> None:
        """Open another session and show `text` there. Queued prompts run in that session."""
        await self.open(opening)
        if text:
            self._views.show(text)

    # ── turns ───────────────────────────────────────────────────────────────────────────────────

    @property
    def running(self) -> bool:
        """Something is running or queued."""
        return self._turns.busy

    def _arrived(self) -> bool:
        return bool(self.session.inbox.waiting)

    async def _play(self, events: AsyncGenerator[Event, None]) -> None:
        """Run events to their end; the views receive them from the session. Then ask, if the turn paused."""
        self._turns.queue.release()
        self._playing, began, paused, begun = True, time.monotonic(), None, False
        self._update_status()
        try:
            async with aclosing(events):
                async for event in events:
                    if not begun and self._turns.queue.stopping:
                        self.session.interrupt()  # stopped before it began, which clears the interrupt
                    begun = True
                    match event:
                        case TurnEnded(code=code) if code in STOPPED:
                            self._turns.queue.stop()
                        case PauseReported(report=report):
                            paused = report
        finally:
            self._playing = False
        if time.monotonic() - began >= LONG_TURN_S and self._leaving is None:
            self._app.notify_user("the turn has ended")
        if paused is not None and not self._turns.queue.stopping and self._leaving is None:
            await self._ask_how_to_continue(paused)

    def _ended(self, ended: ItemEnd) -> None:
        if ended.error is not None:
            self._show_error(ended.error)
        if ended.at_once:
            self._views.show(NoteEntry(Line("○", "stopped at once; /retry continues", Tone.TROUBLE)))
        if ended.given_back:
            self._app.prompt.load("\n".join((*ended.given_back, self._app.prompt.text)).rstrip("\n"))
        if self._leaving is not None:
            self._app.exit(self._leaving)
            return
        self._update_status()

    async def _ask_how_to_continue(self, report: PauseReport) -> None:
        open_tools = [row.tool for row in self.session.breakers.health if row.state is not BreakerState.CLOSED]
        self._pausing = asyncio.ensure_future(self._asker.pause(report, open_tools))
        self._update_status()
        try:
            await asyncio.wait({self._pausing})
        finally:
            pausing, self._pausing = self._pausing, None
            pausing.cancel()
        tool = None if pausing.cancelled() else pausing.result()
        if tool is None:
            self._turns.queue.stop()
            self._views.show("stopped; /retry continues with a fresh failure budget")
            return
        if tool:
            self.session.breakers.command(BreakerCommand.RESET, "" if tool == "all" else tool)
        await self._play(self.session.retry())

    def later(self, work: Coroutine[None, None, None]) -> None:
        """Run `work` concurrently. Its errors are shown and never end the app."""
        self._app.run_worker(self._guarded(work), exit_on_error=False)

    async def _guarded(self, work: Coroutine[None, None, None]) -> None:
        try:
            await work
        except Exception as error:  # noqa: BLE001 (shown and logged)
            self._show_error(error)

    def _show_error(self, error: BaseException) -> None:
        if isinstance(error, HarnessError):
            self.show_error(str(error))
        else:
            self._log.error("internal error", exc_info=error)
            self.show_error(f"internal error ({type(error).__name__}: {error})")

    # ── keys ────────────────────────────────────────────────────────────────────────────────────

    def interrupt(self) -> None:
        """Stop the turn; the second time without waiting for its tools."""
        if self._pausing is not None:
            self._pausing.cancel()
        elif not self._playing:
            pass  # a short command is running
        elif self._turns.queue.stop():
            self._interrupted_at = time.monotonic()
            self.session.interrupt()
            self._update_status()
        else:
            self._turns.end_at_once()

    def escape(self) -> None:
        """Return from an earlier step to the present, stop the turn, or, twice, choose an earlier prompt."""
        if self._views.shown_step is not None:
            self._views.show_step(None)
        elif self._playing or self._pausing is not None:
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
            case "up" if (line := self._turns.queue.take_last()) is not None:
                self._app.prompt.load(line)
                self._update_status()
            case _:
                return False
        return True

    def retry_now(self) -> None:
        """Retry now instead of waiting."""
        if self._waits:
            self.session.recovery.retry_now()
        else:
            self.warn("there is no retry to wait for")

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

    @property
    def _waits(self) -> bool:
        model = self._views.fold.now.model
        return model.retry is not None or model.silence is not None

    def next_mode(self) -> None:
        """Cycle the permission modes; yolo is among them only if the settings allow it."""
        modes = ["ask", "edits", "deny"] + (["yolo"] if self.session.settings.permission_mode == "yolo" else [])
        now = self.session.permissions.mode
        self.session.permissions.set_mode(modes[(modes.index(now) + 1) % len(modes)] if now in modes else "ask")
        self._update_status()

    def actions(self, panel: Panel) -> Actions:
        """The keys that the panel offers."""
        other = [("Alt+M", "fallback model")] if self._can_switch_model(panel) else []
        if panel.model.phase is Phase.WAITING:
            return [("Alt+R", "retry now"), *other, ("Esc", "stop")]
        if panel.model.silence is not None:
            return [("Alt+R", "ask again"), *other, ("Esc", "stop")]
        if self._playing and panel.model.phase is Phase.TOOLS and time.time() - panel.model.since >= WORTH_MOVING_S:
            return [("Ctrl+B", "background"), ("Esc", "stop")] if self.session.background.movable else []
        return []

    def _can_switch_model(self, panel: Panel) -> bool:
        waits = panel.model.phase is Phase.WAITING or panel.model.silence is not None
        return waits and self._session is not None and self._session.recovery.other_model is not None

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

    def show_error(self, text: str) -> None:
        """Show an error in the conversation."""
        self._views.show(NoteEntry(Line("!", text, Tone.TROUBLE)))

    def _update_status(self, panel: Panel | None = None) -> None:
        if self._session is None:
            return
        now = self._views.fold.now
        status = status_of(
            self._session,
            panel or now,
            running=self._playing,
            past=self._views.shown_step is not None,
            warning=self._warning or ("stopping" if self._turns.queue.stopping else ""),
        )
        self._app.status.show(status)
        self._app.queued.show(self._turns.queue)
        asks = self._pausing is not None
        runs = self._playing or asks
        self._app.activity.show(activity(now, time.time(), self.actions(now), asks=asks) if runs else None)
        if self._loaded.settings.terminal_title:
            name = self._session.name or self._session.settings.workspace.name
            self._app.show_title(title(now, name, running=runs, asks=asks))

    def redraw(self) -> None:
        """Draw again after a resize."""
        self._views.changed()

    def _fresh_views(self) -> Views:
        return Views(self._app, self._app.split_view, self.actions, self._redrawn)

    def _redrawn(self, panel: Panel) -> None:
        self._update_status(panel)
        self._app.redraw_full_panel()
