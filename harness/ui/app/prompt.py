"""The prompt: text, completion, history, pastes, external editor."""

import asyncio
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from textual import on
from textual.app import ComposeResult, SuspendNotSupported
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.reactive import reactive
from textual.widgets import Static, TextArea

from harness.base.concurrency import in_thread
from harness.media.mentions import pasted_paths
from harness.ui.app.clipboard_image import ClipboardError, clipboard_image
from harness.ui.app.completion import Candidate, Completer
from harness.ui.app.completion_list import CandidateList, CompletionMenu
from harness.ui.app.pastes import Pastes, about_file, cleaned, files_at
from harness.ui.app.prompt_history import HistoryCursor, PromptHistory, matching
from harness.ui.app.prompt_text import SIGNS, PromptMode, PromptText, mode_of, submitted
from harness.ui.editor import EditorError, edited

SEARCH_SIGN = "?"
NORMAL_SIGN = "N"
"""In the normal mode of Vim."""
LONGEST_LOOK_S = 2.0
"""Seconds to read a file whose path was pasted."""
ALT_ENTER = frozenset({"alt+enter", "\r"})
"""While a turn runs: submits a prompt for a turn of its own. The second is in the xterm encoding."""
NEWLINE_KEYS = frozenset({"ctrl+j", "shift+enter", "shift+\r", *ALT_ENTER})
"""Keys that insert a line break. Some terminals send plain Enter for Shift+Enter."""


class PromptArea(Vertical):
    """A sign, a text area, and the completion list above them."""

    DEFAULT_CSS = """
    PromptArea {
        height: auto;
        #prompt-row { height: auto; }
        #prompt-sign { width: 2; height: 1; color: $text-primary; }
        &.-shell #prompt-sign, &.-command #prompt-sign { color: $text-warning; }
        &:disabled { opacity: 60%; }
    }
    """

    prompt_mode: reactive[PromptMode] = reactive[PromptMode]("prompt")
    """Prompt, shell command or slash command."""

    @dataclass
    class Submitted(Message):
        """A text was submitted and the prompt is empty."""

        text: str
        """With every placeholder replaced by its paste."""
        own_turn: bool = False
        """It waits for a turn of its own while one runs."""

    @dataclass
    class Changed(Message):
        """The text has changed."""

        text: str
        """With every placeholder replaced by its paste."""

    @dataclass
    class Refused(Message):
        """Something failed."""

        text: str
        """One sentence."""

    def __init__(
        self,
        history: PromptHistory,
        completer: Completer,
        shortcut: Callable[[str], bool] = lambda key: False,
        *,
        placeholder: str = "",
        id: str | None = None,
    ) -> None:
        """
        Args:
            history: earlier prompts.
            completer: finds completions.
            shortcut: called for every key while the prompt is empty and no list is open; True: the key is handled.
            placeholder: shown while the prompt is empty.
            id: of the widget.
        """
        super().__init__(id=id)
        self.history = history
        """Earlier prompts; can be replaced."""
        self._shortcut = shortcut
        self._pastes = Pastes()
        self._cursor = HistoryCursor()
        self._draft: tuple[str, int] | None = None
        self._last = ""
        self._list = CandidateList()
        self._completing = CompletionMenu(completer, self._list)
        self._sign = Static(SIGNS["prompt"], id="prompt-sign", markup=False)
        self._placeholder = placeholder
        self._input = PromptText(
            placeholder=placeholder,
            before_key=self._handle_key,
            after_edit=self._after_edit,
            on_revival=lambda: self._pastes.revive(self._input.text),
            fold=self._folded,
        )
        self.examples: Sequence[str] = ()
        """Prompts that Tab offers while nothing has been submitted."""
        self.turn_runs: Callable[[], bool] = lambda: False
        """Whether a turn runs, which a prompt joins unless it is submitted for a turn of its own."""
        self.keep_image: Callable[[bytes], Path] | None = None
        """Saves an image of the clipboard to a file; None before a session is open."""

    @property
    def text(self) -> str:
        """The text that would be submitted."""
        return self._pastes.unfold(self._draft[0] if self._draft else self._input.text)

    @property
    def empty(self) -> bool:
        """Whether there is no text."""
        return not (self._draft[0] if self._draft else self._input.text)

    @property
    def searching(self) -> bool:
        """Whether the text area holds a search of the history."""
        return self._draft is not None

    @property
    def completing(self) -> bool:
        """Whether a completion list is open."""
        return self._completing.open

    def load(self, text: str) -> None:
        """Replace the text; the cursor goes to its end."""
        self._draft = None
        self._pastes.forget()
        self._cursor.reset()
        self._show(text)

    def use_vim_keys(self) -> None:
        """Turn on Vim keys, in insert mode."""
        from harness.ui.app.vim_keys import VimKeys  # only for those who want them

        self._input.vim = VimKeys()

    def suggest(self, examples: Sequence[str]) -> None:
        """Offer these prompts, which Tab puts into the empty prompt one after the other."""
        self.examples = tuple(examples)
        self._placeholder = "Ask for something; Tab takes an example" if examples else ""
        self._show_sign()

    def _example_after(self, text: str) -> str:
        number = self.examples.index(text) + 1 if text else 0
        return self.examples[number % len(self.examples)]

    def clear(self) -> None:
        """Start a new prompt."""
        self.load("")

    def refresh_completion(self) -> None:
        """Update an open list after the files or commands have changed."""
        self._completing.refresh(self._input.text, self._input.cursor)

    def focus(self, scroll_visible: bool = True) -> "PromptArea":
        """Focus the text area."""
        self._input.focus(scroll_visible)
        return self

    def compose(self) -> ComposeResult:
        yield self._list
        with Horizontal(id="prompt-row"):
            yield self._sign
            yield self._input

    def watch_prompt_mode(self, mode: PromptMode) -> None:
        self.set_class(mode == "shell", "-shell")
        self.set_class(mode == "command", "-command")
        self._show_sign()

    @on(TextArea.Changed)
    @on(TextArea.SelectionChanged)
    def _keep_inside(self, message: Message) -> None:
        message.stop()

    # ── keys ────────────────────────────────────────────────────────────────────────────────────

    async def _handle_key(self, key: str) -> bool:
        """Handle a key before the text area; returns whether it is handled."""
        if self.searching:
            return self._handle_search_key(key)
        if self.completing:
            if self._handle_list_key(key):
                return True
        elif self.empty and self._shortcut(key):
            return True
        match key:
            case "enter":
                self._enter()
            case _ if key in ALT_ENTER and self.turn_runs():
                self._enter(own_turn=True)
            case _ if key in NEWLINE_KEYS:
                self._input.type("\n")
                self._after_edit()
            case "up" if self._input.on_first_row:
                self._go(self._cursor.older)
            case "down" if self._input.on_last_row:
                self._go(self._cursor.newer)
            case "tab" if self.examples and self._input.text in ("", *self.examples):
                self.load(self._example_after(self._input.text))
            case "tab":
                return self._completing.reopen(self._input.text, self._input.cursor)
            case "ctrl+r":
                self._search()
            case "ctrl+g":
                await self._edit_elsewhere()
            case "alt+v" | "ctrl+v":
                return await self._paste_image(or_text=key == "ctrl+v")
            case "backspace" if self._input.selection.is_empty and (length := self._placeholder_before_cursor):
                self._input.put("", self._input.cursor - length, self._input.cursor)
                self._after_edit()
            case _:
                return False
        return True

    def _handle_list_key(self, key: str) -> bool:
        match key:
            case "up" | "down":
                self._completing.move(1 if key == "down" else -1)
            case "enter" | "tab":
                taken = self._completing.accept(self._input.text)
                if taken:
                    self._input.put(*taken)
                    self._after_edit()
                return bool(taken) or key == "tab"
            case "escape":
                self._completing.dismiss()
            case _:
                return False
        return True

    def _enter(self, *, own_turn: bool = False) -> None:
        if self._input.text[: self._input.cursor].endswith("\\"):
            self._input.put("\n", self._input.cursor - 1, self._input.cursor)
            self._after_edit()
        elif text := submitted(self.text):
            self.history.add(text)
            self.suggest(())
            if self._input.vim is not None:
                self._input.vim.insert()
            self.clear()
            self.post_message(self.Submitted(text, own_turn))
            self._report_history_problem()

    # ── text ────────────────────────────────────────────────────────────────────────────────────

    def _show(self, text: str, cursor: int | None = None) -> None:
        text = cleaned(text)
        self._completing.close()
        self._pastes.follow(text)
        self._pastes.revive(text)
        self._input.show(text, cursor)
        self._show_sign()
        self._note_text()

    @property
    def _placeholder_before_cursor(self) -> int:
        return self._pastes.before(self._input.text[: self._input.cursor])

    async def _folded(self, paste: str) -> str:
        if self.searching:
            return " ".join(paste.split("\n"))
        files: dict[str, str] = {}
        if paths := pasted_paths(paste):
            with suppress(TimeoutError):  # the disk does not answer
                async with asyncio.timeout(LONGEST_LOOK_S):
                    files = await in_thread(partial(files_at, paths))
        return self._pastes.fold_files(files.items()) if files else self._pastes.fold(paste)

    async def _paste_image(self, *, or_text: bool) -> bool:
        """Attach the image in the clipboard; without one, Ctrl+V pastes text."""
        try:
            image = await clipboard_image(os.environ)
            if self.keep_image is None:
                raise ClipboardError("The session is still loading; try again in a moment.")
            path = str(await in_thread(partial(self.keep_image, image)))
        except (ClipboardError, OSError) as error:
            if not or_text:
                self.post_message(self.Refused(str(error)))
            return not or_text
        self._input.type(self._pastes.fold_files([(path, about_file(path) or "image")]))
        self._after_edit()
        return True

    def _after_edit(self) -> None:
        if self.searching:
            self._find()
            return
        if self._input.vim is not None:
            self._show_sign()
        text = self._input.text
        changed = text != self._last
        if changed:
            self._pastes.follow(text)
            self._note_text()
        if changed or self.completing:
            self._completing.update(text, self._input.cursor)

    def _note_text(self) -> None:
        text = self._input.text
        if text != self._last:
            self._last = text
            whole = self.text
            self.prompt_mode = mode_of(whole)
            self.post_message(self.Changed(whole))

    def _show_sign(self) -> None:
        self._input.placeholder = "" if self.searching else self._placeholder
        normal = self._input.vim is not None and self._input.vim.normal
        self._sign.update(SEARCH_SIGN if self.searching else NORMAL_SIGN if normal else SIGNS[self.prompt_mode])

    # ── history ─────────────────────────────────────────────────────────────────────────────────

    def _go(self, step: Callable[[Sequence[str], str], str | None]) -> None:
        text = step(self.history.prompts, self._input.text)
        self._report_history_problem()
        if text is not None:
            self._show(text)

    def _search(self) -> None:
        self._completing.close()
        self._draft = self._input.text, self._input.cursor
        self._input.show("")
        self._show_sign()
        self._find()
        self._report_history_problem()

    def _find(self) -> None:
        found = matching(self.history.prompts, self._input.text)
        title = "search: Enter accepts, Ctrl+R older, Esc cancels" if found else "no earlier prompt matches"
        self._list.open([Candidate(prompt) for prompt in found], title)

    def _handle_search_key(self, key: str) -> bool:
        match key:
            case "ctrl+r" | "down":
                self._list.move(1)
            case "up":
                self._list.move(-1)
            case "enter" | "tab":
                if found := self._list.chosen:
                    self._leave_search()
                    self._cursor.reset()
                    self._show(found.label)
            case "escape":
                self._leave_search()
            case "ctrl+g":
                pass  # there is no draft to edit now
            case _:
                return key in NEWLINE_KEYS
        return True

    def _leave_search(self) -> None:
        draft, self._draft = self._draft, None
        if draft:
            self._show(*draft)

    def _report_history_problem(self) -> None:
        if problem := self.history.problem():
            self.post_message(self.Refused(problem))

    # ── external editor ─────────────────────────────────────────────────────────────────────

    async def _edit_elsewhere(self) -> None:
        try:
            # Nothing may be drawn: the editor has the terminal, and the turn continues.
            with self.app.suspend(), self.app.batch_update():
                outcome = await _edited_or_why_not(self.text)
        except SuspendNotSupported:
            outcome = EditorError("An editor cannot be opened in this terminal.")
        if isinstance(outcome, EditorError):
            self.post_message(self.Refused(str(outcome)))
        elif outcome != self.text:
            self.load(outcome)


async def _edited_or_why_not(text: str) -> str | EditorError:
    try:
        return await edited(text, os.environ)
    except EditorError as error:
        return error
