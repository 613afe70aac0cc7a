"""Mutable drafts of messages, to change a history without changing the given one."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from harness.events import Block, Message
from harness.model.invariants import THINKING


@dataclass(slots=True)
class MessageDraft:
    """A mutable message. Its list of blocks is replaced; the blocks themselves never change."""

    number: int
    """Position among the given messages, from 1; of several joined ones, the first."""
    role: Literal["user", "assistant"]
    blocks: list[Block]

    def of_type(self, kind: str) -> list[Block]:
        """The blocks of that type."""
        return [block for block in self.blocks if block.get("type") == kind]

    def drop(self, block: Block) -> None:
        """Remove `block`, found by identity."""
        self.blocks = [kept for kept in self.blocks if kept is not block]


Report = Callable[[MessageDraft, str], None]
"""Receives a draft and a description of the change."""


def drafts_of(messages: Sequence[Message]) -> list[MessageDraft]:
    """A draft for each message."""
    return [MessageDraft(number, message.role, list(message.content)) for number, message in enumerate(messages, 1)]


def built(drafts: Iterable[MessageDraft], originals: Sequence[Message]) -> tuple[Message, ...]:
    """The drafts as messages; unchanged ones are the original objects."""
    known = {(message.role, *map(id, message.content)): message for message in originals}
    return tuple(
        known.get((draft.role, *map(id, draft.blocks))) or Message(draft.role, tuple(draft.blocks)) for draft in drafts
    )


def joined(drafts: Iterable[MessageDraft], report: Report) -> list[MessageDraft]:
    """The drafts without empty ones, and with neighbours of the same role joined."""
    result: list[MessageDraft] = []
    for draft in drafts:
        if not draft.blocks:
            report(draft, "dropped, because it became empty")
        elif result and result[-1].role == draft.role:
            result[-1] = MessageDraft(result[-1].number, draft.role, result[-1].blocks + draft.blocks)
            report(draft, "joined with the previous message")
        else:
            result.append(draft)
    return result


def drop_thinking_from(drafts: Iterable[MessageDraft], first: int) -> int:
    """Drop the thinking blocks from the `first` block of the history on; returns their number."""
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
    """A lookup key for an id, which may have any type."""
    return id if isinstance(id, str) else f"<{id!r}>"
