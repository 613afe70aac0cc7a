"""The history as the API must see it: checked, repaired, shortened.

`violations` is the strict check. `repaired` ends with none, whatever it is given: a history cut off in the
middle of a tool call, a journal with lines missing, two results for one call. It keeps what can be kept, in
order, and says in one line each what it did. A history that is well is given back as the same objects, so
that its bytes and the cache stay the same.

The other functions are what the recovery does to a history; they never change a block in place.
"""

from collections.abc import Sequence, Set
from itertools import accumulate, takewhile

from harness.events import Block, Message
from harness.model.invariants import SERVER_USES, THINKING, violations
from harness.model.media import MEDIA_TYPES, with_words_for
from harness.model.message_drafts import Draft, built, drafts_of, drop_thinking_from, joined, key
from harness.model.repair import Repaired, repaired
from harness.model.server_tools import in_words

__all__ = [
    "Repaired",
    "plain_after",
    "repaired",
    "rounds",
    "violations",
    "without_media",
    "without_server_tools",
    "without_thinking",
]


def without_thinking(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The history without any thinking, for another model or after a signature was refused (recovery C5).

    Messages that are left empty go, and neighbours of the same role are joined then; all others are the same
    objects as before.
    """
    if not any(block.get("type") in THINKING for message in messages for block in message.content):
        return tuple(messages)
    drafts = drafts_of(messages)
    drop_thinking_from(drafts, 0)
    return built(joined(drafts, _unsaid), messages)


def plain_after(before: Sequence[Message], after: Sequence[Message], plain_until: int) -> int:
    """Where the messages that are sent without thinking end, once the history `after` has replaced `before`.

    Thinking stays valid as long as no block before it has changed (api §5.4), so a history that was only cut, or
    changed behind its last thinking block, keeps what it has. `plain_until` is the index for `before`.
    """
    old, new = _blocks(before), _blocks(after)
    changed = next(
        (at for at, (one, other) in enumerate(zip(old, new, strict=False)) if one != other), min(len(old), len(new))
    )
    if any(block.get("type") in THINKING for _, block in new[changed:]):
        return len(after)
    border = min(changed, sum(len(message.content) for message in before[:plain_until]))
    sizes = accumulate(len(message.content) for message in after)
    return sum(1 for _ in takewhile(lambda size: size < border, sizes)) + (border > 0)


def _blocks(messages: Sequence[Message]) -> list[tuple[str, Block]]:
    return [(message.role, block) for message in messages for block in message.content]


def without_media(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The history with words in the place of every image and document (recovery F3, api R26).

    Thinking behind the first of them is dropped as well, because it is bound to what stood there.
    """
    drafts = drafts_of(messages)
    start, first = 0, None
    for draft in drafts:
        blocks = [with_words_for(block, lambda inner: inner.get("type") in MEDIA_TYPES) for block in draft.blocks]
        changed = [new is not old for new, old in zip(blocks, draft.blocks, strict=True)]
        if first is None and True in changed:
            first = start + changed.index(True)
        start += len(blocks)
        draft.blocks = blocks
    if first is None:
        return tuple(messages)
    drop_thinking_from(drafts, first)
    return built(joined(drafts, _unsaid), messages)


def without_server_tools(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The history with words in the place of what the server's own tools did, and without citations of it: for a model
    that has no such tools, and for a history that is made shorter.

    Thinking behind the first of them is dropped as well, because it is bound to what stood there.
    """
    drafts = drafts_of(messages)
    start, first = 0, None
    for draft in drafts:
        blocks = [in_words(block) for block in draft.blocks]
        changed = [new is not old for new, old in zip(blocks, draft.blocks, strict=True)]
        if first is None and True in changed:
            first = start + changed.index(True)
        start += len(blocks)
        draft.blocks = blocks
    if first is None:
        return tuple(messages)
    drop_thinking_from(drafts, first)
    return built(joined(drafts, _unsaid), messages)


def rounds(messages: Sequence[Message]) -> tuple[tuple[Message, ...], ...]:
    """The history in API rounds: one reply each, with what led to it and the results of its calls.

    Any number of rounds may be left out at the front and every call that remains has its result (recovery
    E3). A round begins with a prompt or, inside a turn, with the assistant's next message. No message is
    lost: the rounds, joined, are the history.
    """
    found: list[list[Message]] = []
    open_calls: set[str] = set()
    open_server_calls: set[str] = set()
    for message in messages:
        answers = {key(block["tool_use_id"]) for block in message.content if "tool_use_id" in block}
        if not found:
            begins = True
        elif message.role == "user":
            begins = not (open_calls or open_server_calls or answers)
        else:
            begins = not open_server_calls and any(earlier.role == "assistant" for earlier in found[-1])
        if begins:
            found.append([])
            open_calls, open_server_calls = set(), set()
        found[-1].append(message)
        open_calls = (open_calls | _ids(message, {"tool_use"})) - answers
        open_server_calls = (open_server_calls | _ids(message, SERVER_USES)) - answers
    return tuple(map(tuple, found))


def _ids(message: Message, kinds: Set[str]) -> set[str]:
    return {key(block.get("id")) for block in message.content if block.get("type") in kinds}


def _unsaid(draft: Draft, what: str) -> None:
    """These changes are asked for; the caller reports them."""
