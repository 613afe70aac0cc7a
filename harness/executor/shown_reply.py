"""A reply while it is streamed: how much of it a person has seen, and whether it repeats itself."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from harness.escape.digests import digest
from harness.escape.text_loops import RepeatedText, Repetition
from harness.events import Block, Event, Fault, FaultKind, Outcome, Projection, TextDelta
from harness.tools.tool import shorten_line

UNIT_CHARACTERS = 60
"""Of what repeats, in the words of the fault."""


class ShownReply:
    """Passes the pieces of one reply on, and says when it is enough."""

    def __init__(self, emit: Callable[[Event], None], *, watched: bool) -> None:
        """`watched`: look for text that repeats itself."""
        self._emit = emit
        self._repeated = RepeatedText() if watched else None
        self._found: Repetition | None = None
        self.characters = 0
        """Characters of text that were shown."""
        self.enough = asyncio.Event()
        """Set when the rest of the reply is not wanted."""

    def show(self, event: Event) -> None:
        """Pass an event of the stream on."""
        self._emit(event)
        if isinstance(event, TextDelta):
            self.characters += len(event.text)
            if self._repeated is not None and (found := self._repeated.feed(event.text)):
                self._found = found
                self.enough.set()

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


def _first(blocks: Sequence[Block], characters: int) -> Iterator[Block]:
    """The blocks with the first so many characters of their text; what is not text stays."""
    for block in blocks:
        if block.get("type") != "text":
            yield block
            continue
        text = str(block.get("text", ""))[: max(0, characters)]
        characters -= len(str(block.get("text", "")))
        if text.strip():
            yield {**block, "text": text}
