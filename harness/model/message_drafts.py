"""Messages in the making: the workbench on which a history is changed without touching the given one."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from harness.events import Block, Message
from harness.model.invariants import THINKING


@dataclass(slots=True)
class Draft:
    """A message in the making. Its list of blocks is replaced when it changes; the blocks never change."""

    number: int
    """Which of the given messages it was, from 1; the first of them, if several were joined."""
    role: Literal["user", "assistant"]
    blocks: list[Block]

    def of_type(self, kind: str) -> list[Block]:
        """The blocks of that type."""
        return [block for block in self.blocks if block.get("type") == kind]

    def drop(self, block: Block) -> None:
        """Take `block` out; it is found by identity."""
        self.blocks = [kept for kept in self.blocks if kept is not block]


Say = Callable[[Draft, str], None]
"""Takes the line that tells what was done to a draft."""


def drafts_of(messages: Sequence[Message]) -> list[Draft]:
    """A draft for each message."""
    return [Draft(number, message.role, list(message.content)) for number, message in enumerate(messages, 1)]


def built(drafts: Iterable[Draft], originals: Sequence[Message]) -> tuple[Message, ...]:
    """The drafts as messages; the original object where nothing of it changed."""
    known = {(message.role, *map(id, message.content)): message for message in originals}
    return tuple(
        known.get((draft.role, *map(id, draft.blocks))) or Message(draft.role, tuple(draft.blocks)) for draft in drafts
    )


def joined(drafts: Iterable[Draft], say: Say) -> list[Draft]:
    """The drafts without empty ones, neighbours of the same role made one."""
    result: list[Draft] = []
    for draft in drafts:
        if not draft.blocks:
            say(draft, "dropped, because nothing is left in it")
        elif result and result[-1].role == draft.role:
            result[-1] = Draft(result[-1].number, draft.role, result[-1].blocks + draft.blocks)
            say(draft, "joined with the message before it")
        else:
            result.append(draft)
    return result


def drop_thinking_from(drafts: Iterable[Draft], first: int) -> int:
    """Drop the thinking blocks from the `first` block of the history on; gives how many there were."""
    start = dropped = 0
    for draft in drafts:
        kept = [
            block for at, block in enumerate(draft.blocks, start) if at < first or block.get("type") not in THINKING
        ]
        start += len(draft.blocks)
        dropped += len(draft.blocks) - len(kept)
        draft.blocks = kept
    return dropped


def key(id: object) -> str:
    """An id to look up by, whatever stands where an id should be."""
    return id if isinstance(id, str) else f"<{id!r}>"
