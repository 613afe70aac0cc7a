"""An app with a prompt, whose questions do not take what is typed there."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic

from textual import events
from textual.timer import Timer
from textual.widget import Widget

from harness.ui.app.picker import Picker
from harness.ui.app.prompt import PromptArea
from harness.ui.app.prompt_text import PromptText
from harness.ui.app.question import Question
from harness.ui.app.terminal_app import TerminalApp
from harness.ui.question_focus import Key, QuestionFocus, Target


@dataclass
class _Asked:
    """The question on the screen."""

    question: Question
    focus: QuestionFocus
    answered: asyncio.Future[tuple[str, str]]
    held: events.Key | None = None
    """A letter of which the next moment tells whether it is an answer."""


class QuestionApp(TerminalApp):
    """Shows one question at a time, and sends each key where it belongs. See `question_focus` for the rule.

    All keys come by here in the order in which they were typed, so that a burst is not torn apart by a focus that
    moves in the middle of it.
    """

    prompt: PromptArea
    """Where the user types."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        """`clock` gives the seconds that events are stamped with."""
        super().__init__()
        self._clock = clock
        self._asked: _Asked | None = None
        self._one_at_a_time = asyncio.Lock()
        self._alarm: Timer | None = None
        self._pressed_at = 0.0
        """When a mouse button was pressed last. A click has a later time, that at which it was handled."""

    @property
    def above_question(self) -> Widget:
        """The widget below which a question stands."""
        raise NotImplementedError

    @property
    def asking(self) -> bool:
        """Whether a question is on the screen."""
        return self._asked is not None

    @property
    def answering(self) -> bool:
        """Whether a question takes the keys."""
        return self._asked is not None and self._asked.focus.open

    def on_mount(self) -> None:
        self.app_resume_signal.subscribe(self, lambda _: self._shown())  # an editor had the screen meanwhile

    def on_resize(self, event: events.Resize) -> None:
        if self._asked is not None:
            self._asked.question.fit(event.size.height)

    def on_prompt_area_changed(self, message: PromptArea.Changed) -> None:
        self._wake_up_in_time()  # the key that emptied the prompt has done so only now

    # ── one question ────────────────────────────────────────────────────────────────────────────

    async def put(self, question: Question) -> tuple[str, str]:
        """Show a question until it is answered; gives the value and the text."""
        async with self._one_at_a_time:
            answered: asyncio.Future[tuple[str, str]] = asyncio.get_running_loop().create_future()
            self._asked = _Asked(question, QuestionFocus(self._clock()), answered)
            try:
                await self.screen_stack[0].mount(question, after=self.above_question)
                self.call_after_refresh(self._shown)
                return await answered
            finally:
                self._asked = None
                self._ring_in(None)
                await question.remove()
                self._focus(self._place_of_text)

    def on_question_answered(self, message: Question.Answered) -> None:
        asked = self._asked
        if asked is not None and asked.question is message.question and not asked.answered.done():
            asked.answered.set_result((message.value, message.text))

    def on_question_clicked(self, message: Question.Clicked) -> None:
        asked = self._asked
        if asked is None or asked.question is not message.question or not asked.focus.may_click(self._pressed_at):
            return
        self._resolve_held(asked, Target.PROMPT)
        if not asked.focus.open:
            asked.focus.opened(self._clock())
            asked.question.take_keys()
        asked.focus.release()
        asked.question.take(message.number)
        self._focus(asked.question.place_of_keys)
        self._wake_up_in_time()

    # ── when it takes keys ──────────────────────────────────────────────────────────────────────

    def settle_question(self) -> None:
        """Do what is due by now: let the question take keys, or a letter that is held answer."""
        asked, now = self._asked, self._clock()
        if asked is None:
            return
        if self._covered:
            self._shown()
            return
        due = asked.focus.opens_at(in_use=self._in_use)
        if asked.focus.held_until is not None and now >= asked.focus.held_until:
            asked.focus.release()
            self._resolve_held(asked, Target.QUESTION)
        elif due is not None and now >= due:
            asked.focus.opened(now)
            asked.question.take_keys()
            self._focus(asked.question.place_of_keys)
        self._wake_up_in_time()

    def _shown(self) -> None:
        """The question can be seen from now on, if nothing hides it: its moment begins anew."""
        if self._asked is not None:
            self._asked.focus.covered(self._clock())
            self._close(self._asked)
            self._wake_up_in_time()

    def _close(self, asked: _Asked) -> None:
        asked.question.wait()
        self._focus(self._place_of_text)

    def _wake_up_in_time(self) -> None:
        due = None
        if self._asked is not None:
            focus = self._asked.focus
            due = focus.opens_at(in_use=self._in_use) if focus.held_until is None else focus.held_until
        self._ring_in(None if due is None else max(due - self._clock(), 0.01))

    def _ring_in(self, seconds: float | None) -> None:
        if self._alarm is not None:
            self._alarm.stop()
        self._alarm = None if seconds is None else self.set_timer(seconds, self.settle_question)

    @property
    def _covered(self) -> bool:
        """A page or a list hides the question and takes the keys."""
        return len(self.screen_stack) > 1

    @property
    def _in_use(self) -> bool:
        """There is something in the prompt that is not finished."""
        return self.prompt.display and (not self.prompt.empty or self.prompt.searching)

    # ── keys ────────────────────────────────────────────────────────────────────────────────────

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, events.MouseDown) and not event.is_forwarded:
            self._pressed_at = event.time
        if isinstance(event, (events.Key, events.Paste)) and not event.is_forwarded:
            if self._passes_list(event):
                return
            if self._asked is not None and self._covered:
                self._shown()
            elif self._asked is not None and not self._goes_on(event, self._asked):
                return
        await super().on_event(event)

    def _passes_list(self, event: events.Key | events.Paste) -> bool:
        """Give an event to the prompt although a list is open above it, if it belongs to what is typed there."""
        picker, text = self.screen, self._place_of_text
        keys_of_both = isinstance(event, events.Key) and event.key in ("escape", "ctrl+c")
        if not isinstance(picker, Picker) or text is None or keys_of_both or not picker.meant_for_prompt(event):
            return False
        text._forward_event(event)
        return True

    def _goes_on(self, event: events.Key | events.Paste, asked: _Asked) -> bool:
        """Move the focus to where an event belongs; False: it was used, or is held."""
        question = asked.question
        already_answered = question.answered
        if already_answered:
            self._focus(self._place_of_text)
            return True
        key = self._meaning(event, question)
        if asked.focus.open and question.writing and key is not Key.TAB:
            self._focus(question.place_of_keys)
            return True
        was_open = asked.focus.open
        route = asked.focus.key(key, event.time, in_use=self._in_use)
        if route.held is not None:
            self._resolve_held(asked, route.held)
        match route.key:
            case Target.HELD if isinstance(event, events.Key):
                asked.held = event
                question.point_at(event)
            case Target.QUESTION if question.answered and key is Key.CONTROL:
                self._focus(self._place_of_text)  # the letter before it has answered, and this is about something else
            case Target.QUESTION:
                if isinstance(event, events.Key) and self._press(asked, event):
                    return False
            case Target.NOBODY if not was_open:
                pass  # the question opens as soon as it may
            case _:
                self._close(asked)
        self._wake_up_in_time()
        return route.key in (Target.QUESTION, Target.PROMPT)

    def _meaning(self, event: events.Key | events.Paste, question: Question) -> Key:
        key = Key.TEXT if isinstance(event, events.Paste) else question.meaning(event)
        if key is Key.TAB and self.prompt.display and self.prompt.completing:
            return Key.CONTROL  # takes what is offered there
        if key is Key.TEXT and not self.prompt.display:
            return Key.CONTROL  # there is no text that it could belong to
        return key

    def _resolve_held(self, asked: _Asked, target: Target) -> None:
        """Let the letter that was held go its way."""
        held, asked.held = asked.held, None
        if held is None:
            return
        if target is Target.QUESTION:
            self._press(asked, held)
        else:
            asked.question.point_back()
            if target is Target.PROMPT and self._place_of_text is not None:
                self._place_of_text._forward_event(held)

    def _press(self, asked: _Asked, event: events.Key) -> bool:
        """Let a key do its work at once: what is typed behind it may be there already, and belong to a reason."""
        used = asked.question.press(event)
        self._focus(asked.question.place_of_keys)
        return used

    @property
    def _place_of_text(self) -> Widget | None:
        return self.prompt.query_one(PromptText) if self.prompt.display else None

    def _focus(self, widget: Widget | None) -> None:
        """At once, unlike `Widget.focus`: the next key may be there already."""
        if self.is_running:
            self.screen_stack[0].set_focus(widget)
