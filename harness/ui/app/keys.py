"""The keys of the app, as a table and as a page."""

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from harness.ui.app.paged_scroll import PagedScroll
from harness.ui.transcript.wrap import hanging

KeyTable = Sequence[tuple[str, Sequence[tuple[str, str]]]]
"""Sections of keys with their descriptions."""

KEYS: KeyTable = (
    (
        "While a turn runs",
        (
            ("Esc", "stop the turn; text received so far is kept"),
            ("Ctrl+B", "let the running command or subagent continue in the background; in tmux twice"),
            ("Alt+R", "retry now, while waiting for a retry or a silent model"),
            ("Alt+M", "use the fallback model, while waiting for a retry"),
            ("Enter  Alt+Enter", "join the turn after its tools; a turn of its own; ↑ takes back"),
        ),
    ),
    (
        "The prompt",
        (
            ("Enter", "send"),
            ("Ctrl+J", "new line; also Shift+Enter, or a backslash before Enter"),
            ("↑ ↓  Ctrl+R", "earlier prompts; search them"),
            ("/  @  !", "slash command, file, shell command"),
            ("Tab", "accept a completion; move to a question and back"),
            ("Alt+V", "attach the image in the clipboard; or drag an image or PDF into the prompt"),
            ("Ctrl+W  Ctrl+U  Ctrl+K", "delete a word, to the start, to the end; Ctrl+Y inserts it again"),
            ("Ctrl+G", "edit the prompt in your editor"),
            ("Esc Esc", "go back to an earlier prompt"),
            ("Ctrl+C", "copy the selection, clear, stop; twice: quit"),
            ("Ctrl+D  Ctrl+Z", "quit; suspend"),
        ),
    ),
    (
        "The screen",
        (
            ("F2  F3", "show or hide the panel; panel on the whole screen"),
            ("← →", "with an empty prompt: the panel at earlier steps"),
            ("Ctrl+O", "expand or fold all tool calls and thoughts; click for one"),
            ("Shift+Tab", "permission mode: asks first, edits freely, read only"),
            ("PgUp PgDn", "scroll; Ctrl+End: newest"),
            ("Ctrl+L", "redraw"),
        ),
    ),
    (
        "The panel",
        (
            ("working", "the tool is called as usual (its circuit breaker is closed)"),
            ("PAUSED", "it failed too often and is skipped for some steps (open)"),
            ("being tried", "one call tests whether it works again (half-open)"),
            ("failures", "failed calls of this turn; at the limit it pauses and asks you"),
            ("· ● ↻ ✗", "steps: tools ran, answered, retried, a tool failed; F3 explains all signs"),
        ),
    ),
)


def keys_content(keys: KeyTable = KEYS, width: int = 80) -> Content:
    """A table as text, in lines of at most `width` cells."""
    column = max(len(key) for _, rows in keys for key, _ in rows)
    lines: list[Content] = []
    for title, rows in keys:
        lines += [Content.styled(title, "bold")]
        for key, text in rows:
            mark = Content.assemble("  ", (f"{key:<{column}}", "$text-accent"), "  ")
            lines += [hanging(mark, Content(text), width)]
        lines += [Content("")]
    return Content("\n").join(lines[:-1])


class KeysScreen(ModalScreen[None]):
    """A page of keys, closed by Esc, Enter, q, ? or F1."""

    DEFAULT_CSS = """
    KeysScreen {
        align: center middle;
        & > PagedScroll {
            width: 90%; max-width: 88; height: auto; max-height: 90%; scrollbar-size-vertical: 1;
            border: round $primary; padding: 0 2; background: $surface; border-subtitle-color: $text;
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
        with PagedScroll():
            yield Static(keys_content(self._keys), markup=False)

    def on_paged_scroll_scrolled(self, message: PagedScroll.Scrolled) -> None:
        area = message.area
        area.border_subtitle = area.position
        area.query_one(Static).update(keys_content(self._keys, area.scrollable_content_region.width))
