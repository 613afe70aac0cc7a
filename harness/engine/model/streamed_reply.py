"""A reply while it is streamed: its visible text, without repetition of itself or of the answer so far.

A continuation loses here what the answer already holds, in the events and in the outcome alike. So no front end,
history or result ever holds kept text twice.
"""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from harness.events import Block, Event, Fault, FaultKind, Outcome, Projection, Reply, TextDelta
from harness.policies.loops.digests import digest
from harness.policies.loops.text_loops import RepeatedText, Repetition
from harness.policies.recovery.joined_answers import Continuation
from harness.tools.tool import shorten_line

UNIT_CHARACTERS = 60
"""Of what repeats, in the words of the fault."""


class StreamedReply:
    """Passes the pieces of one reply on, and says when it is enough."""

    def __init__(
        self, emit: Callable[[Event], None], *, watched: bool, kept: str = "", broke_off: bool = False
    ) -> None:
        """
        Args:
            emit: gets the events of the stream.
            watched: look for text that repeats itself.
            kept: the answer so far, which this reply continues.
            broke_off: it ended because the connection broke.
        """
        self._emit = emit
        self._continuation = Continuation(kept, broke_off=broke_off)
        self._repeated = RepeatedText() if watched else None
        self._found: Repetition | None = None
        self.characters = 0
        """Characters of text that were shown."""
        self.enough = asyncio.Event()
        """Set when the rest of the reply is not wanted."""

    def show(self, event: Event) -> None:
        """Pass an event of the stream on."""
        if not isinstance(event, TextDelta):
            self._emit(event)
            return
        self._say(self._continuation.add(event.text))
        if self._repeated is not None and (found := self._repeated.feed(event.text)):
            self._found = found
            self.enough.set()

    def ended(self, outcome: Outcome) -> Outcome:
        """The outcome without repetition; its last text is shown."""
        outcome = self.without_repeats(outcome)
        self._say(self._continuation.end(whole=isinstance(outcome, Reply) or outcome.stop_reason is not None))
        if not (known := self._continuation.repeated):
            return outcome
        if isinstance(outcome, Reply):
            return replace(outcome, content=tuple(_behind(outcome.content, known)))
        return replace(outcome, kept=tuple(_behind(outcome.kept, known)))

    def _say(self, text: str) -> None:
        if text:
            self.characters += len(text)
            self._emit(TextDelta(text))

    def without_repeats(self, outcome: Outcome) -> Outcome:
        """The outcome of a reply that was cut, up to the end of the first copy of what repeats."""
        found = self._found
        if found is None or not isinstance(outcome, Fault) or outcome.kind is not FaultKind.REPETITION:
            return outcome
        begin = (found.keep - found.seen) % found.period
        unit = shorten_line(" ".join((found.unit[begin:] + found.unit[:begin]).split()), UNIT_CHARACTERS)
        message = f"the reply repeated itself, {found.copies:,} times {unit!r}"
        same = digest(Projection.TEXT, *sorted(set(found.unit.split())))  # wherever in it a copy begins
        return replace(outcome, message=message, error_code=same, kept=tuple(_first(outcome.kept, found.keep)))


def _behind(blocks: Sequence[Block], characters: int) -> Iterator[Block]:
    """The blocks without the first so many characters of their text; other blocks stay."""
    for block in blocks:
        if block.get("type") != "text":
            yield block
            continue
        text = str(block.get("text", ""))
        if rest := text[characters:]:
            yield block if rest == text else {**block, "text": rest}
        characters = max(0, characters - len(text))


def _first(blocks: Sequence[Block], characters: int) -> Iterator[Block]:
    """The blocks with the first so many characters of their text; other blocks stay."""
    for block in blocks:
        if block.get("type") != "text":
            yield block
            continue
        text = str(block.get("text", ""))[: max(0, characters)]
        characters -= len(str(block.get("text", "")))
        if text.strip():
            yield {**block, "text": text}
