"""Who gets a key while a question is on the screen: the question or the prompt. Pure: times come in.

A question must not take the letters of a user who is typing something else. So a key answers only if it was typed
after the question opened, and it opens, and shows that, only once nothing has been typed for a moment and the prompt
is empty, or after Tab. Until then every key goes where it was going.

    CLOSED ──(GRACE_S without a key, prompt empty; or Tab)──▶ OPEN ──(text, a paste, Tab)──▶ CLOSED

A letter that means an answer is held for HOLD_S. If more text follows it was the beginning of a word, not an answer.
This also covers input methods and terminals that deliver a word or a paste as a burst of keys.
"""

from dataclasses import dataclass
from enum import Enum

GRACE_S = 0.8
"""Seconds without a key before a question takes keys by itself."""
HOLD_S = 0.25
"""Seconds after which a letter counts as an answer, if nothing follows it."""


class Key(Enum):
    """What a key means to an open question."""

    ANSWER = "answer"
    """A letter or digit that takes a choice."""
    REASON = "reason"
    """A letter after which words are asked for, so that it need not be held: they have a place."""
    TEXT = "text"
    """Any other character, or a paste."""
    ENTER = "enter"
    TAB = "tab"
    CANCEL = "cancel"
    """Takes back the letter before it: Escape, Backspace, Ctrl+C."""
    CONTROL = "control"
    """Any other key that writes nothing: arrows, function keys."""


class Target(Enum):
    """Where a key goes."""

    QUESTION = "question"
    PROMPT = "prompt"
    HELD = "held"
    """Nowhere yet: what follows decides."""
    NOBODY = "nobody"
    """It was used to move between the two."""


@dataclass(frozen=True, slots=True)
class Route:
    """Where a key goes, and where the letter goes that was held before it."""

    key: Target
    held: Target | None = None
    """None: no letter was held."""


class QuestionFocus:
    """The state of one question. Times are seconds of one clock that only goes forward."""

    def __init__(self, now: float, grace_s: float = GRACE_S) -> None:
        """The question appears now."""
        self._grace_s = grace_s
        self._appeared = now
        self._quiet_since = now
        self._open_since: float | None = None
        self._held_at: float | None = None
        self._wanted = False
        """Tab asked for it to open."""
        self._left = False
        """The user went back to the prompt with Tab, and has not written anything there since."""

    @property
    def open(self) -> bool:
        """Whether the question takes keys."""
        return self._open_since is not None

    def opens_at(self, *, in_use: bool) -> float | None:
        """When the question may open; None: not before another key. `in_use`: text is in the prompt."""
        if self._wanted:
            return self._appeared + self._grace_s
        if self.open or in_use or self._left:
            return None
        return self._quiet_since + self._grace_s

    def opened(self, now: float) -> None:
        """The question takes keys from now on, and the screen shows it."""
        self._open_since = now
        self._left = self._wanted = False

    def covered(self, now: float) -> None:
        """The question cannot be seen, or was not until now: it begins anew."""
        self._appeared = self._quiet_since = now
        self._open_since = self._held_at = None
        self._wanted = False

    def may_click(self, at: float) -> bool:
        """Whether a click at this time is meant: the question was in sight for as long as before a key counts."""
        return at >= self._appeared + self._grace_s

    @property
    def held_until(self) -> float | None:
        """When the letter that is held becomes an answer; None: none is held."""
        return None if self._held_at is None else self._held_at + HOLD_S

    def release(self) -> None:
        """The letter that was held has become an answer."""
        self._held_at = None

    def key(self, key: Key, at: float, *, in_use: bool) -> Route:
        """Where a key goes that was typed at this time.

        Tab asks a closed question to open, and any other key takes that back; `opens_at` says when it may.
        """
        if self._open_since is None or at < self._open_since:
            if key is Key.TAB and not self.open and at >= self._appeared:
                self._wanted = True
                return Route(Target.NOBODY)
            return self._to_prompt(at, in_use=in_use)
        held_at, self._held_at = self._held_at, None
        match key:
            case Key.ANSWER | Key.REASON | Key.TEXT if held_at is not None and at < held_at + HOLD_S:
                return self._to_prompt(at, Target.PROMPT, in_use=in_use)
            case Key.ANSWER | Key.REASON | Key.TEXT if held_at is not None:
                return self._to_prompt(at, Target.QUESTION, in_use=in_use)  # the letter has answered
            case Key.ANSWER:
                self._held_at = at
                return Route(Target.HELD)
            case Key.TEXT:
                return self._to_prompt(at, in_use=in_use)
            case Key.TAB:
                self._close(at)
                self._left = True
                return Route(Target.NOBODY, Target.NOBODY if held_at is not None else None)
            case Key.CANCEL:
                return Route(Target.QUESTION, Target.NOBODY if held_at is not None else None)
            case Key.ENTER | Key.CONTROL:
                return Route(Target.QUESTION, Target.QUESTION if held_at is not None else None)
            case Key.REASON:
                return Route(Target.QUESTION)

    def _to_prompt(self, at: float, held: Target | None = None, *, in_use: bool) -> Route:
        self._close(at)
        self._left = self._left and not in_use
        return Route(Target.PROMPT, held)

    def _close(self, at: float) -> None:
        self._open_since = self._held_at = None
        self._wanted = False
        self._quiet_since = max(self._quiet_since, at)
