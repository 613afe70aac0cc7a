"""A question inside the screen: what it is about, numbered choices, and room for a reason."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.events import Click, Key
from textual.message import Message
from textual.reactive import reactive
from textual.style import Style
from textual.widget import Widget
from textual.widgets import Input, Static

from harness.base.terminal_text import visible
from harness.ui.question_focus import Key as Meaning

OPEN = "↑↓ Enter, or a letter   Tab: back to the prompt"
OPEN_ESCAPE = "↑↓ Enter, a number or a letter   Esc: no answer   Tab: back to the prompt"
WAITING = "Keys go to the prompt: finish there, or Tab to answer"
"""What the last line says of the keys."""
CHOICE = "choice"
"""Key of the meta data of a line of choices: the place of the choice."""
ROWS_BESIDE = 5
"""Rows that are needed besides what is asked about and the choices: border, keys, reason, prompt, status."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One thing that can be answered."""

    key: str
    """The letter that takes it; its number does too. Empty: only its number."""
    label: str
    value: str
    asks: str = ""
    """What is asked for besides, as a placeholder: a reason. Empty: nothing is."""
    text: str = ""
    """What stands there already, to be changed or left as it is."""
    note: str = ""
    """What it means, behind the label."""


class Question(Vertical):
    """Stands above the prompt while something has to be decided.

    Numbers, letters, the arrows and a click all work, full-width ones too, so that it can be answered without seeing a
    cursor.
    It takes no key before `take_keys`; `QuestionApp.put` decides when that is.
    """

    DEFAULT_CSS = """
    Question {
        height: auto;
        border-top: solid $warning;
        padding: 0 1;
        & > VerticalScroll { height: auto; scrollbar-size-vertical: 1; }
        & > VerticalScroll > Static { height: auto; margin: 0 0 0 2; }
        & > VerticalScroll > .title { text-style: bold; margin: 0; }
        & > .choices { height: auto; margin: 0 0 0 1; }
        & > .keys { height: 1; margin: 0 0 0 1; color: $text-muted; }
        &.-waiting > .keys { color: $text-warning; }
        &.-waiting > .choices { color: $text-muted; }
        & > Input { height: 1; border: none; padding: 0; margin: 0 0 0 3; display: none; }
        & > Input.-asked { display: block; }
    }
    """

    can_focus = True

    chosen = reactive(0)
    """The choice that Enter takes."""

    class Answered(Message):
        """The person has chosen."""

        def __init__(self, question: "Question", value: str, text: str) -> None:
            super().__init__()
            self.question = question
            self.value = value
            self.text = text
            """The reason, where one was asked for."""

    class Clicked(Message):
        """The user has clicked on a choice; `QuestionApp` decides whether that counts."""

        def __init__(self, question: "Question", number: int) -> None:
            super().__init__()
            self.question = question
            self.number = number
            """Its place among the choices, from 0."""

    def __init__(
        self,
        title: str,
        choices: Sequence[Choice],
        detail: Content | str = "",
        *,
        preselected: str = "",
        escape: str = "",
    ) -> None:
        """A question.

        Args:
            title: what it is about; more than one line if need be.
            choices: at least one.
            detail: text of others, shown as it is, never as markup.
            preselected: value of the choice that Enter takes at first; empty: the first one.
            escape: value that Escape answers with; empty: it answers nothing here, and ends the turn.
        """
        super().__init__(classes="-waiting")
        self._title = visible(title)
        self._choices = tuple(choices)
        self._detail = detail
        self._escape = escape
        self._answered = False
        self._before_hold = next((number for number, choice in enumerate(choices) if choice.value == preselected), 0)
        self.set_reactive(Question.chosen, self._before_hold)
        self.can_focus = False

    @property
    def answered(self) -> bool:
        """Whether an answer was given; no key counts any more."""
        return self._answered

    @property
    def writing(self) -> bool:
        """Whether a reason is being written, so that every character belongs to it."""
        return self.query_one(Input).has_class("-asked")

    @property
    def place_of_keys(self) -> Widget:
        """The widget that takes keys now."""
        return self.query_one(Input) if self.writing else self

    def take_keys(self) -> None:
        """Show that keys answer from now on."""
        self.can_focus = True
        self.remove_class("-waiting")
        self._redraw()

    def wait(self) -> None:
        """Show that keys go elsewhere."""
        self.can_focus = False
        self.add_class("-waiting")
        self._redraw()

    def meaning(self, event: Key) -> Meaning:
        """What a key means to the question while no reason is written."""
        if event.key == "tab":
            return Meaning.TAB
        if event.key == "enter":
            return Meaning.ENTER
        if event.key in ("escape", "backspace", "ctrl+c"):
            return Meaning.CANCEL
        if not event.is_printable:
            return Meaning.CONTROL
        choice = self._meant_by(_folded(event))
        if choice is None:
            return Meaning.TEXT
        return Meaning.REASON if choice.asks and not choice.text else Meaning.ANSWER

    def point_at(self, event: Key) -> None:
        """Mark the choice that a key would take."""
        if (choice := self._meant_by(_folded(event))) is not None:
            self._before_hold, self.chosen = self.chosen, self._choices.index(choice)

    def point_back(self) -> None:
        """Mark the choice that was marked before `point_at`."""
        self.chosen = self._before_hold

    def scroll_page(self, direction: int) -> None:
        """Show the page before (-1) or after (1) of what it is about."""
        detail = self.query_one(VerticalScroll)
        (detail.scroll_page_down if direction > 0 else detail.scroll_page_up)(animate=False)

    def compose(self) -> ComposeResult:
        with VerticalScroll(can_focus=False):  # however much there is to say, the choices stay in sight
            yield Static(Content(self._title), markup=False, classes="title")
            if self._detail:
                yield Static(self._detail, markup=False)
        yield Static(markup=False, classes="choices")
        yield Static(markup=False, classes="keys")
        yield Input(compact=True, select_on_focus=False)

    def on_mount(self) -> None:
        self.fit(self.app.size.height)
        self._redraw()

    def fit(self, rows: int) -> None:
        """Leave room on a screen of so many rows for the choices, a reason, the prompt and the status line."""
        most = min(rows // 2, rows - len(self._choices) - ROWS_BESIDE)
        for said in self.query(VerticalScroll):  # none before it has been composed
            said.styles.max_height = max(2, most)

    def watch_chosen(self) -> None:
        self._redraw()

    def _redraw(self) -> None:
        if not self.is_attached or not self.query(".choices"):
            return  # keys may move it before it has been composed
        waiting = self.has_class("-waiting")
        lines = [_line(number, choice, self.chosen, waiting=waiting) for number, choice in enumerate(self._choices)]
        self.query_one(".choices", Static).update(Content("\n").join(lines))
        self.query_one(".keys", Static).update(WAITING if waiting else OPEN_ESCAPE if self._escape else OPEN)

    def press(self, event: Key) -> bool:
        """Do what a key means; False: it means nothing here."""
        if self._answered:
            return True
        if self.writing:
            return self._key_of_the_reason(event)
        typed = _folded(event)
        if event.key in ("up", "down"):
            self.chosen = (self.chosen + (1 if event.key == "down" else -1)) % len(self._choices)
        elif event.key == "enter":
            self._take(self._choices[self.chosen])
        elif event.key == "escape" and self._escape:
            self._finish(self._escape, "")
        elif typed and (found := self._meant_by(typed)) is not None:
            self.chosen = self._choices.index(found)
            self._take(found)
        else:
            return False
        return True

    def take(self, number: int) -> None:
        """Do what Enter does on the choice at this place, from 0."""
        if not self._answered and not self.writing:
            self.chosen = number
            self._take(self._choices[number])

    def on_click(self, event: Click) -> None:
        number = event.style.meta.get(CHOICE)
        if isinstance(number, int):
            event.stop()
            self.post_message(self.Clicked(self, number))

    def on_key(self, event: Key) -> None:
        if self.press(event):
            event.stop()
            event.prevent_default()

    def _key_of_the_reason(self, event: Key) -> bool:
        """Keys while a reason is written; those that come before the field has the focus are not lost."""
        field = self.query_one(Input)
        if event.key == "escape":
            self._ask_no_more()
        elif field.has_focus:
            return False
        elif event.key == "enter":
            self._answer(field.value.strip())
        elif event.character is not None and event.is_printable:
            field.insert_text_at_cursor(event.character)
        return True

    def _meant_by(self, typed: str) -> Choice | None:
        if typed.isdigit() and 1 <= int(typed) <= len(self._choices):
            return self._choices[int(typed) - 1]
        return next((choice for choice in self._choices if choice.key == typed), None)

    def _take(self, choice: Choice) -> None:
        if not choice.asks:
            self._answer("")
            return
        field = self.query_one(Input)
        field.placeholder = choice.asks
        field.value = choice.text
        field.cursor_position = len(choice.text)
        field.add_class("-asked")
        field.focus()

    def _ask_no_more(self) -> None:
        field = self.query_one(Input)
        field.remove_class("-asked")
        field.clear()
        self.focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self._answer(event.value.strip())

    def _answer(self, text: str) -> None:
        self._finish(self._choices[self.chosen].value, text)

    def _finish(self, value: str, text: str) -> None:
        if not self._answered:
            self._answered = True
            self.post_message(self.Answered(self, value, text))


def _line(number: int, choice: Choice, chosen: int, *, waiting: bool) -> Content:
    """One choice, which can be clicked on."""
    key = f" ({choice.key})" if choice.key else ""
    points = number == chosen and not waiting
    label = visible(f"{'▸' if points else ' '} {number + 1} {choice.label}{key}")
    note = (f"  {visible(choice.note)}", "dim") if choice.note else ""
    return Content.assemble((label, "bold" if points else ""), note).stylize(Style.from_meta({CHOICE: number}))


def _folded(event: Key) -> str:
    """The character of a key, in small letters and of usual width."""
    return unicodedata.normalize("NFKC", event.character or "").lower()
