"""A question with choices as buttons and an optional text field."""

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.events import Click, Key
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget
from textual.widgets import Input, Static

from harness.base.external_text import visible
from harness.ui.app.paged_scroll import PagedScroll
from harness.ui.choices import Choice
from harness.ui.question_focus import KeyMeaning, answer_key

OPEN = "↑↓ Enter, or a letter   Tab: back to the prompt"
OPEN_ESCAPE = "↑↓ Enter, a number or a letter   Esc: no answer   Tab: back to the prompt"
OPEN_DANGER = "↑↓ or a letter marks, Enter answers   Tab: back to the prompt"
WAITING = "Keys go to the prompt; press Tab to answer"
"""Hints in the last line."""
KEY = "bold on $key-cap"
"""Style of the key of a choice."""
ROWS_BESIDE = 8
"""Rows for position, hint, text field, activity line, prompt with its frame, and status line."""
ROOMY = 24
"""Least rows of a screen with a blank line above the choices."""
BESIDE = 4
"""Cells beside the text: bar, padding, scroll bar."""

Detail = Content | str | Callable[[int], Content]
"""Untrusted text, never parsed as markup; or a function of the width in cells."""


class ChoiceButton(Static):
    """One choice, to be clicked."""

    DEFAULT_CSS = """
    ChoiceButton {
        height: auto;
        &:hover { background: $foreground 12%; }
        &.-chosen { background: $block-cursor-background; color: $block-cursor-foreground; text-style: bold; }
    }
    """

    class Pressed(Message):
        """The button was clicked."""

        def __init__(self, number: int) -> None:
            super().__init__()
            self.number = number
            """Index of the choice."""

    def __init__(self, number: int, choice: Choice) -> None:
        super().__init__(markup=False)
        self._number = number
        self._choice = choice
        self._points = False

    def point(self, points: bool) -> None:
        """Mark it as the choice that Enter selects."""
        self._points = points
        self.set_class(points, "-chosen")
        self.fit(self.app.size.width - BESIDE)

    def fit(self, width: int) -> int:
        """Draw it at `width` cells; returns its rows."""
        drawn = button_content(self._number, self._choice, width, points=self._points)
        self.update(drawn)
        return drawn.plain.count("\n") + 1

    def on_click(self, event: Click) -> None:
        event.stop()
        self.post_message(self.Pressed(self._number))


def button_content(number: int, choice: Choice, width: int, *, points: bool) -> Content:
    """The mark of the chosen one, the key, the label and what belongs to it."""
    from harness.ui.transcript.wrap import hanging  # with the first question, not the first paint

    key = (f" {choice.key or number + 1} ", "" if points else KEY)
    mark = Content.assemble("▸" if points else " ", key, " ")
    note = ("  " + visible(choice.note), "" if points else "dim") if choice.note else ""
    lines = [Content.assemble(visible(choice.label), note), *map(Content, map(visible, choice.lines))]
    return hanging(mark, Content("\n").join(lines), width)


@dataclass(frozen=True, slots=True)
class KeyRules:
    """What some keys mean in one question."""

    escape: str = ""
    """Value of the answer that Escape gives; empty: Escape stops the turn."""
    dangerous: bool = False
    """A letter or number only marks a choice; Enter answers."""
    missing: Mapping[str, str] = field(default_factory=dict)
    """Keys that answer other questions, and why there is no such choice here."""


ORDINARY = KeyRules()


class Question(Vertical):
    """A question above the prompt, answered with a number, a letter, the arrow keys or a click.

    It handles no keys before `open`; `QuestionApp` decides when. Full-width characters count, too.
    """

    DEFAULT_CSS = """
    Question {
        height: auto;
        background: $surface;
        border-left: outer $warning;
        padding: 0 1;
        & > PagedScroll { height: auto; scrollbar-size-vertical: 1; }
        & > PagedScroll > Static { height: auto; }
        & > PagedScroll > .title { text-style: bold; }
        & > PagedScroll > .reason { color: $text-muted; }
        & > .more { height: 1; color: $text-warning; display: none; }
        & > .choices { height: auto; &.-roomy { margin: 1 0 0 0; } }
        & > .keys { height: 1; color: $text-muted; }
        &.-waiting > .keys { color: $text-warning; }
        &.-waiting > .choices { color: $text-muted; }
        & > Input { height: 1; border: none; padding: 0; margin: 0 0 0 3; display: none; background: transparent; }
        & > Input.-asked { display: block; }
        &.-dangerous { border-left: outer $error; }
        &.-dangerous .reason { color: $text-error; }
    }
    """

    can_focus = True

    chosen = reactive(0)
    """Index of the choice that Enter selects."""

    class Answered(Message):
        """The question was answered."""

        def __init__(self, question: "Question", value: str, text: str) -> None:
            super().__init__()
            self.question = question
            self.value = value
            self.text = text
            """Content of the text field."""

    class Clicked(Message):
        """A choice was clicked; `QuestionApp` decides whether that counts."""

        def __init__(self, question: "Question", number: int) -> None:
            super().__init__()
            self.question = question
            self.number = number
            """Index of the choice."""

    def __init__(
        self,
        title: str,
        choices: Sequence[Choice],
        detail: Detail = "",
        *,
        reason: str = "",
        preselected: str = "",
        keys: KeyRules = ORDINARY,
    ) -> None:
        """
        Args:
            title: the question, in one or more lines.
            choices: at least one.
            reason: shown below the title: why it is asked.
            preselected: value of the choice selected first; empty: the first choice.
            keys: what some keys mean here.
        """
        super().__init__(classes="-waiting -dangerous" if keys.dangerous else "-waiting")
        self._title = visible(title)
        self._reason = visible(reason)
        self._choices = tuple(choices)
        self._detail = detail
        self._keys = keys
        self._answered = False
        self._default = next((number for number, choice in enumerate(choices) if choice.value == preselected), 0)
        self._before_point = self._default
        self.set_reactive(Question.chosen, self._default)
        self.can_focus = False

    @property
    def answered(self) -> bool:
        """Whether it has been answered."""
        return self._answered

    @property
    def writing(self) -> bool:
        """Whether the text field is active."""
        return self.query_one(Input).has_class("-asked")

    @property
    def key_target(self) -> Widget:
        """The widget that handles keys."""
        return self.query_one(Input) if self.writing else self

    def open(self) -> None:
        """Start to handle keys."""
        self.can_focus = True
        self.remove_class("-waiting")
        self._redraw()

    def close(self) -> None:
        """Stop handling keys. A dangerous call returns to its default choice."""
        self.can_focus = False
        if self._keys.dangerous:
            self.chosen = self._default
        self.add_class("-waiting")
        self._redraw()

    def meaning(self, event: Key) -> KeyMeaning:
        """The meaning of a key while the text field is inactive."""
        if event.key == "tab":
            return KeyMeaning.TAB
        if event.key == "enter":
            return KeyMeaning.ENTER
        if event.key in ("escape", "backspace", "ctrl+c"):
            return KeyMeaning.CANCEL
        if not event.is_printable:
            return KeyMeaning.CONTROL
        choice = self._choice_for(_folded(event))
        if choice is None:
            return KeyMeaning.ANSWER if _folded(event) in self._keys.missing else KeyMeaning.TEXT
        return KeyMeaning.REASON if choice.asks and not choice.text and not self._keys.dangerous else KeyMeaning.ANSWER

    def typed_early(self, text: str) -> bool:
        """The text is nothing but one answer key, perhaps repeated: it was typed before the question took keys."""
        key = answer_key(text)
        return bool(key) and (self._choice_for(key) is not None or key in self._keys.missing)

    def point_at_early(self, text: str) -> None:
        """Mark the choice that was typed early, unless it is dangerous."""
        choice = self._choice_for(answer_key(text))
        if choice is not None and not self._keys.dangerous:
            self.chosen = self._choices.index(choice)

    def point_at(self, event: Key) -> None:
        """Mark the choice that a key selects."""
        if (choice := self._choice_for(_folded(event))) is not None:
            self._before_point, self.chosen = self.chosen, self._choices.index(choice)

    def point_back(self) -> None:
        """Undo `point_at`."""
        self.chosen = self._before_point

    def scroll_page(self, direction: int) -> bool:
        """Scroll the detail by a page, up (-1) or down (1). Returns False if all of it is visible."""
        detail = self.query_one(PagedScroll)
        if not detail.max_scroll_y:
            return False
        (detail.scroll_page_down if direction > 0 else detail.scroll_page_up)(animate=False)
        return True

    def compose(self) -> ComposeResult:
        with PagedScroll(can_focus=False):  # the choices stay visible
            yield Static(Content(self._title), markup=False, classes="title")
            if self._reason:
                yield Static(Content(self._reason), markup=False, classes="reason")
            if self._detail:
                yield Static(self._detail if not callable(self._detail) else "", markup=False, classes="detail")
        yield Static(markup=False, classes="more")
        with Vertical(classes="choices"):
            for number, choice in enumerate(self._choices):
                yield ChoiceButton(number, choice)
        yield Static(markup=False, classes="keys")
        yield Input(compact=True, select_on_focus=False)

    def on_mount(self) -> None:
        self.fit(self.app.size)
        self._redraw()

    def fit(self, size: Size) -> None:
        """Limit the detail so that everything else fits into an app of this size."""
        width = max(1, size.width - BESIDE)
        rows = sum(button.fit(width) for button in self.query(ChoiceButton))
        roomy = size.height >= ROOMY
        self.query(".choices").set_class(roomy, "-roomy")
        most = min(size.height // 2, size.height - rows - ROWS_BESIDE - roomy)
        for area in self.query(PagedScroll):  # none before it is composed
            area.styles.max_height = max(2, most)
        if callable(self._detail):
            for detail in self.query(".detail").results(Static):
                detail.update(self._detail(width))

    def on_paged_scroll_scrolled(self, message: PagedScroll.Scrolled) -> None:
        message.stop()
        more = self.query_one(".more", Static)
        more.display = bool(message.area.position)
        more.update(message.area.position)

    def watch_chosen(self) -> None:
        self._redraw()

    def _redraw(self) -> None:
        if not self.is_attached or not self.query(".keys"):
            return  # keys may arrive before it is composed
        waiting = self.has_class("-waiting")
        for number, button in enumerate(self.query(ChoiceButton)):
            button.point(number == self.chosen and not waiting)
        hint = OPEN_DANGER if self._keys.dangerous else OPEN_ESCAPE if self._keys.escape else OPEN
        self.query_one(".keys", Static).update(WAITING if waiting else hint)

    def press(self, event: Key) -> bool:
        """Handle a key; returns whether it has a meaning here."""
        if self._answered:
            return True
        if self.writing:
            return self._press_in_field(event)
        typed = _folded(event)
        if event.key in ("up", "down"):
            self.chosen = (self.chosen + (1 if event.key == "down" else -1)) % len(self._choices)
        elif event.key == "enter":
            self._select(self._choices[self.chosen])
        elif event.key == "escape" and self._keys.escape:
            self._finish(self._keys.escape, "")
        elif typed and (found := self._choice_for(typed)) is not None:
            self.chosen = self._choices.index(found)
            if not self._keys.dangerous:
                self._select(found)
        elif typed in self._keys.missing:
            self.query_one(".keys", Static).update(f"({typed}) {self._keys.missing[typed]}")
        else:
            return False
        return True

    def select(self, number: int) -> None:
        """Select the choice at this index."""
        if not self._answered and not self.writing:
            self.chosen = number
            self._select(self._choices[number])

    def on_choice_button_pressed(self, message: ChoiceButton.Pressed) -> None:
        message.stop()
        self.post_message(self.Clicked(self, message.number))

    def on_key(self, event: Key) -> None:
        if self.press(event):
            event.stop()
            event.prevent_default()

    def _press_in_field(self, event: Key) -> bool:
        """Handle keys for the text field, also before it has the focus."""
        field = self.query_one(Input)
        if event.key == "escape":
            self._hide_field()
        elif field.has_focus:
            return False
        elif event.key == "enter":
            self._answer(field.value.strip())
        elif event.character is not None and event.is_printable:
            field.insert_text_at_cursor(event.character)
        return True

    def _choice_for(self, typed: str) -> Choice | None:
        if typed.isdigit() and 1 <= int(typed) <= len(self._choices):
            return self._choices[int(typed) - 1]
        return next((choice for choice in self._choices if choice.key == typed), None)

    def _select(self, choice: Choice) -> None:
        if not choice.asks:
            self._answer("")
            return
        field = self.query_one(Input)
        field.placeholder = choice.asks
        field.value = choice.text
        field.cursor_position = len(choice.text)
        field.add_class("-asked")
        field.focus()

    def _hide_field(self) -> None:
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


def _folded(event: Key) -> str:
    return unicodedata.normalize("NFKC", event.character or "").lower()
