"""Every key, as a table and as a page."""

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

KeyTable = Sequence[tuple[str, Sequence[tuple[str, str]]]]
"""Titles, and below each the keys and what they do."""

KEYS: KeyTable = (
    (
        "While a turn runs",
        (
            ("Esc", "stop the model and its tools; what was said is kept"),
            ("Alt+R", "retry now, while a retry is waited for or the model is silent"),
            ("Alt+M", "ask the other model instead, while a retry is waited for"),
            ("Enter", "what you type now is the next prompt"),
        ),
    ),
    (
        "The prompt",
        (
            ("Enter", "send"),
            ("Ctrl+J", "a new line; so do Shift+Enter and a backslash before Enter"),
            ("↑ ↓  Ctrl+R", "earlier prompts, and search in them"),
            ("/  @  !", "a command, a file, a shell command of your own"),
            ("Tab", "take what is offered; go to a question and back"),
            ("Alt+V", "attach the image in the clipboard; a dragged image or PDF attaches itself"),
            ("Ctrl+G", "write in your editor"),
            ("Esc Esc", "go back to an earlier prompt"),
            ("Ctrl+C", "copy what is selected, clear, stop; twice quits"),
            ("Ctrl+D  Ctrl+Z", "leave; suspend"),
        ),
    ),
    (
        "The screen",
        (
            ("F2  F3", "panel on and off; panel on the whole screen"),
            ("← →", "with an empty prompt: the panel as it was, step by step"),
            ("Ctrl+O", "expand every tool call, or fold them; a click does it for one"),
            ("Shift+Tab", "asks first, edits freely, read only"),
            ("PgUp PgDn", "scroll; Ctrl+End follows again"),
            ("Ctrl+L", "draw again"),
        ),
    ),
)


def keys_content(keys: KeyTable = KEYS) -> Content:
    """A table as text."""
    width = max(len(key) for _, rows in keys for key, _ in rows)
    lines: list[Content] = []
    for title, rows in keys:
        lines += [Content.styled(title, "bold")]
        lines += [Content.assemble("  ", (f"{key:<{width}}", "$text-accent"), "  ", text) for key, text in rows]
        lines += [Content("")]
    return Content("\n").join(lines)


class KeysScreen(ModalScreen[None]):
    """Shows the keys until any of those that close things is pressed."""

    DEFAULT_CSS = """
    KeysScreen {
        align: center middle;
        & > VerticalScroll {
            width: 90%; max-width: 88; height: auto; max-height: 90%;
            border: round $primary; padding: 0 2; background: $surface;
        }
        & Static { height: auto; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,f1,q,enter,question_mark,ctrl+c", "dismiss", "close", show=False, priority=True)
    ]

    def __init__(self, keys: KeyTable = KEYS) -> None:
        super().__init__()
        self._keys = keys

    def compose(self) -> ComposeResult:
        with VerticalScroll():
            yield Static(keys_content(self._keys), markup=False)
