"""The places to which a conversation can be taken back: before each prompt that still stands in the history."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import takewhile

from harness.events import Message


@dataclass(frozen=True, slots=True)
class RewindPoint:
    """A prompt that still stands in the history, and the place before it."""

    turn: int
    """The turn that began with it."""
    prompt: str
    index: int
    """Index of its message; the messages before it are what a rewind leaves."""


def rewind_point(turn: int, message: Message, index: int) -> RewindPoint:
    """The point before a prompt. What the person typed is its last block; facts about the folder may come first."""
    texts = [str(block.get("text", "")) for block in message.content if block.get("type") == "text"]
    return RewindPoint(turn, texts[-1] if texts else "", index)


def same_beginning(before: Sequence[Message], after: Sequence[Message]) -> int:
    """How many messages two histories have in common before they differ."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(before, after, strict=False)))


def surviving(
    points: Iterable[RewindPoint], before: Sequence[Message], after: Sequence[Message]
) -> tuple[RewindPoint, ...]:
    """The points that are left when the history `before` is replaced by `after`.

    A point stays while its prompt and all before it stay, or, where messages were only changed in place, while its
    prompt does. So there is none before a summary.
    """
    same = same_beginning(before, after)
    in_place = len(before) == len(after)
    return tuple(
        point for point in points if point.index < same or (in_place and before[point.index] == after[point.index])
    )
