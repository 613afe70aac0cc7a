"""How the pieces of an answer are joined.

A model that continues a cut answer sometimes starts again, or repeats its last words. `repeated` measures how much of
the new piece is repeated; `Continuation` finds it while the piece arrives, before any of it is shown
(docs/design/recovery.md#joined-answers).
"""

MIN_OVERLAP = 20
"""Shorter overlaps of the end of one piece and the start of the next are taken as chance."""
MIN_VARIETY = 6
"""So are overlaps of fewer different characters, such as a rule in a table."""


def repeated(kept: str, more: str, *, broke_off: bool = False) -> int:
    """Characters at the beginning of `more` that repeat `kept`, so that `kept + more[n:]` is the whole text.

    A piece that starts with all of `kept` starts again; one that starts with its last words (at least `MIN_OVERLAP`
    characters) overlaps. `broke_off`: `kept` ended between two blocks because the connection broke; then a piece that
    starts with all of it does not do so by chance, however short it is.
    """
    said, lead = kept.strip(), len(more) - len(more.lstrip())
    if said and more.startswith(said, lead) and (broke_off or _more_than_chance(said) or more.strip() == said):
        behind = lead + len(said)
        return behind + _common(kept[len(kept.rstrip()) :], more[behind:])
    return overlap(kept, more)


class Continuation:
    """The rest of an answer as it arrives: returns new text as soon as it is known to be new."""

    def __init__(self, kept: str, *, broke_off: bool = False) -> None:
        self._kept = kept
        self._stripped = kept.lstrip()
        self._broke_off = broke_off
        self._held: list[str] = []
        """Text that may still turn out to be a repetition."""
        self._length = 0
        self._where, self._at = kept, 0
        """A text, and the position of the held text in it."""
        self._decided = not kept
        self.repeated = 0
        """Characters at the beginning of the piece that were repeated."""

    def add(self, text: str) -> str:
        """Add text; returns the part to show."""
        if self._decided:
            return text
        follows = self._where.startswith(text, self._at + self._length)
        self._held.append(text)
        self._length += len(text)
        return "" if follows or self._found() else self._decide()

    def end(self, *, whole: bool) -> str:
        """End the piece; returns the rest to show. `whole`: it did not break off, so an incomplete repetition counts as
        new."""
        if self._decided:
            return ""
        if whole:
            return self._decide()
        self._decided, self.repeated = True, self._length
        return ""

    def _found(self) -> bool:
        """Whether the held text occurs elsewhere in `kept`, or at its beginning apart from blanks."""
        held = "".join(self._held)
        begin = held.lstrip()
        if begin.rstrip() == self._kept.strip():
            return True  # all of it and blanks: it depends on what follows whether that is a repetition
        if (at := self._kept.find(held)) >= 0:
            self._where, self._at = self._kept, at
        elif self._stripped.startswith(begin):
            self._where, self._at = self._stripped, len(begin) - len(held)
        else:
            return False
        return True

    def _decide(self) -> str:
        held, self._decided = "".join(self._held), True
        self.repeated = repeated(self._kept, held, broke_off=self._broke_off)
        return held[self.repeated :]


def overlap(kept: str, more: str) -> int:
    """Length of the longest suffix of `kept` that `more` starts with; 0: it may be chance.

    Linear: the prefix function of `more`, then the end of `kept` run through it.
    """
    pattern = more[: len(kept)]
    failure = [0] * len(pattern)
    length = 0
    for i in range(1, len(pattern)):
        while length and pattern[i] != pattern[length]:
            length = failure[length - 1]
        length += pattern[i] == pattern[length]
        failure[i] = length
    length = 0
    for char in kept[-len(pattern) :] if pattern else "":
        while length and (length == len(pattern) or char != pattern[length]):
            length = failure[length - 1]
        length += char == pattern[length]
    return length if _more_than_chance(more[:length]) else 0


def _common(one: str, other: str) -> int:
    """Length of the longest common beginning."""
    length = 0
    while length < min(len(one), len(other)) and one[length] == other[length]:
        length += 1
    return length


def _more_than_chance(agreement: str) -> bool:
    return len(agreement) >= MIN_OVERLAP and len(set(agreement)) >= MIN_VARIETY
