"""The events of a loop that reports none, made from what goes over the wire.

The first chapters write the loop by hand, and nothing in it knows of events. What a prompt was, which tools ran and
what came of them stands in the requests all the same.
"""

from collections.abc import Iterator, Sequence
from itertools import takewhile

from harness.events import (
    Block,
    Event,
    Message,
    MessageAdded,
    Origin,
    StepStarted,
    ToolEnded,
    ToolOutcome,
    ToolStarted,
    TurnStarted,
)
from harness.lessons.exchange import Exchanged
from harness.practice.requests import messages, result_text
from harness.tools.tool import shorten_line

WHOLE = "200"


class Hearing:
    """Listens to the wire of one conversation."""

    def __init__(self) -> None:
        self._sent: tuple[Message, ...] = ()
        self._heard = 0
        self._turn = self._step = 0
        self._asked: dict[str, str] = {}
        self._replied_at = 0.0

    def request(self, exchange: Exchanged) -> Iterator[Event]:
        """What the loop had done before it asked: a prompt was typed, tools ran."""
        history = messages(exchange.sent)
        if history[: len(self._sent)] != self._sent:  # a part of it was forgotten, or another conversation has begun
            self._heard = _common(history, self._sent)
        self._sent = history
        elapsed = max(0.0, exchange.at - self._replied_at)
        for message in history[self._heard :]:
            yield from self._from_user(message, elapsed) if message.role == "user" else self._from_model(message)
        self._heard = len(history)
        self._step += 1
        yield StepStarted(self._step)

    def reply(self, exchange: Exchanged) -> Iterator[Event]:
        """What the answer makes of it: words, and calls that the loop will carry out.

        Of an answer with a fault in it only the next request tells whether it has arrived.
        """
        self._replied_at = exchange.at + exchange.duration_s
        if exchange.came and exchange.answer == WHOLE:
            self._heard += 1
            yield from self._from_model(Message("assistant", exchange.came))

    def _from_model(self, message: Message) -> Iterator[Event]:
        yield MessageAdded(message, Origin.REPLY)
        for block in message.content:
            if block.get("type") == "tool_use":
                yield self._started(block)

    def _from_user(self, message: Message, elapsed: float) -> Iterator[Event]:
        """`elapsed` is the time since the last reply; several calls get an equal share of it."""
        results = [block for block in message.content if block.get("type") == "tool_result"]
        if not results:
            self._turn += 1
            yield TurnStarted(self._turn, message.text)
            yield MessageAdded(message, Origin.PROMPT)
            return
        for block in results:
            text = result_text(block)
            outcome = ToolOutcome.ERROR if block.get("is_error") else ToolOutcome.OK
            id = str(block.get("tool_use_id", ""))
            yield ToolEnded(id, self._asked.pop(id, ""), outcome, shorten_line(text), elapsed / len(results))
        yield MessageAdded(message, Origin.TOOL_RESULTS)

    def _started(self, block: Block) -> ToolStarted:
        id, name, input = str(block.get("id", "")), str(block.get("name", "")), block.get("input") or {}
        self._asked[id] = name
        return ToolStarted(id, name, shorten_line(" ".join(str(value) for value in input.values())), input)


def _common(one: Sequence[Message], other: Sequence[Message]) -> int:
    """How many messages at the beginning are the same."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
