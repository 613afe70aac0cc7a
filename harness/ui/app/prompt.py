"""Where the person types: text, completion, history, pastes."""

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

from harness.base.threads import in_thread
from harness.media.mentions import pasted_paths
from harness.ui.app.candidate_list import CandidateList
from harness.ui.app.clipboard_image import ClipboardError, clipboard_image
from harness.ui.app.completion import Candidate, Completer
from harness.ui.app.completion_list import Completing
from harness.ui.app.external_editor import EditorError, edited
from harness.ui.app.history_walk import HistoryWalk, matching
from harness.ui.app.pastes import Pastes, about_file, cleaned, files_at
from harness.ui.app.prompt_history import PromptHistory
from harness.ui.app.prompt_mode import SIGNS, PromptMode, mode_of, submitted
from harness.ui.app.prompt_text import PromptText

SEARCH_SIGN = "?"
LONGEST_LOOK_S = 2.0
"""Seconds in which a file has to say what it is whose path was pasted."""
NEWLINE_KEYS = frozenset({"ctrl+j", "shift+enter", "alt+enter", "shift+\r", "\r"})
"""Line breaks; the last two are Shift+Enter and Alt+Enter of a terminal that reports keys as xterm does.

Terminals that report them in no way send plain Enter for Shift+Enter, and textual takes Alt+Enter for Enter there.
"""


class PromptArea(Vertical):
    """The prompt: a sign, some rows of text, and above them what could be taken."""

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
    """What the text is meant as."""

    @dataclass
    class Submitted(Message):
        """The person submitted a text; the prompt is empty again."""

        text: str
        """Whole, with every paste in its place."""

    @dataclass
    class Changed(Message):
        """There is another text now."""

        text: str
        """Whole, with every paste in its place."""

    @dataclass
    class Refused(Message):
        """Something could not be done."""

        text: str
        """One sentence for the person."""

    def __init__(
        self,
        history: PromptHistory,
        completer: Completer,
        shortcut: Callable[[str], bool] = lambda key: False,
        *,
        placeholder: str = "",
        id: str | None = None,
    ) -> None:
        """A prompt.

        Args:
            history: what was submitted before.
            completer: finds what a word could become.
            shortcut: is asked with the name of every key while there is no text and nothing is open; True: the key
                was used and is not typed.
            placeholder: what is shown while there is no text.
            id: of the widget.
        """
        super().__init__(id=id)
        self.history = history
        """What was submitted before; another one can take its place."""
        self._shortcut = shortcut
        self._pastes = Pastes()
        self._walk = HistoryWalk()
        self._draft: tuple[str, int] | None = None
        self._last = ""
        self._list = CandidateList()
        self._completing = Completing(completer, self._list)
        self._sign = Static(SIGNS["prompt"], id="prompt-sign", markup=False)
        self._placeholder = placeholder
        self._input = PromptText(
            placeholder=placeholder,
            before_key=self._take_key,
            after_edit=self._after_edit,
            on_revival=lambda: self._pastes.revive(self._input.text),
            fold=self._folded,
        )
        self.keep_image: Callable[[bytes], Path] | None = None
        """Keeps an image of the clipboard as a file; None: there is no session yet."""

    @property
    def text(self) -> str:
        """What a submission would give: the whole text, with every paste in its place."""
        return self._pastes.unfold(self._draft[0] if self._draft else self._input.text)

    @property
    def empty(self) -> bool:
        """Whether there is no text at all."""
        return not (self._draft[0] if self._draft else self._input.text)

    @property
    def searching(self) -> bool:
        """Whether the history is being searched; the text area holds what is looked for then."""
        return self._draft is not None

    @property
    def completing(self) -> bool:
        """Whether a list of completions is open."""
        return self._completing.open

    def load(self, text: str) -> None:
        """Show another text, with the cursor at its end."""
        self._draft = None
        self._pastes.forget()
        self._walk.leave()
        self._show(text)

    def clear(self) -> None:
        """Begin a new prompt."""
        self.load("")

    def look_again(self) -> None:
        """Complete anew where a list is wanted: there are other files or commands now."""
        self._completing.look_again(self._input.text, self._input.cursor)

    def focus(self, scroll_visible: bool = True) -> "PromptArea":
        """Let the person type here."""
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

    async def _take_key(self, key: str) -> bool:
        """Whether a key was used here and the text area must not have it."""
        if self.searching:
            return self._take_search_key(key)
        if self.completing:
            if self._take_list_key(key):
                return True
        elif self.empty and self._shortcut(key):
            return True
        match key:
            case "enter":
                self._enter()
            case _ if key in NEWLINE_KEYS:
                self._input.type("\n")
                self._after_edit()
            case "up" if self._input.on_first_row:
                self._go(self._walk.older)
            case "down" if self._input.on_last_row:
                self._go(self._walk.newer)
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

    def _take_list_key(self, key: str) -> bool:
        match key:
            case "up" | "down":
                self._completing.move(1 if key == "down" else -1)
            case "enter" | "tab":
                taken = self._completing.take(self._input.text)
                if taken:
                    self._input.put(*taken)
                    self._after_edit()
                return bool(taken) or key == "tab"
            case "escape":
                self._completing.dismiss()
            case _:
                return False
        return True

    def _enter(self) -> None:
        if self._input.text[: self._input.cursor].endswith("\\"):
            self._input.put("\n", self._input.cursor - 1, self._input.cursor)
            self._after_edit()
        elif text := submitted(self.text):
            self.history.add(text)
            self.clear()
            self.post_message(self.Submitted(text))
            self._tell_of_history()

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
        """Length of the placeholder that ends at the cursor, which goes as a whole; 0 where there is none."""
        return self._pastes.before(self._input.text[: self._input.cursor])

    async def _folded(self, paste: str) -> str:
        """What is put into the text for a paste."""
        if self.searching:
            return " ".join(paste.split("\n"))
        files: dict[str, str] = {}
        if paths := pasted_paths(paste):
            with suppress(TimeoutError):  # a disk that does not answer: what was pasted is text
                async with asyncio.timeout(LONGEST_LOOK_S):
                    files = await in_thread(partial(files_at, paths))
        return self._pastes.fold_files(files.items()) if files else self._pastes.fold(paste)

    async def _paste_image(self, *, or_text: bool) -> bool:
        """Take an image from the system's clipboard; without one the key may mean the text that was copied in here."""
        try:
            image = await clipboard_image(os.environ)
            if self.keep_image is None:
                raise ClipboardError("The session is not open yet; try again in a moment.")
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
        text = self._input.text
        changed = text != self._last
        if changed:
            self._pastes.follow(text)
            self._note_text()
        if changed or self.completing:
            self._completing.look(text, self._input.cursor)

    def _note_text(self) -> None:
        text = self._input.text
        if text != self._last:
            self._last = text
            whole = self.text
            self.prompt_mode = mode_of(whole)
            self.post_message(self.Changed(whole))

    def _show_sign(self) -> None:
        self._input.placeholder = "" if self.searching else self._placeholder
        self._sign.update(SEARCH_SIGN if self.searching else SIGNS[self.prompt_mode])

    # ── history ─────────────────────────────────────────────────────────────────────────────────

    def _go(self, step: Callable[[Sequence[str], str], str | None]) -> None:
        text = step(self.history.prompts, self._input.text)
        self._tell_of_history()
        if text is not None:
            self._show(text)

    def _search(self) -> None:
        self._completing.close()
        self._draft = self._input.text, self._input.cursor
        self._input.show("")
        self._show_sign()
        self._find()
        self._tell_of_history()

    def _find(self) -> None:
        found = matching(self.history.prompts, self._input.text)
        title = "search the history: Enter takes, Ctrl+R older, Esc leaves" if found else "no earlier prompt has that"
        self._list.open([Candidate(prompt) for prompt in found], title)

    def _take_search_key(self, key: str) -> bool:
        match key:
            case "ctrl+r" | "down":
                self._list.move(1)
            case "up":
                self._list.move(-1)
            case "enter" | "tab":
                if found := self._list.chosen:
                    self._leave_search()
                    self._walk.leave()
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

    def _tell_of_history(self) -> None:
        if problem := self.history.problem():
            self.post_message(self.Refused(problem))

    # ── the person's editor ─────────────────────────────────────────────────────────────────────

    async def _edit_elsewhere(self) -> None:
        try:
            # Nothing may be drawn meanwhile: the terminal is the editor's, and the turn goes on.
            with self.app.suspend(), self.app.batch_update():
                outcome = await _edited_or_why_not(self.text)
        except SuspendNotSupported:
            outcome = EditorError("An editor cannot be opened here: this terminal cannot be lent to it.")
        if isinstance(outcome, EditorError):
            self.post_message(self.Refused(str(outcome)))
        elif outcome != self.text:
            self.load(outcome)


async def _edited_or_why_not(text: str) -> str | EditorError:
    """An error is returned: one that is raised would leave the app suspended."""
    try:
        return await edited(text, os.environ)
    except EditorError as error:
        return error
