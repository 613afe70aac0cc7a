"""The repair of a history that the API would reject."""

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
from harness.model.message_drafts import Draft, built, drafts_of, drop_thinking_from, joined
from harness.model.prompt import BEGINNING_MISSING, CONTINUE


@dataclass(frozen=True, slots=True)
class Repaired:
    """A history that may be sent."""

    messages: tuple[Message, ...]
    repairs: tuple[str, ...]
    """What was done, one plain line each, messages counted from 1 as they were given; () when nothing was."""


def repaired(messages: Sequence[Message]) -> Repaired:
    """The nearest history that has no violations (recovery F1, F2; api R18, R21, R22, R26).

    Every tool call gets exactly one result in the next message: its own, moved if it stands too late, or an
    error that says it is missing. What cannot be sent is dropped or replaced by words. Where anything before
    a thinking block was changed, that block and all after it are dropped, because they are bound to what
    stood there (api §5.4). A caller that keeps the result instead of what it gave pays for that only once.
    """
    if not violations(messages):
        return Repaired(tuple(messages), ())
    repair = _Repair(drafts_of(messages))
    repair.clean()
    while True:
        before = len(repair.said)
        repair.drafts = joined(repair.drafts, repair.say)
        pair_calls(repair.drafts, repair.say)
        pair_server_calls(repair.drafts, repair.say)
        repair.end_without_thinking()
        if len(repair.said) == before:
            break
    repair.limit_images()
    repair.limit_breakpoints()
    repair.close_ends()
    repair.drop_thinking_after_edit(messages)
    return Repaired(built(repair.drafts, messages), tuple(repair.said))


@dataclass(slots=True)
class _Repair:
    """The steps that look at the history as a whole; each keeps the order of what it keeps."""

    drafts: list[Draft]
    said: list[str] = field(default_factory=list)
    """What was done so far. Every change says a line, so no new line means that nothing changed."""

    def say(self, draft: Draft, what: str) -> None:
        self.said.append(f"message {draft.number}: {what}")

    def clean(self) -> None:
        """Make every block, for itself, one that can be sent."""
        seen: set[int] = set()
        for draft in self.drafts:
            given, draft.blocks = draft.blocks, []
            for block in given:
                result = cleaned(block, draft.role)
                if result.change:
                    self.say(draft, result.change)
                if result.block is not None:
                    # From here on blocks are told apart by identity, so one that stands in two places is copied.
                    draft.blocks.append(dict(result.block) if id(result.block) in seen else result.block)
                    seen.add(id(result.block))

    def end_without_thinking(self) -> None:
        for draft in self.drafts:
            while draft.role == "assistant" and draft.blocks and draft.blocks[-1]["type"] in THINKING:
                draft.blocks = draft.blocks[:-1]
                self.say(draft, "dropped thinking at its end")

    def limit_images(self) -> None:
        """Put words in the place of images that are too large, or too many to be this large; the oldest first."""
        pictures = [image for draft in self.drafts for block in draft.blocks for image in images(block)]
        too_large = {id(image) for image in pictures if _exceeds(image, MAX_EDGE) or _heavy(image)}
        rest = [image for image in pictures if id(image) not in too_large]
        wide = [image for image in rest if _exceeds(image, MANY_IMAGES_EDGE) or image_size(image) is None]
        unwanted = too_large | {id(image) for image in wide[: max(0, len(rest) - MAX_IMAGES)]}
        for draft in self.drafts:
            blocks = [with_words_for(block, lambda inner: id(inner) in unwanted) for block in draft.blocks]
            self._replace(draft, blocks, "put words in the place of images that are too large or too many")

    def limit_breakpoints(self) -> None:
        """Keep the last few cache breakpoints."""
        left = MAX_BREAKPOINTS
        for draft in reversed(self.drafts):
            blocks: list[Block] = []
            for block in reversed(draft.blocks):
                marks = sum("cache_control" in inner for inner in (block, *nested(block)))
                blocks.insert(0, block if marks <= left else _without_marks(block))
                left -= marks if marks <= left else 0
            self._replace(draft, blocks, "took off cache breakpoints beyond the fourth")

    def _replace(self, draft: Draft, blocks: list[Block], what: str) -> None:
        if any(new is not old for new, old in zip(blocks, draft.blocks, strict=True)):
            draft.blocks = blocks
            self.say(draft, what)

    def close_ends(self) -> None:
        """Begin and end with the user."""
        if not self.drafts or self.drafts[0].role != "user":
            self.drafts.insert(0, Draft(1, "user", [{"type": "text", "text": BEGINNING_MISSING}]))
            self.said.append("put a note of the user at the beginning")
        last = self.drafts[-1]
        if last.role != "user" and not paused(Message(last.role, tuple(last.blocks))):
            self.drafts.append(Draft(self.drafts[-1].number, "user", [{"type": "text", "text": CONTINUE}]))
            self.said.append("put a request of the user to go on at the end")

    def drop_thinking_after_edit(self, originals: Sequence[Message]) -> None:
        given = [(message.role, block) for message in originals for block in message.content]
        made = [(draft.role, block) for draft in self.drafts for block in draft.blocks]
        pairs = enumerate(zip(given, made, strict=False))
        first = next((at for at, (old, new) in pairs if not _same(old, new)), min(len(given), len(made)))
        if count := drop_thinking_from(self.drafts, first):
            self.said.append(f"dropped {count} thinking blocks that were bound to what was changed before them")


def _same(one: tuple[str, Block], other: tuple[str, Block]) -> bool:
    """Whether two blocks are the same to the thinking behind them; breakpoints do not count (api §5.4)."""
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
