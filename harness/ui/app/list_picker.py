"""A list to choose from: sessions, prompts, themes."""

from collections.abc import Sequence
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
    """A modal list; returns the index of the chosen line, or None."""

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
        self._lines = lines
        self._chosen = chosen
        self._shown_at = inf
        self._text_at = -inf

    def on_mount(self) -> None:
        self._shown_at = monotonic()

    def meant_for_prompt(self, event: Key | Paste) -> bool:
        """Whether an event belongs to typed text: text, Enter right after it, or any key before the list appeared."""
        if isinstance(event, Paste) or event.is_printable or event.key == "backspace":
            self._text_at = event.time
            return True
        return event.time < self._shown_at or (event.key == "enter" and event.time < self._text_at + GRACE_S)

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(Content(self._title), markup=False)
            options = OptionList(*(Option(Content(visible(line).replace("\n", " "))) for line in self._lines))
            options.highlighted = self._chosen if self._lines else None
            yield options
            yield Static(Content("↑↓ select   Enter choose   Esc cancel"), markup=False, classes="hint")

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(event.option_index)
