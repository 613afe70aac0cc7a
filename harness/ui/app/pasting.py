"""Long pastes, folded to one placeholder each while the prompt is edited."""

import re

MOST_LINES = 8
"""A paste of more lines is folded."""
MOST_CHARACTERS = 2_000
"""A paste of more characters is folded."""

_PLACEHOLDER = re.compile(r"\[pasted [\d,]+ lines? #\d+\]")
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def cleaned(text: str) -> str:
    """Text from outside as a prompt may hold it: one kind of line break, no control characters but tabs."""
    return _CONTROL.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))


class Pastes:
    """The long pastes of one prompt.

    The prompt shows a placeholder for each. Whoever deletes the placeholder deletes the paste; what looks like one
    and was typed by hand stays what it is.
    """

    def __init__(self) -> None:
        self._kept: dict[str, str] = {}
        self._gone: dict[str, str] = {}
        self._number = 0

    def fold(self, text: str) -> str:
        """What the prompt shows for a paste: itself, or a placeholder where it is long.

        A paste that holds something like a placeholder is folded too, so that it comes out as it went in.
        """
        lines = text.count("\n") + 1
        if lines <= MOST_LINES and len(text) <= MOST_CHARACTERS and not _PLACEHOLDER.search(text):
            return text
        self._number += 1
        placeholder = f"[pasted {lines:,} line{'s' * (lines != 1)} #{self._number}]"
        self._kept[placeholder] = text
        return placeholder

    def unfold(self, text: str) -> str:
        """The prompt with every paste in its place, each once."""
        waiting = dict(self._kept)
        return _PLACEHOLDER.sub(lambda found: waiting.pop(found[0], found[0]), text)

    def follow(self, text: str) -> None:
        """Take note of an edit: the paste of a placeholder that is no longer in `text` is deleted."""
        for placeholder in [placeholder for placeholder in self._kept if placeholder not in text]:
            self._gone[placeholder] = self._kept.pop(placeholder)

    def revive(self, text: str) -> None:
        """Take note that an earlier `text` came back, by undo or from the history, with the pastes it had."""
        for placeholder in [placeholder for placeholder in self._gone if placeholder in text]:
            self._kept[placeholder] = self._gone.pop(placeholder)

    def forget(self) -> None:
        """Begin a new prompt."""
        self._kept.clear()
        self._gone.clear()
        self._number = 0
