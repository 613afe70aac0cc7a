"""Where the person types: text, completion, history, pastes."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from textual import on
from textual.app import ComposeResult, SuspendNotSupported
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.reactive import reactive
from textual.widgets import Static, TextArea

from harness.ui.app.candidate_list import CandidateList
from harness.ui.app.completion import Candidate, Completer, Completion
from harness.ui.app.external_editor import EditorError, edited
from harness.ui.app.history_walk import HistoryWalk, matching
from harness.ui.app.pasting import Pastes, cleaned
from harness.ui.app.prompt_history import PromptHistory
from harness.ui.app.prompt_text import PromptText

PromptMode = Literal["prompt", "shell", "command"]

SIGNS: dict[PromptMode, str] = {"prompt": "▸", "shell": "!", "command": "/"}
SEARCH_SIGN = "?"


def mode_of(text: str) -> PromptMode:
    """What a text is meant as; the full-width signs of an input method count too."""
    if text.startswith(("!", "！")):
        return "shell"
    if text.startswith(("/", "／")) and not text[1:].startswith(("/", "／")):
        return "command"
    return "prompt"


def submitted(text: str) -> str:
    """A text as the program takes it: full-width signs at its beginning, and spaces in a command, made narrow."""
    match mode_of(text):
        case "shell":
            text = "!" + text[1:]
        case "command":
            text = "/" + text[1:].replace("\u3000", " ")
        case "prompt" if text.startswith(("/", "／")):
            text = "//" + text[2:]
    return text.rstrip()


class PromptArea(Vertical):
    """The prompt: a sign, some rows of text, and above them what could be taken."""

    DEFAULT_CSS = """
    PromptArea {
        height: auto;
        #prompt-row { height: auto; }
        #prompt-sign { width: 2; height: 1; color: $primary; }
        &.-shell #prompt-sign, &.-command #prompt-sign { color: $warning; }
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
        self._history = history
        self._completer = completer
        self._shortcut = shortcut
        self._pastes = Pastes()
        self._walk = HistoryWalk()
        self._completion: Completion | None = None
        self._closed_at: int | None = None
        self._draft: tuple[str, int] | None = None
        self._last = ""
        self._list = CandidateList()
        self._sign = Static(SIGNS["prompt"], id="prompt-sign", markup=False)
        self._input = PromptText(
            placeholder=placeholder,
            before_key=self._take_key,
            after_edit=self._after_edit,
            on_revival=lambda: self._pastes.revive(self._input.text),
            fold=lambda text: " ".join(text.split("\n")) if self.searching else self._pastes.fold(text),
        )

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
        return self._completion is not None

    def load(self, text: str) -> None:
        """Show another text, with the cursor at its end."""
        self._draft = None
        self._pastes.forget()
        self._walk.leave()
        self._show(cleaned(text))

    def clear(self) -> None:
        """Begin a new prompt."""
        self.load("")

    def look_again(self) -> None:
        """Complete anew where a list is wanted: there are other files or commands now."""
        if not self.searching and self._closed_at is None and self._input.has_focus:
            self._complete()

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
        if self._completion is not None:
            if self._take_list_key(key, self._completion):
                return True
        elif self.empty and self._shortcut(key):
            return True
        match key:
            case "enter":
                self._enter()
            case "ctrl+j" | "shift+enter" | "alt+enter":
                self._input.type("\n")
                self._after_edit()
            case "up" if self._input.on_first_row:
                self._go(self._walk.older)
            case "down" if self._input.on_last_row:
                self._go(self._walk.newer)
            case "tab":
                return self._reopen()
            case "ctrl+r":
                self._search()
            case "ctrl+g":
                await self._edit_elsewhere()
            case _:
                return False
        return True

    def _enter(self) -> None:
        if self._input.text[: self._input.cursor].endswith("\\"):
            self._input.put("\n", self._input.cursor - 1, self._input.cursor)
            self._after_edit()
        elif text := submitted(self.text):
            self._history.add(text)
            self.clear()
            self.post_message(self.Submitted(text))
            self._tell_of_history()

    # ── text ────────────────────────────────────────────────────────────────────────────────────

    def _show(self, text: str, cursor: int | None = None) -> None:
        self._close_list()
        self._pastes.follow(text)
        self._pastes.revive(text)
        self._input.show(text, cursor)
        self._show_sign()
        self._note_text()

    def _after_edit(self) -> None:
        if self.searching:
            self._find()
        elif self._input.text != self._last:
            self._pastes.follow(self._input.text)
            self._note_text()
            self._complete()
        elif self.completing:
            self._complete()

    def _note_text(self) -> None:
        text = self._input.text
        if text != self._last:
            self._last = text
            self.prompt_mode = mode_of(text)
            self.post_message(self.Changed(self.text))

    def _show_sign(self) -> None:
        self._sign.update(SEARCH_SIGN if self.searching else SIGNS[self.prompt_mode])

    # ── completion ──────────────────────────────────────────────────────────────────────────────

    def _complete(self) -> None:
        completion = self._completer.complete(self._input.text, self._input.cursor)
        if completion is None or completion.start != self._closed_at:
            self._closed_at = None
            self._completion = completion
        if self._completion is None:
            self._list.close()
        else:
            self._list.open(self._completion.candidates)

    def _take_list_key(self, key: str, completion: Completion) -> bool:
        match key:
            case "up" | "down":
                self._list.move(1 if key == "down" else -1)
            case "enter" | "tab":
                return self._take_candidate(completion) or key == "tab"
            case "escape":
                self._close_list()
                self._closed_at = completion.start
            case _:
                return False
        return True

    def _take_candidate(self, completion: Completion) -> bool:
        """Put the selected candidate into the text; False when it stands there already."""
        candidate = self._list.chosen
        text = self._input.text
        self._close_list()
        if candidate is None or not completion.changes(text, candidate):
            return False
        after, cursor = completion.apply(text, candidate)
        self._input.put(after[completion.start : cursor], completion.start, len(text) - (len(after) - cursor))
        self._after_edit()
        return True

    def _reopen(self) -> bool:
        self._closed_at = None
        self._complete()
        return self.completing

    def _close_list(self) -> None:
        self._completion = self._closed_at = None
        self._list.close()

    # ── history ─────────────────────────────────────────────────────────────────────────────────

    def _go(self, step: Callable[..., str | None]) -> None:
        text = step(self._history.prompts, self._input.text)
        self._tell_of_history()
        if text is not None:
            self._show(text)

    def _search(self) -> None:
        draft = self._input.text, self._input.cursor
        self._close_list()
        self._draft = draft
        self._input.show("")
        self._show_sign()
        self._find()
        self._tell_of_history()

    def _find(self) -> None:
        found = matching(self._history.prompts, self._input.text)
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
            case "ctrl+g" | "ctrl+j" | "shift+enter" | "alt+enter":
                return True
            case _:
                return False
        return True

    def _leave_search(self) -> None:
        draft, self._draft = self._draft, None
        if draft:
            self._show(*draft)

    def _tell_of_history(self) -> None:
        if problem := self._history.problem():
            self.post_message(self.Refused(problem))

    # ── the person's editor ─────────────────────────────────────────────────────────────────────

    async def _edit_elsewhere(self) -> None:
        try:
            # Nothing may be drawn meanwhile: the terminal is the editor's, and the turn goes on.
            with self.app.suspend(), self.app.batch_update():
                outcome = await _edited_or_why_not(self.text)
        except SuspendNotSupported:
            outcome = EditorError("An editor cannot be opened here: this terminal cannot be lent to it.")
        if isinstance(outcome, str):
            self.load(outcome)
        else:
            self.post_message(self.Refused(str(outcome)))


async def _edited_or_why_not(text: str) -> str | EditorError:
    """An error is returned: one that is raised would leave the app suspended."""
    try:
        return await edited(text, os.environ)
    except EditorError as error:
        return error
