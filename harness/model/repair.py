"""Repair of a history that the API would reject (docs/design/model-calls.md#history)."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Literal

from harness.events import Block, Message
from harness.model.content_cleanup import cleaned
from harness.model.invariants import (
    IDENTIFIER,
    MANY_IMAGES_EDGE,
    MAX_BREAKPOINTS,
    MAX_EDGE,
    MAX_IMAGE_CHARACTERS,
    MAX_IMAGES,
    SERVER_USES,
    THINKING,
    is_server_result,
    paused,
    violations,
)
from harness.model.media import image_size, images, nested, with_words_for
from harness.model.notices import BEGINNING_MISSING, CONTINUE, MISSING_RESULT


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


def pair_calls(drafts: list[MessageDraft], report: Report) -> None:
    """Make each message after one with calls start with exactly their results. Roles must alternate.

    A late result is moved to its call, a missing one is replaced by an error, a second call with the same id gets a
    new id, and a result without a call is dropped.
    """
    if drafts and drafts[-1].of_type("tool_use"):
        drafts.append(MessageDraft(drafts[-1].number, "user", []))
    pairing = _Pairing(drafts, report)
    asker: MessageDraft | None = None
    for at, draft in enumerate(drafts):
        if draft.role == "user":
            pairing.answer(at, draft, asker)
        asker = draft


class _Pairing:
    def __init__(self, drafts: list[MessageDraft], report: Report) -> None:
        self._report = report
        self._ids = {key(call.get("id")) for draft in drafts for call in draft.of_type("tool_use")}
        self._taken: set[str] = set()
        self._last_number: Counter[str] = Counter()
        self._late = _late_results(drafts)
        self._moved: set[int] = set()

    def answer(self, at: int, draft: MessageDraft, asker: MessageDraft | None) -> None:
        """Make `draft`, message `at`, answer the calls of `asker`, the assistant message before it."""
        own: dict[str, list[Block]] = defaultdict(list)
        for result in draft.of_type("tool_result"):
            if id(result) not in self._moved:
                own[key(result.get("tool_use_id"))].append(result)
        answers: dict[int, Block] = {}
        added: list[Block] = []
        for call in self._distinct_calls(asker) if asker else ():
            old_id, new_id = key(call.get("id")), self._id_of_its_own(call)
            if asker and new_id != old_id:
                asker.blocks = [{**call, "id": new_id} if block is call else block for block in asker.blocks]
                self._report(asker, f"gave a call the id {new_id}, because {old_id} is already used or invalid")
            if own[old_id]:
                result = own[old_id].pop(0)
                answers[id(result)] = result if new_id == old_id else {**result, "tool_use_id": new_id}
            elif late := self._late_result(old_id, at):
                added.append({**late, "tool_use_id": new_id})
                self._report(draft, f"moved the late result of the call {old_id} here")
            else:
                added.append(_missing_result(new_id))
                self._report(draft, f"added an error for the missing result of the call {old_id}")
        for surplus in (result for results in own.values() for result in results):
            self._report(draft, f"dropped a result without a call ({key(surplus.get('tool_use_id'))})")
        self._arrange(draft, answers, added)

    def _arrange(self, draft: MessageDraft, answers: dict[int, Block], added: list[Block]) -> None:
        kept = [answers[id(block)] for block in draft.blocks if id(block) in answers]
        others = [block for block in draft.blocks if block["type"] != "tool_result"]
        firsts = [block["type"] == "tool_result" for block in draft.blocks]
        if firsts != sorted(firsts, reverse=True):
            self._report(draft, "moved the tool results to the front")
        draft.blocks = kept + added + others

    def _distinct_calls(self, draft: MessageDraft) -> list[Block]:
        """The calls of `draft`, after exact duplicates were dropped."""
        calls: list[Block] = []
        for call in draft.of_type("tool_use"):
            if call in calls:
                draft.drop(call)
                self._report(draft, f"dropped a duplicate of the call {key(call.get('id'))}")
            else:
                calls.append(call)
        return calls

    def _late_result(self, id_: str, at: int) -> Block | None:
        """The first result of the call `id_` after message `at`, where it belongs."""
        for found in self._late[id_]:
            place, result = found
            if place > at:
                self._late[id_].remove(found)
                self._moved.add(id(result))
                return result
        return None

    def _id_of_its_own(self, call: Block) -> str:
        own = key(call.get("id"))
        if not IDENTIFIER.fullmatch(own) or own in self._taken:
            base = re.sub(r"[^a-zA-Z0-9_-]+", "_", own) if isinstance(call.get("id"), str) and own else "call"
            fresh = (f"{base}_{number}" for number in count(self._last_number[base] + 1))
            own = next(name for name in fresh if name not in self._taken and name not in self._ids)
            self._last_number[base] = int(own.rpartition("_")[2])
        self._taken.add(own)
        return own


def _missing_result(id: str) -> Block:
    return {"type": "tool_result", "tool_use_id": id, "content": MISSING_RESULT, "is_error": True}


def _late_results(drafts: list[MessageDraft]) -> dict[str, list[tuple[int, Block]]]:
    """The results that do not directly follow their call: (index of draft, block) by id."""
    late: dict[str, list[tuple[int, Block]]] = defaultdict(list)
    asked: Counter[str] = Counter()
    for at, draft in enumerate(drafts):
        for result in draft.of_type("tool_result"):
            id = key(result.get("tool_use_id"))
            if asked[id] > 0:
                asked[id] -= 1
            else:
                late[id].append((at, result))
        asked = Counter(key(call.get("id")) for call in draft.of_type("tool_use"))
    return late


def pair_server_calls(drafts: list[MessageDraft], report: Report) -> None:
    """Drop calls of server tools without a result, and results without a call.

    A result may be in the assistant's next message if only tool results are between.
    """
    seen: set[str] = set()
    waiting: dict[str, Block] = {}
    asker: MessageDraft | None = None
    for at, draft in enumerate(drafts):
        if draft.role == "user":
            continue
        before, waiting = waiting, {}
        for block in draft.blocks:
            if block["type"] in SERVER_USES:
                id = block.get("id")
                if isinstance(id, str) and id and id not in seen:
                    seen.add(id)
                    waiting[id] = block
                else:
                    _drop(draft, block, "a server tool call without an id of its own", report)
            elif is_server_result(block):
                id = key(block.get("tool_use_id"))
                if waiting.pop(id, None) is None and before.pop(id, None) is None:
                    _drop(draft, block, "a server tool result without a call", report)
        unanswered = [(asker, block) for block in before.values()] if asker else []
        if not (_only_results(drafts, at + 1) or _goes_on(drafts, at)):
            unanswered += [(draft, block) for block in waiting.values()]
            waiting = {}
        for owner, block in unanswered:
            _drop(owner, block, "a server tool call without a result", report)
        asker = draft


def _only_results(drafts: list[MessageDraft], at: int) -> bool:
    return at < len(drafts) and all(block["type"] == "tool_result" for block in drafts[at].blocks)


def _goes_on(drafts: list[MessageDraft], at: int) -> bool:
    """The history ends with a message that the server continues."""
    return at == len(drafts) - 1 and paused(Message(drafts[at].role, tuple(drafts[at].blocks)))


def _drop(draft: MessageDraft, block: Block, what: str, report: Report) -> None:
    draft.drop(block)
    report(draft, f"dropped {what}")


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
