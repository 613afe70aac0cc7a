"""Streamed text on a screen that cannot take anything back.

A reply may break off after some of its text was shown, and a fresh attempt writes it again. What the
fresh attempt repeats word for word is not shown twice; where it says something else, a mark tells the
reader which characters above do not count, and the fresh text follows whole.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Mark:
    """The last `characters` of the text shown above do not count."""

    characters: int


class ShownText:
    """Decides what to print for the text of one answer. Pure; `add` and `discard` mirror the events."""

    def __init__(self) -> None:
        self._counted: list[str] = []
        """Shown, and counts as things stand. Pieces of the present reply only."""
        self._stale = ""
        """Shown after that; does not count unless the fresh attempt says it again."""
        self._repeated = 0
        """Characters of `_stale` that the fresh attempt has said again so far."""

    @property
    def stale(self) -> int:
        """Shown characters that do not count as things stand."""
        return len(self._stale) - self._repeated

    def add(self, text: str) -> tuple[str | Mark, ...]:
        """What to print when `text` arrives."""
        if not self._stale:
            self._counted.append(text)
            return (text,) if text else ()
        expected = self._stale[self._repeated :]
        if len(text) < len(expected) and expected.startswith(text):
            self._repeated += len(text)
            return ()
        if text.startswith(expected):
            rest = text[len(expected) :]
            self._counted += [self._stale, rest]
            self._stale, self._repeated = "", 0
            return (rest,) if rest else ()
        return self._instead(self._stale[: self._repeated] + text)

    def discard(self, characters: int) -> None:
        """The last `characters` that arrived do not count."""
        shown = "".join(self._counted)
        counting = max(0, len(shown) + self._repeated - characters)
        shown += self._stale
        self._counted, self._stale, self._repeated = [shown[:counting]], shown[counting:], 0

    def go_on(self) -> None:
        """The reply is over and another one goes on with the answer, perhaps with what does not count as yet."""
        self._counted, self._repeated = [], 0

    def settle(self) -> tuple[str | Mark, ...]:
        """What to print when the reply is over: what it has not said again does not count."""
        pieces = self._instead(self._stale[: self._repeated]) if self._stale else ()
        self._counted = []
        return pieces

    def _instead(self, text: str) -> tuple[str | Mark, ...]:
        mark = Mark(len(self._stale))
        self._counted.append(text)
        self._stale, self._repeated = "", 0
        return (mark, text) if text else (mark,)
