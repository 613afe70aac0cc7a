"""The app: widgets and keys. Paints first, then loads the rest.

This module knows nothing of sessions. The agent is imported in a thread after the first paint and arrives as a
`Controller`; prompts typed before that are queued.
"""

import gc
import signal
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from time import monotonic
from typing import TYPE_CHECKING, ClassVar, Protocol, TypeVar

from textual.app import ComposeResult, SuspendNotSupported
from textual.binding import Binding, BindingType
from textual.events import Resize
from textual.screen import ModalScreen

from harness.base.errors import HarnessError
from harness.base.external_text import visible
from harness.ui.app.completion import Candidate, Completer
from harness.ui.app.panel_view import SplitView
from harness.ui.app.prompt import PromptArea
from harness.ui.app.prompt_history import PromptHistory
from harness.ui.app.question import Question
from harness.ui.app.question_app import QuestionApp
from harness.ui.app.queued_prompts_view import QueuedPrompts
from harness.ui.app.status_line import Status, StatusLine
from harness.ui.app.terminal_driver import TerminalDriver

if TYPE_CHECKING:
    from harness.session import Session
    from harness.ui.app.views import Views

T = TypeVar("T")
TWICE_S = 2.0
"""Seconds within which the same key counts as pressed twice."""
HERE_S = 5.0
"""For so many seconds after a key the user counts as looking at the screen."""


class SessionPages(Protocol):
    """Pages that keys open; see `menu.Menu`."""

    def show_keys(self) -> None: ...

    def full_panel(self) -> None: ...


class SessionControl(Protocol):
    """See `controller.Controller`, which is imported after the first paint."""

    @property
    def menu(self) -> SessionPages: ...

    @property
    def session(self) -> "Session": ...

    @property
    def views(self) -> "Views": ...

    @property
    def running(self) -> bool: ...

    @property
    def worth_resuming(self) -> str: ...

    @property
    def left(self) -> tuple[str, ...]: ...

    def submit(self, text: str, *, own_turn: bool = False) -> object: ...

    def warm_up(self) -> None: ...

    def shortcut(self, key: str) -> bool: ...

    def escape(self) -> None: ...

    def interrupt(self) -> object: ...

    def next_mode(self) -> None: ...

    def move_to_background(self) -> None: ...

    def retry_now(self) -> object: ...

    def ask_other_model(self) -> None: ...

    def warn(self, text: str) -> None: ...

    def redraw(self) -> None: ...

    def leave(self, code: int) -> None: ...

    async def aclose(self) -> None: ...


Opener = Callable[["HarnessApp"], Awaitable[SessionControl]]
"""Loads settings and agent, and opens the session."""


class HarnessApp(QuestionApp):
    """Conversation, recovery panel and prompt. Returns an exit code."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "escape", "stop", show=False),
        Binding("ctrl+c", "interrupt", "clear, stop, quit", show=False, priority=True),
        Binding("ctrl+d", "leave", "leave", show=False, priority=True),
        Binding("ctrl+q", "leave(True)", "leave", show=False, priority=True),
        Binding("shift+tab", "next_mode", "permissions", show=False, priority=True),
        Binding("ctrl+b", "background", "to the background", show=False, priority=True),
        Binding("alt+r", "retry_now", "retry now", show=False, priority=True),
        Binding("alt+m", "other_model", "other model", show=False, priority=True),
        Binding("f1", "keys", "keys", show=False),
        Binding("f3", "full", "full panel", show=False),
    ]

    split_view_type: ClassVar[type[SplitView]] = SplitView
    """The view of conversation and panel."""

    def __init__(self, opener: Opener) -> None:
        super().__init__()
        self._opener = opener
        self.controller: SessionControl | None = None
        """None until the session is open."""
        self.commands: Sequence[Candidate] = ()
        """Completions after a slash."""
        self.files: Callable[[], Sequence[str]] = tuple
        """Completions after an @."""
        self.notification = "bell"
        """How the user is notified: bell, osc9 or off."""
        self._reports_focus = False
        """The terminal has reported a change of the focus; until then `app_focus` says nothing."""
        self._typed_at = -HERE_S
        self._is_away = False
        """Another program has the terminal."""
        self._early_prompts: list[str] = []
        self._pressed: dict[str, float] = {}

    # ── layout ──────────────────────────────────────────────────────────────────────────────────

    def compose(self) -> ComposeResult:
        yield self.split_view_type()
        yield QueuedPrompts()
        yield StatusLine(id="activity")
        completer = Completer(lambda: self.commands, self._files_now)
        self.prompt = PromptArea(PromptHistory(None), completer, self._shortcut)
        yield self.prompt
        yield StatusLine(Status(("loading",)), id="status")

    @property
    def queued(self) -> QueuedPrompts:
        """The queued prompts."""
        return self.screen_stack[0].query_one(QueuedPrompts)

    @property
    def status(self) -> StatusLine:
        """The status line."""
        return self.screen_stack[0].query_one("#status", StatusLine)

    @property
    def activity(self) -> StatusLine:
        """The activity line above the prompt."""
        return self.screen_stack[0].query_one("#activity", StatusLine)

    # ── start and end ───────────────────────────────────────────────────────────────────────

    def on_mount(self) -> None:
        self.call_after_refresh(self._painted)

    def _painted(self) -> None:
        self.run_worker(self._get_ready(), name="begin", exit_on_error=False)

    async def _get_ready(self) -> None:
        try:
            self.controller = await self._opener(self)
        except Exception as error:  # noqa: BLE001 (raised again once the terminal is restored)
            self.fail(error)
            return
        gc.collect()
        gc.freeze()  # scanning everything loaded so far again and again would cause long pauses
        for text in self._early_prompts:
            self.controller.submit(text)

    def on_signal(self, number: int) -> None:
        """SIGINT is Ctrl+C; other signals end the turn, then the app."""
        if self._is_away and number == signal.SIGINT:
            return  # meant for the program that has the terminal
        if number == signal.SIGINT:
            self.run_worker(self.run_action("interrupt"), exit_on_error=False)
        elif self.controller is None:
            self.exit(128 + number)
        else:
            self.controller.leave(128 + number)

    # ── called by the controller ───────────────────────────────────────────────────────────────

    async def ask(self, question: Question) -> tuple[str, str]:
        """Show a question above the prompt; returns the value and the text of the answer."""
        self.notify_user("a question needs your answer")
        return await super().ask(question)

    @property
    def widget_above_question(self) -> SplitView:
        return self.split_view

    def warn(self, text: str) -> None:
        """Show a text in the status line for a moment."""
        if self.controller is not None:
            self.controller.warn(text)

    def notify_user(self, text: str) -> None:
        """Ring the bell or send a notification, unless the user is here.

        That is known from the focus of the terminal; many terminals do not report it, and then from the last key.
        """
        here = self.app_focus if self._reports_focus else monotonic() - self._typed_at < HERE_S
        if here or self.notification == "off":
            return
        if self.notification == "osc9" and self._driver is not None:
            self._driver.write(f"\x1b]9;harness: {visible(text)}\x07")
        else:
            self.bell()

    def show_title(self, text: str) -> None:
        """Set the title of the terminal."""
        if isinstance(self._driver, TerminalDriver):
            self._driver.show_title(text)

    def on_app_focus(self) -> None:
        self._reports_focus = True

    def on_app_blur(self) -> None:
        self._reports_focus = True

    async def away(self, work: Coroutine[None, None, T]) -> T:
        """Leave the terminal to `work` and come back. Raises HarnessError where that is impossible."""
        try:
            with self.suspend(), self.batch_update():  # nothing may be drawn meanwhile
                self._is_away = True
                return await work
        except SuspendNotSupported:
            work.close()
            raise HarnessError("The program needs a terminal; start harness in one to run it.") from None
        finally:
            self._is_away = False

    def pressed_twice(self, key: str) -> bool:
        """Whether a key is pressed for the second time within two seconds."""
        now, before = monotonic(), self._pressed.get(key, -TWICE_S)
        again = now - before < TWICE_S
        self._pressed[key] = -TWICE_S if again else now
        return again

    # ── the prompt ──────────────────────────────────────────────────────────────────────────────

    def on_prompt_area_submitted(self, message: PromptArea.Submitted) -> None:
        if self.controller is None:
            self._early_prompts.append(message.text)
        else:
            self.controller.submit(message.text, own_turn=message.own_turn)

    def on_prompt_area_changed(self, message: PromptArea.Changed) -> None:
        self._typed_at = monotonic()
        if message.text and self.controller is not None:
            self.controller.warm_up()

    def on_prompt_area_refused(self, message: PromptArea.Refused) -> None:
        self.warn(message.text)

    def _files_now(self) -> Sequence[str]:
        return self.files()

    def _shortcut(self, key: str) -> bool:
        return self.controller is not None and self.controller.shortcut(key)

    # ── keys ────────────────────────────────────────────────────────────────────────────────────

    def action_escape(self) -> None:
        if self.controller is not None:
            self.controller.escape()

    def action_interrupt(self) -> None:
        selected = self.screen.get_selected_text()
        if selected:
            self.copy_to_clipboard(selected)
            self.screen.clear_selection()
            self.warn("copied")
        elif isinstance(self.screen, ModalScreen):
            self.screen.dismiss(None)
        elif not self.prompt.empty and self.prompt.display:
            self.prompt.clear()
        elif self.controller is not None and self.controller.running:
            self.controller.interrupt()
        elif self.pressed_twice("ctrl+c"):
            self.exit(130)
        else:
            self.warn("Ctrl+C again to quit")

    def action_leave(self, always: bool = False) -> None:
        if not always and not self.prompt.empty:
            self.warn("Ctrl+D quits when the prompt is empty; Ctrl+C clears it")
        elif self.controller is None:
            self.exit(0)
        elif self.controller.running and not self.pressed_twice("ctrl+d"):
            self.warn("a turn is running; press Ctrl+D again to stop it and quit")
        else:
            self.controller.leave(0)

    def action_next_mode(self) -> None:
        if self.controller is not None and not self.writing_answer:
            self.controller.next_mode()

    def action_scroll(self, direction: int) -> None:
        asked = next(iter(self.query(Question)), None)
        if asked is None or not asked.scroll_page(direction):
            super().action_scroll(direction)

    def on_question_answered(self, message: Question.Answered) -> None:
        self.split_view.chat.follow()  # the user may have scrolled up to what the question was about

    def action_background(self) -> None:
        if self.controller is not None:
            self.controller.move_to_background()

    def action_retry_now(self) -> None:
        if self.controller is not None:
            self.controller.retry_now()

    def action_other_model(self) -> None:
        if self.controller is not None:
            self.controller.ask_other_model()

    def action_example(self, number: int) -> None:
        """Put an example into the empty prompt."""
        if self.prompt.empty and number < len(self.prompt.examples):
            self.prompt.load(self.prompt.examples[number])

    def action_keys(self) -> None:
        if self.controller is not None:
            self.controller.menu.show_keys()

    def action_full(self) -> None:
        if self.controller is not None:
            self.controller.menu.full_panel()

    def on_resize(self, event: Resize) -> None:
        if self.controller is not None:
            self.controller.redraw()
