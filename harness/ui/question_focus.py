"""Decides whether a key goes to the question on the screen or to the prompt. Pure: times are arguments.

A question must not catch letters of a user who is typing. It opens, visibly, only after a moment without keys and with
an empty prompt, or after Tab; only keys typed after that answer it. All other keys go to the prompt.

    CLOSED ──(GRACE_S without a key, prompt empty; or Tab)──▶ OPEN ──(text, a paste, Tab)──▶ CLOSED

A letter that could be an answer is held for HOLD_S. If more text follows, it was the start of a word. This also covers
input methods and terminals that deliver a word or a paste as a burst of keys.
"""

import unicodedata
from dataclasses import dataclass
from enum import Enum
from string import ascii_lowercase, digits

GRACE_S = 0.8
"""Seconds without a key before a question opens."""
HOLD_S = 0.25
"""Seconds without another key after which a letter is an answer."""


def answer_key(text: str) -> str:
    """The letter or digit of a text that is nothing else, perhaps repeated: a key for a question, and no text for the
    model. Empty: it is another text."""
    letters = {*unicodedata.normalize("NFKC", text.strip()).lower()}
    return letters.pop() if len(letters) == 1 and letters <= {*ascii_lowercase, *digits} else ""


class KeyMeaning(Enum):
    """Meaning of a key for an open question."""

    ANSWER = "answer"
    """A letter or digit that selects a choice."""
    REASON = "reason"
    """A letter that opens a text field; it is not held, because following text has a place."""
    TEXT = "text"
    """Any other character, or a paste."""
    ENTER = "enter"
    TAB = "tab"
    CANCEL = "cancel"
    """Cancels the held letter: Escape, Backspace, Ctrl+C."""
    CONTROL = "control"
    """Any other key without text, such as arrows."""


class KeyTarget(Enum):
    """Where a key goes."""

    QUESTION = "question"
    PROMPT = "prompt"
    HELD = "held"
    """Nowhere yet; the next key decides."""
    NONE = "none"
    """Used up: it moved between question and prompt."""


@dataclass(frozen=True, slots=True)
class KeyRoute:
    """Targets of a key and of the letter held before it."""

    key: KeyTarget
    held: KeyTarget | None = None
    """None: there was none."""


class QuestionFocus:
    """State of one question. Times are seconds of a monotonic clock."""

    def __init__(self, now: float, grace_s: float = GRACE_S) -> None:
        """The question appears at `now`."""
        self._grace_s = grace_s
        self._appeared = now
        self._quiet_since = now
        self._open_since: float | None = None
        self._held_at: float | None = None
        self._wanted = False
        """Tab was pressed to open it."""
        self._left = False
        """Tab moved back to the prompt, and nothing has been typed there since."""

    @property
    def open(self) -> bool:
        """Whether the question handles keys."""
        return self._open_since is not None

    def opens_at(self, *, in_use: bool) -> float | None:
        """When the question may open; None: not before another key. `in_use`: the prompt has text."""
        if self._wanted:
            return self._appeared + self._grace_s
        if self.open or in_use or self._left:
            return None
        return self._quiet_since + self._grace_s

    def opened(self, now: float) -> None:
        """The question handles keys from now on."""
        self._open_since = now
        self._left = self._wanted = False

    def covered(self, now: float) -> None:
        """The question is hidden, or was until now: start again."""
        self._appeared = self._quiet_since = now
        self._open_since = self._held_at = None
        self._wanted = False

    def may_click(self, at: float) -> bool:
        """Whether a click counts: the question was visible for the grace period."""
        return at >= self._appeared + self._grace_s

    @property
    def held_until(self) -> float | None:
        """When the held letter becomes an answer; None: none is held."""
        return None if self._held_at is None else self._held_at + HOLD_S

    def release(self) -> None:
        """The held letter became an answer."""
        self._held_at = None

    def key(self, key: KeyMeaning, at: float, *, in_use: bool) -> KeyRoute:
        """The target of a key typed at this time.

        Tab asks a closed question to open, any other key revokes that; `opens_at` says when.
        """
        if self._open_since is None or at < self._open_since:
            if key is KeyMeaning.TAB and not self.open and at >= self._appeared:
                self._wanted = True
                return KeyRoute(KeyTarget.NONE)
            return self._to_prompt(at, in_use=in_use)
        held_at, self._held_at = self._held_at, None
        match key:
            case KeyMeaning.ANSWER | KeyMeaning.REASON | KeyMeaning.TEXT if (
                held_at is not None and at < held_at + HOLD_S
            ):
                return self._to_prompt(at, KeyTarget.PROMPT, in_use=in_use)
            case KeyMeaning.ANSWER | KeyMeaning.REASON | KeyMeaning.TEXT if held_at is not None:
                return self._to_prompt(at, KeyTarget.QUESTION, in_use=in_use)  # the letter was an answer
            case KeyMeaning.ANSWER:
                self._held_at = at
                return KeyRoute(KeyTarget.HELD)
            case KeyMeaning.TEXT:
                return self._to_prompt(at, in_use=in_use)
            case KeyMeaning.TAB:
                self._close(at)
                self._left = True
                return KeyRoute(KeyTarget.NONE, KeyTarget.NONE if held_at is not None else None)
            case KeyMeaning.CANCEL:
                return KeyRoute(KeyTarget.QUESTION, KeyTarget.NONE if held_at is not None else None)
            case KeyMeaning.ENTER | KeyMeaning.CONTROL:
                return KeyRoute(KeyTarget.QUESTION, KeyTarget.QUESTION if held_at is not None else None)
            case KeyMeaning.REASON:
                return KeyRoute(KeyTarget.QUESTION)

    def _to_prompt(self, at: float, held: KeyTarget | None = None, *, in_use: bool) -> KeyRoute:
        self._close(at)
        self._left = self._left and not in_use
        return KeyRoute(KeyTarget.PROMPT, held)

    def _close(self, at: float) -> None:
        self._open_since = self._held_at = None
        self._wanted = False
        self._quiet_since = max(self._quiet_since, at)
