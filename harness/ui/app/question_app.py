"""An app with a prompt and questions that do not steal its keys."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic

from textual import events
from textual.widget import Widget

from harness.ui.app.alarm import Alarm
from harness.ui.app.list_picker import Picker
from harness.ui.app.prompt import PromptArea
from harness.ui.app.prompt_text import PromptText
from harness.ui.app.question import Question
from harness.ui.app.terminal_app import TerminalApp
from harness.ui.question_focus import KeyMeaning, KeyTarget, QuestionFocus


@dataclass
class _OpenQuestion:
    """The question on the screen."""

    question: Question
    focus: QuestionFocus
    answered: asyncio.Future[tuple[str, str]]
    held: events.Key | None = None
    """A letter that becomes an answer if no other key follows soon."""


class QuestionApp(TerminalApp):
    """Shows one question at a time and routes keys by the rules of `question_focus`.

    All keys pass through here in order, so that a moving focus cannot split a burst of keys.
    """

    prompt: PromptArea
    """The prompt."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        """`clock` returns the time that events are stamped with."""
        super().__init__()
        self._clock = clock
        self._asked: _OpenQuestion | None = None
        self._one_at_a_time = asyncio.Lock()
        self._alarm = Alarm(self, self.settle_question)
        self._pressed_at = 0.0
        """Time of the last mouse press. A click carries the time at which it was handled."""

    @property
    def widget_above_question(self) -> Widget:
        """The widget above a question."""
        raise NotImplementedError

    @property
    def asking(self) -> bool:
        """Whether a question is shown."""
        return self._asked is not None

    @property
    def answering(self) -> bool:
        """Whether a question handles keys."""
        return self._asked is not None and self._asked.focus.open

    @property
    def writing_answer(self) -> bool:
        """Whether the text field of a question is active."""
        return self._asked is not None and self._asked.question.writing

    def on_mount(self) -> None:
        self.app_resume_signal.subscribe(self, lambda _: self._shown())  # after an editor

    def on_resize(self, event: events.Resize) -> None:
        if self._asked is not None:
            self._asked.question.fit(event.size)

    def on_prompt_area_changed(self, message: PromptArea.Changed) -> None:
        self._schedule()  # the prompt may be empty now

    # ── one question ────────────────────────────────────────────────────────────────────────────

    async def ask(self, question: Question) -> tuple[str, str]:
        """Show a question until it is answered; returns value and text of the answer."""
        async with self._one_at_a_time:
            answered: asyncio.Future[tuple[str, str]] = asyncio.get_running_loop().create_future()
            self._asked = _OpenQuestion(question, QuestionFocus(self._clock()), answered)
            screen = self.screen_stack[0]
            screen.add_class("-asking")
            try:
                await screen.mount(question, after=self.widget_above_question)
                self.call_after_refresh(self._shown)
                return await answered
            finally:
                self._asked = None
                screen.remove_class("-asking")
                self._alarm.stop()
                await question.remove()
                self._focus(self._prompt_text)

    def on_question_answered(self, message: Question.Answered) -> None:
        asked = self._asked
        if asked is not None and asked.question is message.question and not asked.answered.done():
            if asked.question.typed_early(self.prompt.text):
                self.prompt.clear()
            asked.answered.set_result((message.value, message.text))

    def on_question_clicked(self, message: Question.Clicked) -> None:
        asked = self._asked
        if asked is None or asked.question is not message.question or not asked.focus.may_click(self._pressed_at):
            return
        self._resolve_held(asked, KeyTarget.NONE)  # an answer key is no text: the click answers in its place
        if not asked.focus.open:
            asked.focus.opened(self._clock())
            asked.question.open()
        asked.focus.release()
        asked.question.select(message.number)
        self._focus(asked.question.key_target)
        self._schedule()

    # ── opening ──────────────────────────────────────────────────────────────────────

    def settle_question(self) -> None:
        """Open the question, or let a held letter answer, if it is due."""
        asked, now = self._asked, self._clock()
        if asked is None:
            return
        if self._covered:
            self._shown()
            return
        due = asked.focus.opens_at(in_use=self._in_use)
        if asked.focus.held_until is not None and now >= asked.focus.held_until:
            asked.focus.release()
            self._resolve_held(asked, KeyTarget.QUESTION)
        elif due is not None and now >= due:
            asked.focus.opened(now)
            asked.question.open()
            if asked.question.typed_early(self.prompt.text):
                asked.question.point_at_early(self.prompt.text)
            self._focus(asked.question.key_target)
        self._schedule()

    def _shown(self) -> None:
        if self._asked is not None:
            self._asked.focus.covered(self._clock())
            self._close(self._asked)
            self._schedule()

    def _close(self, asked: _OpenQuestion) -> None:
        asked.question.close()
        self._focus(self._prompt_text)

    def _schedule(self) -> None:
        due = None
        if self._asked is not None:
            focus = self._asked.focus
            due = focus.opens_at(in_use=self._in_use) if focus.held_until is None else focus.held_until
        if due is None:
            self._alarm.stop()
        else:
            self._alarm.set(max(due - self._clock(), 0.01))

    @property
    def _covered(self) -> bool:
        return len(self.screen_stack) > 1

    @property
    def _in_use(self) -> bool:
        """The prompt has text, other than an answer that was typed before the question took keys."""
        asked = self._asked
        early = asked is not None and asked.question.typed_early(self.prompt.text)
        return self.prompt.display and (self.prompt.searching or not (self.prompt.empty or early))

    # ── keys ────────────────────────────────────────────────────────────────────────────────────

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, events.MouseDown) and not event.is_forwarded:
            self._pressed_at = event.time
        if isinstance(event, (events.Key, events.Paste)) and not event.is_forwarded:
            if self.focused is None and not self._covered:  # the mouse was released outside the screen
                self._focus(self._prompt_text)
            if self._bypass_picker(event):
                return
            if self._asked is not None and self._covered:
                self._shown()
            elif self._asked is not None and not self._route(event, self._asked):
                return
        await super().on_event(event)

    def _bypass_picker(self, event: events.Key | events.Paste) -> bool:
        """Forward an event to the prompt if it belongs to text typed before a list appeared, or continues it."""
        picker, text = self.screen, self._prompt_text
        keys_of_both = isinstance(event, events.Key) and event.key in ("escape", "ctrl+c")
        if not isinstance(picker, Picker) or text is None or keys_of_both:
            return False
        if not picker.meant_for_prompt(event, in_use=self._in_use):
            return False
        text._forward_event(event)
        return True

    def _route(self, event: events.Key | events.Paste, asked: _OpenQuestion) -> bool:
        """Focus the target of an event; returns False if it was handled here or is held."""
        question = asked.question
        already_answered = question.answered
        if already_answered:
            self._focus(self._prompt_text)
            return True
        key = self._meaning(event, question)
        if asked.focus.open and question.writing and key is not KeyMeaning.TAB:
            self._focus(question.key_target)
            return True
        was_open = asked.focus.open
        route = asked.focus.key(key, event.time, in_use=self._in_use)
        if route.held is not None:
            self._resolve_held(asked, route.held)
        match route.key:
            case KeyTarget.HELD if isinstance(event, events.Key):
                asked.held = event
                question.point_at(event)
            case KeyTarget.QUESTION if question.answered and key is KeyMeaning.CONTROL:
                self._focus(self._prompt_text)  # the letter before it was the answer
            case KeyTarget.QUESTION:
                if isinstance(event, events.Key) and self._press(asked, event):
                    return False
            case KeyTarget.NONE if not was_open:
                pass  # the question opens when its grace period ends
            case _:
                self._close(asked)
        self._schedule()
        return route.key in (KeyTarget.QUESTION, KeyTarget.PROMPT)

    def _meaning(self, event: events.Key | events.Paste, question: Question) -> KeyMeaning:
        key = KeyMeaning.TEXT if isinstance(event, events.Paste) else question.meaning(event)
        if key is KeyMeaning.TAB and self.prompt.display and self.prompt.completing:
            return KeyMeaning.CONTROL  # accepts a completion
        if key in (KeyMeaning.ANSWER, KeyMeaning.REASON) and self.prompt.display and not self.prompt.empty:
            return KeyMeaning.TEXT  # it continues what is in the prompt
        if key is KeyMeaning.TEXT and not self.prompt.display:
            return KeyMeaning.CONTROL  # there is no prompt to type into
        return key

    def _resolve_held(self, asked: _OpenQuestion, target: KeyTarget) -> None:
        """Deliver the held letter."""
        held, asked.held = asked.held, None
        if held is None:
            return
        if target is KeyTarget.QUESTION:
            self._press(asked, held)
        else:
            asked.question.point_back()
            if target is KeyTarget.PROMPT and self._prompt_text is not None:
                self._prompt_text._forward_event(held)

    def _press(self, asked: _OpenQuestion, event: events.Key) -> bool:
        used = asked.question.press(event)
        self._focus(asked.question.key_target)
        return used

    @property
    def _prompt_text(self) -> Widget | None:
        return self.prompt.query_one(PromptText) if self.prompt.display else None

    def _focus(self, widget: Widget | None) -> None:
        if self.is_running:
            self.screen_stack[0].set_focus(widget)
