"""The reply that is streaming in: pieces, until somebody looks."""

from harness.ui.transcript.entries import Answer, Entry, Thinking


class StreamingReply:
    """Thinking and text of one attempt. A piece costs what the piece is long, not what the text is."""

    def __init__(self) -> None:
        self._thinking: list[str] = []
        self._answer: list[str] = []
        self._thought_s = 0.0
        """0: it still thinks."""

    def __bool__(self) -> bool:
        return bool(self._thinking or self._answer)

    def think(self, text: str) -> None:
        """More thinking came."""
        self._thinking.append(text)
        self._thought_s = 0.0

    def end_thinking(self, duration_s: float) -> None:
        """It has thought for so many seconds."""
        self._thought_s = duration_s

    def say(self, text: str) -> None:
        """More text came."""
        self._answer.append(text)

    def take_back(self, characters: int) -> None:
        """The last `characters` of the text do not count."""
        while characters > 0 and self._answer:
            piece = self._answer.pop()
            if len(piece) > characters:
                self._answer.append(piece[:-characters])
            characters -= len(piece)

    def clear(self) -> None:
        """The attempt is over."""
        self._thinking.clear()
        self._answer.clear()
        self._thought_s = 0.0

    @property
    def entries(self) -> tuple[Entry, ...]:
        """What there is to show of it; nothing of what is blank."""
        thinking, answer = _joined(self._thinking), _joined(self._answer)
        shown: list[Entry] = []
        if thinking.strip():
            shown.append(Thinking(thinking, bool(answer or self._thought_s), self._thought_s))
        if answer.strip():
            shown.append(Answer(answer))
        return tuple(shown)


def _joined(pieces: list[str]) -> str:
    """The text of the pieces, which are one afterwards."""
    text = "".join(pieces)
    if len(pieces) > 1:
        pieces[:] = [text]
    return text
