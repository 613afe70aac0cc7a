"""The text area of the prompt, and the mode of its text."""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from textual import events
from textual.binding import Binding
from textual.screen import Screen
from textual.widgets import TextArea
from textual.widgets.text_area import Selection

from harness.ui.app.pastes import cleaned

if TYPE_CHECKING:
    from harness.ui.app.vim_keys import Edited, VimKeys

LEFT_TO_THE_APP = frozenset({"ctrl+c", "super+c", "ctrl+d", "ctrl+z", "f6", "f7", "pageup", "pagedown"})
"""Keys of a text area that have another meaning in the app."""

KEYS: Mapping[str, str] = {
    **{binding.key: binding.action for binding in Binding.make_bindings(TextArea.BINDINGS)},
    "ctrl+w": "delete_to_space",
    "alt+b": "cursor_word_left",
    "alt+f": "cursor_word_right",
    "alt+d": "delete_word_right",
    "ctrl+y": "yank",
    "ctrl+underscore": "undo",
    "ctrl+shift+z": "redo",
}
"""Actions of keys: those of a text area, and some of readline."""
KILLS = frozenset(
    {
        *("delete_to_space", "delete_word_left", "delete_word_right", "delete_to_start_of_line"),
        *("delete_to_end_of_line_or_delete_line", "delete_line"),
    }
)
"""Actions whose text Ctrl+Y inserts again."""


class PromptText(TextArea, inherit_bindings=False):
    """A text area that grows with its text.

    Textual runs bindings after a key has bubbled up to the app, possibly after the next letter. Here each key is
    handled on arrival, so that keys take effect in the order of typing.
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
        """
        Args:
            placeholder: shown while the text is empty.
            before_key: called for every key; True: the key is handled.
            after_edit: called after every key and paste.
            on_revival: called after undo and redo, before `after_edit`.
            fold: returns the text to insert for a paste.
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
        self._killed = ""
        self.vim: VimKeys | None = None
        """Vim keys, if they are wanted."""

    @property
    def cursor(self) -> int:
        """Index of the character under the cursor."""
        return len(self.get_text_range((0, 0), self.cursor_location))

    @property
    def on_first_row(self) -> bool:
        """Whether the cursor is in the first wrapped row."""
        return self.navigator.is_first_wrapped_line(self.cursor_location)

    @property
    def on_last_row(self) -> bool:
        """Whether the cursor is in the last wrapped row."""
        return self.navigator.is_last_wrapped_line(self.cursor_location)

    def show(self, text: str, cursor: int | None = None) -> None:
        """Replace the text and clear the undo history; the cursor goes to an index or to the end."""
        self.load_text(text)
        self.move_cursor(self.document.end if cursor is None else _location(text, cursor))

    def type(self, text: str) -> None:
        """Insert a text at the cursor, replacing the selection."""
        start, end = sorted(self.selection)
        self.move_cursor(self.replace(text, start, end, maintain_selection_offset=False).end_location)

    def put(self, text: str, start: int, end: int) -> None:
        """Replace the text between two indices as an undoable edit; the cursor goes to its end."""
        whole = self.text
        self.selection = Selection(_location(whole, start), _location(whole, end))
        self.type(text)

    async def action_paste(self) -> None:  # type: ignore[override]  # textual awaits what an action returns
        """Paste the clipboard of the app."""
        await self._paste(self.app.clipboard)

    def action_delete_to_space(self) -> None:
        """Delete back to the previous space, as a shell does."""
        start, end = sorted(self.selection)
        if start == end:
            row, column = end
            before = self.document.get_line(row)[:column]
            start = (row, len(re.sub(r"\S*\s*$", "", before))) if before else self.get_cursor_left_location()
        self.delete(start, end, maintain_selection_offset=False)

    def action_yank(self) -> None:
        """Insert the text deleted last with Ctrl+W, Ctrl+U, Ctrl+K or Alt+D."""
        self.type(self._killed)

    def on_mount(self) -> None:
        self.screen.screen_layout_refresh_signal.subscribe(self, self._place_cursor, immediate=True)

    def _place_cursor(self, _: Screen[Any]) -> None:
        if self.has_focus and self.app.cursor_position != self.cursor_screen_offset:
            self.app.cursor_position = self.cursor_screen_offset
            self.refresh()

    async def _on_key(self, event: events.Key) -> None:
        event.prevent_default()
        if await self._before_key(event.key):
            event.stop()
            return
        if self.vim is not None and await self._vim_key(self.vim, event):
            event.stop()
            self._after_edit()
            return
        action = None if event.key in LEFT_TO_THE_APP else KEYS.get(event.key)
        if action is None:
            await super()._on_key(event)
        else:
            event.stop()
            before = self.text if action in KILLS else ""
            await self.run_action(action)
            if before and (length := len(before) - len(self.text)):
                self._killed = before[self.cursor : self.cursor + length]
            if action in ("undo", "redo", "yank"):
                self._on_revival()
        self._after_edit()

    async def _vim_key(self, vim: "VimKeys", event: events.Key) -> bool:
        """Handle a key of Vim; returns whether it is one."""
        if event.key == "escape":
            if vim.normal and not vim.waits:
                return False
            self._apply(vim.escape(self.text, self.cursor))
        elif not vim.normal or not event.is_printable or event.character is None:
            return False
        elif event.character in "jk" and not vim.waits:
            down = event.character == "j"
            if not await self._before_key("down" if down else "up"):
                await self.run_action("cursor_down" if down else "cursor_up")
        elif event.character == "u" and not vim.waits:
            await self.run_action("undo")
            self._on_revival()
        else:
            self._apply(vim.press(event.character, self.text, self.cursor))
        return True

    def _apply(self, edited: "Edited") -> None:
        """Replace only the difference, as one undoable edit."""
        before, after = self.text, edited.text
        if before != after:
            start = _same_until(before, after)
            same = _same_until(before[start:][::-1], after[start:][::-1])
            self.put(after[start : len(after) - same], start, len(before) - same)
        self.move_cursor(_location(after, edited.cursor))

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


PromptMode = Literal["prompt", "shell", "command"]

SIGNS: Mapping[PromptMode, str] = {"prompt": "▸", "shell": "!", "command": "/"}
"""The sign before the text."""

SLASHES = ("/", "／")
_NAME = re.compile(r"(\?|[^\W\d][\w:.-]*)?")
"""What may follow the slash of a command, as in `is_command`; nothing yet, too."""


def mode_of(text: str) -> PromptMode:
    """Shell after `!`, command after a `/` where a name may follow, else prompt. Accepts full-width signs."""
    if text.startswith(("!", "！")):
        return "shell"
    if not text.startswith(SLASHES) or text[1:].startswith(SLASHES):
        return "prompt"
    word = text.split(maxsplit=1)[0]
    return "command" if _NAME.fullmatch(word[1:]) else "prompt"


def submitted(text: str) -> str:
    """The text to submit: narrow signs, narrow spaces in a command, no trailing space."""
    match mode_of(text):
        case "shell":
            text = "!" + text[1:]
        case "command":
            text = "/" + text[1:].replace("\u3000", " ")
        case "prompt" if text.startswith(SLASHES) and text[1:].startswith(SLASHES):
            text = "//" + text[2:]
    return text.rstrip()


def by_kind(text: str, given_back: Sequence[str]) -> list[str]:
    """What to submit of a text: each command by itself where it begins with lines that a stop gave back.

    As one text, commands behind a prompt would be words of it, and prompts behind `!` would be run by the shell.
    """
    block = "\n".join(given_back)
    kept, rest = text.startswith(block), text[len(block) :]
    if all(mode_of(line) == "prompt" for line in given_back) or not kept or rest[:1] not in ("", "\n"):
        return [text]  # changed by the user
    lines: list[str] = []
    for line in filter(str.strip, (*given_back, rest[1:])):
        if lines and mode_of(lines[-1]) == mode_of(line) == "prompt":
            lines[-1] += f"\n{line}"
        else:
            lines.append(line)
    return lines


def _same_until(one: str, other: str) -> int:
    """The length of the common beginning."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((index for index, (a, b) in pairs if a != b), min(len(one), len(other)))
