"""A list to choose from: sessions, prompts, themes."""

from collections.abc import Iterator, Sequence
from math import inf
from time import monotonic
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.events import Key, Paste
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from harness.base.external_text import visible
from harness.ui.question_focus import GRACE_S


class Picker(ModalScreen[int | None]):
    """A modal list; returns the index of the chosen line, or None. Typed words leave the lines that have them all."""

    DEFAULT_CSS = """
    Picker {
        align: center middle;
        & > Vertical {
            width: 90%; max-width: 110; height: auto; max-height: 100%;
            border: round $primary; padding: 0 1; background: $surface;
        }
        & Static { height: auto; text-style: bold; }
        & OptionList { height: auto; max-height: 60vh; border: none; padding: 0; background: $surface; }
        & OptionList:focus { border: none; }
        & .hint { text-style: none; color: $text-muted; }
    }
    """
    AUTO_FOCUS = "OptionList"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,ctrl+c", "dismiss(None)", "cancel", show=False, priority=True)
    ]

    def __init__(self, title: str, lines: Sequence[str], *, chosen: int = 0) -> None:
        super().__init__()
        self._title = title
        self._lines = [visible(line).replace("\n", " ") for line in lines]
        self._chosen = chosen
        self._search = ""
        self._found = list(range(len(lines)))
        """Indexes of the lines that have every word of the search."""
        self._shown_at = inf
        self._text_at = -inf

    def on_mount(self) -> None:
        self._shown_at = monotonic()

    def meant_for_prompt(self, event: Key | Paste, *, in_use: bool) -> bool:
        """Whether an event belongs to a prompt: any key before the list appeared, text that continues typed text, and
        Enter right after it. `in_use`: the prompt has text."""
        early, typing = event.time < self._shown_at, event.time < self._text_at + GRACE_S
        if isinstance(event, Paste) or event.is_printable or event.key == "backspace":
            if early or typing or in_use:
                self._text_at = event.time
                return True
            return False
        return early or (event.key == "enter" and typing)

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(Content(self._title), markup=False, classes="title")
            options = OptionList(*self._options())
            options.highlighted = self._chosen if self._lines else None
            yield options
            hint = "type to search   ↑↓ select   Enter choose   Esc cancel"
            yield Static(Content(hint), markup=False, classes="hint")

    def _options(self) -> Iterator[Option]:
        return (Option(Content(self._lines[number])) for number in self._found)

    def on_key(self, event: Key) -> None:
        if event.key == "backspace":
            self._narrow(self._search[:-1])
        elif event.key == "ctrl+u":
            self._narrow("")
        elif event.is_printable and event.character is not None:
            self._narrow(self._search + event.character)

    def on_paste(self, event: Paste) -> None:
        self._narrow(self._search + " ".join(event.text.split()))

    def _narrow(self, search: str) -> None:
        self._search = search
        words = search.casefold().split()
        self._found = [
            number for number, line in enumerate(self._lines) if all(word in line.casefold() for word in words)
        ]
        title = f"{self._title}   ? {visible(search)}" if search else self._title
        self.query_one(".title", Static).update(Content(title if self._found else f"{title} · nothing found"))
        self.query_one(OptionList).set_options(self._options()).highlighted = 0 if self._found else None

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self._found[event.option_index])
