"""Repair of a history that the API would reject (docs/design/model-calls.md#history)."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from harness.events import Block, Message
from harness.model.call_pairs import pair_calls, pair_server_calls
from harness.model.content_cleanup import cleaned
from harness.model.invariants import (
    MANY_IMAGES_EDGE,
    MAX_BREAKPOINTS,
    MAX_EDGE,
    MAX_IMAGE_CHARACTERS,
    MAX_IMAGES,
    THINKING,
    paused,
    violations,
)
from harness.model.media import image_size, images, nested, with_words_for
from harness.model.message_drafts import MessageDraft, built, drafts_of, drop_thinking_from, joined
from harness.model.notices import BEGINNING_MISSING, CONTINUE


@dataclass(frozen=True, slots=True)
class Repaired:
    """A valid history."""

    messages: tuple[Message, ...]
    repairs: tuple[str, ...]
    """The changes, one line each; messages are counted from 1 as given."""


def repaired(messages: Sequence[Message]) -> Repaired:
    """The nearest history without violations.

    Every tool call gets exactly one result in the next message: its own, moved if it is late, or an error. Content that
    cannot be sent is dropped or replaced by text. Thinking after a changed block is dropped, because it is no longer
    valid.
    """
    if not violations(messages):
        return Repaired(tuple(messages), ())
    repair = _Repair(drafts_of(messages))
    repair.clean()
    while True:
        before = len(repair.changes)
        repair.drafts = joined(repair.drafts, repair.report)
        pair_calls(repair.drafts, repair.report)
        pair_server_calls(repair.drafts, repair.report)
        repair.end_without_thinking()
        if len(repair.changes) == before:
            break
    repair.limit_images()
    repair.limit_breakpoints()
    repair.close_ends()
    repair.drop_thinking_after_edit(messages)
    return Repaired(built(repair.drafts, messages), tuple(repair.changes))


@dataclass(slots=True)
class _Repair:
    """Repairs of the history as a whole. Each preserves order."""

    drafts: list[MessageDraft]
    changes: list[str] = field(default_factory=list)
    """One line per change, so no new line means no change."""

    def report(self, draft: MessageDraft, what: str) -> None:
        self.changes.append(f"message {draft.number}: {what}")

    def clean(self) -> None:
        """Repair every single block."""
        seen: set[int] = set()
        for draft in self.drafts:
            given, draft.blocks = draft.blocks, []
            for block in given:
                result = cleaned(block, draft.role)
                if result.change:
                    self.report(draft, result.change)
                if result.block is not None:
                    # From here on blocks are identified by identity, so a block in two places is copied.
                    draft.blocks.append(dict(result.block) if id(result.block) in seen else result.block)
                    seen.add(id(result.block))

    def end_without_thinking(self) -> None:
        for draft in self.drafts:
            while draft.role == "assistant" and draft.blocks and draft.blocks[-1]["type"] in THINKING:
                draft.blocks = draft.blocks[:-1]
                self.report(draft, "dropped thinking at its end")

    def limit_images(self) -> None:
        """Replace images that are too large, or too many for their size; the oldest first."""
        pictures = [image for draft in self.drafts for block in draft.blocks for image in images(block)]
        too_large = {id(image) for image in pictures if _exceeds(image, MAX_EDGE) or _heavy(image)}
        rest = [image for image in pictures if id(image) not in too_large]
        wide = [image for image in rest if _exceeds(image, MANY_IMAGES_EDGE) or image_size(image) is None]
        unwanted = too_large | {id(image) for image in wide[: max(0, len(rest) - MAX_IMAGES)]}
        for draft in self.drafts:
            blocks = [with_words_for(block, lambda inner: id(inner) in unwanted) for block in draft.blocks]
            self._replace(draft, blocks, "replaced images that are too large or too many")

    def limit_breakpoints(self) -> None:
        """Keep the last few cache breakpoints."""
        left = MAX_BREAKPOINTS
        for draft in reversed(self.drafts):
            blocks: list[Block] = []
            for block in reversed(draft.blocks):
                marks = sum("cache_control" in inner for inner in (block, *nested(block)))
                blocks.insert(0, block if marks <= left else _without_marks(block))
                left -= marks if marks <= left else 0
            self._replace(draft, blocks, "removed cache breakpoints beyond the fourth")

    def _replace(self, draft: MessageDraft, blocks: list[Block], what: str) -> None:
        if any(new is not old for new, old in zip(blocks, draft.blocks, strict=True)):
            draft.blocks = blocks
            self.report(draft, what)

    def close_ends(self) -> None:
        """Make the first and the last message the user's."""
        if not self.drafts or self.drafts[0].role != "user":
            self.drafts.insert(0, MessageDraft(1, "user", [{"type": "text", "text": BEGINNING_MISSING}]))
            self.changes.append("added a note of the user at the start")
        last = self.drafts[-1]
        if last.role != "user" and not paused(Message(last.role, tuple(last.blocks))):
            self.drafts.append(MessageDraft(self.drafts[-1].number, "user", [{"type": "text", "text": CONTINUE}]))
            self.changes.append("added a request to continue at the end")

    def drop_thinking_after_edit(self, originals: Sequence[Message]) -> None:
        given = [(message.role, block) for message in originals for block in message.content]
        made = [(draft.role, block) for draft in self.drafts for block in draft.blocks]
        pairs = enumerate(zip(given, made, strict=False))
        first = next((at for at, (old, new) in pairs if not _same(old, new)), min(len(given), len(made)))
        if count := drop_thinking_from(self.drafts, first):
            self.changes.append(f"dropped {count} thinking blocks after a changed block")


def _same(one: tuple[str, Block], other: tuple[str, Block]) -> bool:
    """Whether two blocks are equal except for breakpoints, which do not affect thinking."""
    if one[0] != other[0]:
        return False
    return one[1] is other[1] or _without_marks(one[1]) == _without_marks(other[1])


def _without_marks(block: Block) -> Block:
    bare = {name: value for name, value in block.items() if name != "cache_control"}
    if any("cache_control" in inner for inner in nested(block)):
        bare["content"] = [_without_marks(inner) if isinstance(inner, dict) else inner for inner in block["content"]]
    return bare


def _exceeds(image: Block, edge: int) -> bool:
    size = image_size(image)
    return size is not None and max(size.width, size.height) > edge


def _heavy(image: Block) -> bool:
    source = image.get("source")
    data = source.get("data") if isinstance(source, dict) else None
    return isinstance(data, str) and len(data) > MAX_IMAGE_CHARACTERS
