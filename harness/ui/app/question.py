"""A question inside the screen: what it is about, numbered choices, and room for a reason."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.events import Key
from textual.message import Message
from textual.reactive import reactive
from textual.widgets import Input, Static

from harness.visible import visible


@dataclass(frozen=True, slots=True)
class Choice:
    """One thing that can be answered."""

    key: str
    """The letter that takes it; its number does too."""
    label: str
    value: str
    asks: str = ""
    """What is asked for besides, as a placeholder: a reason. Empty: nothing is."""
    text: str = ""
    """What stands there already, to be changed or left as it is."""


class Question(Vertical):
    """Takes the place of the prompt while something has to be decided.

    Numbers, letters and the arrows all work, full-width ones too, so that it can be answered without seeing a cursor.
    """

    DEFAULT_CSS = """
    Question {
        height: auto;
        max-height: 90%;
        border-top: solid $warning;
        padding: 0 1;
        & > VerticalScroll { height: auto; max-height: 50vh; scrollbar-size-vertical: 1; }
        & > VerticalScroll > Static { height: auto; margin: 0 0 0 2; }
        & > VerticalScroll > .title { text-style: bold; margin: 0; }
        & > .choices { height: auto; margin: 0 0 0 1; }
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

    def __init__(self, title: str, choices: Sequence[Choice], detail: Content | str = "") -> None:
        """`detail` is text of others: shown as it is, never as markup."""
        super().__init__()
        self._title = visible(title)
        self._choices = tuple(choices)
        self._detail = detail

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
        yield Input(compact=True, select_on_focus=False)

    def on_mount(self) -> None:
        self.focus()
        self._redraw()

    def watch_chosen(self) -> None:
        if self.is_mounted:
            self._redraw()

    def _redraw(self) -> None:
        lines = [
            Content.styled(f"▸ {number} {choice.label} ({choice.key})", "bold")
            if number == self.chosen + 1
            else Content(f"  {number} {choice.label} ({choice.key})")
            for number, choice in enumerate(self._choices, 1)
        ]
        self.query_one(".choices", Static).update(Content("\n").join(lines))

    def on_key(self, event: Key) -> None:
        field = self.query_one(Input)
        if field.has_class("-asked"):
            self._key_of_the_reason(event, field)
            return
        typed = unicodedata.normalize("NFKC", event.character or "").lower()
        if event.key in ("up", "down"):
            self.chosen = (self.chosen + (1 if event.key == "down" else -1)) % len(self._choices)
        elif event.key == "enter":
            self._take(self._choices[self.chosen])
        elif typed and (found := self._meant_by(typed)) is not None:
            self.chosen = self._choices.index(found)
            self._take(found)
        else:
            return
        event.stop()
        event.prevent_default()

    def _key_of_the_reason(self, event: Key, field: Input) -> None:
        """Keys while a reason is written; those that come before the field has the focus are not lost."""
        if event.key == "escape":
            self._ask_no_more()
        elif field.has_focus:
            return
        elif event.key == "enter":
            self.post_message(self.Answered(self, self._choices[self.chosen].value, field.value.strip()))
        elif event.character is not None and event.is_printable:
            field.insert_text_at_cursor(event.character)
        event.stop()

    def _meant_by(self, typed: str) -> Choice | None:
        if typed.isdigit() and 1 <= int(typed) <= len(self._choices):
            return self._choices[int(typed) - 1]
        return next((choice for choice in self._choices if choice.key == typed), None)

    def _take(self, choice: Choice) -> None:
        if not choice.asks:
            self.post_message(self.Answered(self, choice.value, ""))
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
        self.post_message(self.Answered(self, self._choices[self.chosen].value, event.value.strip()))
