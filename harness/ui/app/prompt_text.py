"""The text of the prompt: a text area that asks before it takes a key."""

import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from textual import events
from textual.binding import Binding
from textual.screen import Screen
from textual.widgets import TextArea
from textual.widgets.text_area import Selection

from harness.ui.app.pastes import cleaned

LEFT_TO_THE_APP = frozenset({"ctrl+c", "super+c", "ctrl+d", "ctrl+z", "f6", "f7", "pageup", "pagedown"})
"""Keys that a text area would take and that mean something else in this program."""

KEYS: Mapping[str, str] = {
    **{binding.key: binding.action for binding in Binding.make_bindings(TextArea.BINDINGS)},
    "ctrl+w": "delete_to_space",
    "alt+b": "cursor_word_left",
    "alt+f": "cursor_word_right",
    "alt+d": "delete_word_right",
    "ctrl+underscore": "undo",
}
"""The action of each key that edits or moves: those of a text area, and some of readline."""


class PromptText(TextArea, inherit_bindings=False):
    """Several lines of text, as high as they need.

    A text area runs its bindings only after a key has bubbled up to the app, which can be after a letter that was
    typed behind it. Here keys do their work where they arrive, in the order in which they were typed.
    """

    DEFAULT_CSS = """
    PromptText {
        height: auto;
        max-height: 8;
        border: none;
        padding: 0;
        background: transparent;
        scrollbar-size-vertical: 1;
        &:focus { border: none; }
    }
    """

    def __init__(
        self,
        *,
        placeholder: str,
        before_key: Callable[[str], Awaitable[bool]],
        after_edit: Callable[[], None],
        on_revival: Callable[[], None],
        fold: Callable[[str], Awaitable[str]],
    ) -> None:
        """A text area with four seams.

        Args:
            placeholder: what is shown while there is no text.
            before_key: is asked about every key; True: it was used.
            after_edit: is told after a key or a paste did its work.
            on_revival: is told after undo or redo, before `after_edit`.
            fold: makes of a paste what is put into the text.
        """
        super().__init__(
            placeholder=placeholder, soft_wrap=True, show_line_numbers=False, highlight_cursor_line=False, compact=True
        )
        self.cursor_blink = False
        self.match_cursor_bracket = False
        self._before_key = before_key
        self._after_edit = after_edit
        self._on_revival = on_revival
        self._fold = fold

    @property
    def cursor(self) -> int:
        """Index of the character under the cursor."""
        return len(self.get_text_range((0, 0), self.cursor_location))

    @property
    def on_first_row(self) -> bool:
        """Whether the cursor is in the first row of the screen that the text takes."""
        return self.navigator.is_first_wrapped_line(self.cursor_location)

    @property
    def on_last_row(self) -> bool:
        """Whether the cursor is in the last row of the screen that the text takes."""
        return self.navigator.is_last_wrapped_line(self.cursor_location)

    def show(self, text: str, cursor: int | None = None) -> None:
        """Another text, with the cursor at an index or at its end. What was done before cannot be undone then."""
        self.load_text(text)
        self.move_cursor(self.document.end if cursor is None else _location(text, cursor))

    def type(self, text: str) -> None:
        """Put a text where the cursor is, in the place of what is selected."""
        start, end = sorted(self.selection)
        self.move_cursor(self.replace(text, start, end, maintain_selection_offset=False).end_location)

    def put(self, text: str, start: int, end: int) -> None:
        """Replace what is between two indices, as an edit that can be undone; the cursor goes behind it."""
        whole = self.text
        self.selection = Selection(_location(whole, start), _location(whole, end))
        self.type(text)

    async def action_paste(self) -> None:  # type: ignore[override]  # textual awaits what an action returns
        """What was cut or copied in here."""
        await self._paste(self.app.clipboard)

    def action_delete_to_space(self) -> None:
        """Delete the word before the cursor with all its punctuation, as a shell does."""
        start, end = sorted(self.selection)
        if start == end:
            row, column = end
            before = self.document.get_line(row)[:column]
            start = (row, len(re.sub(r"\S*\s*$", "", before))) if before else self.get_cursor_left_location()
        self.delete(start, end, maintain_selection_offset=False)

    def on_mount(self) -> None:
        self.screen.screen_layout_refresh_signal.subscribe(self, self._place_cursor, immediate=True)

    def _place_cursor(self, _: Screen[Any]) -> None:
        """Move the terminal's cursor, where an input method opens its window, along with a text that moved."""
        if self.has_focus and self.app.cursor_position != self.cursor_screen_offset:
            self.app.cursor_position = self.cursor_screen_offset
            self.refresh()

    async def _on_key(self, event: events.Key) -> None:
        event.prevent_default()
        if await self._before_key(event.key):
            event.stop()
            return
        action = None if event.key in LEFT_TO_THE_APP else KEYS.get(event.key)
        if action is None:
            await super()._on_key(event)
        else:
            event.stop()
            await self.run_action(action)
            if action in ("undo", "redo"):
                self._on_revival()
        self._after_edit()

    async def _on_paste(self, event: events.Paste) -> None:
        event.prevent_default()
        event.stop()
        await self._paste(event.text)

    async def _paste(self, text: str) -> None:
        self.type(await self._fold(cleaned(text)))
        self._after_edit()


def _location(text: str, index: int) -> tuple[int, int]:
    before = text[:index]
    return before.count("\n"), len(before) - (before.rfind("\n") + 1)
