"""Check, repair and shorten a history (docs/design/model-calls.md#history).

`violations` is the strict check, and `repaired` returns a history without any, whatever it is given. The other
functions serve recovery. Nothing changes a block in place, and unchanged messages stay the same objects.
"""

import json
from collections.abc import Callable, Sequence, Set
from itertools import accumulate, takewhile

from harness.events import Block, Message
from harness.model.invariants import SERVER_USES, THINKING, violations
from harness.model.media import MEDIA_TYPES, with_words_for
from harness.model.notices import RESULTS_READ
from harness.model.repair import MessageDraft, Repaired, built, drafts_of, drop_thinking_from, joined, key, repaired
from harness.model.server_tools import in_words

__all__ = [
    "Repaired",
    "bridged",
    "calls_in_words",
    "plain_after",
    "repaired",
    "steps",
    "violations",
    "without_media",
    "without_server_tools",
    "without_thinking",
]


def without_thinking(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The history without thinking, for another model or after a signature was rejected.

    Messages that become empty are dropped, and their neighbours of the same role joined.
    """
    if not any(block.get("type") in THINKING for message in messages for block in message.content):
        return tuple(messages)
    drafts = drafts_of(messages)
    drop_thinking_from(drafts, 0)
    return built(joined(drafts, _unreported), messages)


def plain_after(before: Sequence[Message], after: Sequence[Message], plain_until: int) -> int:
    """Messages before this index are sent without thinking, after the history `after` has replaced `before`.

    Thinking stays valid as long as no block before it has changed, so a history that was only cut, or changed after its
    last thinking block, keeps its thinking. `plain_until` is the index for `before`.
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
    """The history with every image and document replaced by a short text."""
    return _replaced(messages, lambda block: with_words_for(block, lambda inner: inner.get("type") in MEDIA_TYPES))


def without_server_tools(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The history with calls and results of server tools replaced by text, and without citations."""
    return _replaced(messages, in_words)


def calls_in_words(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The history with tool calls and their results as text, for a request that offers no tools."""
    return _replaced(messages, _call_in_words)


def _call_in_words(block: Block) -> Block:
    match block:
        case {"type": "tool_use", "name": name, "input": input}:
            return {"type": "text", "text": f"[called {name} with {json.dumps(input, ensure_ascii=False)}]"}
        case {"type": "tool_result"}:
            content = block.get("content") or ""
            parts = [{"text": content}] if isinstance(content, str) else content
            text = "\n".join(str(part.get("text", f"[{part.get('type')}]")) for part in parts)
            return {"type": "text", "text": f"[its result]\n{text}"}
    return block


def bridged(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The history with an answer wherever text of the user follows tool results: a copy to send, for servers that do
    not take that."""
    sent: list[Message] = []
    for message in messages:
        results = tuple(takewhile(lambda block: block.get("type") == "tool_result", message.content))
        if results and (rest := message.content[len(results) :]):
            answer = Message("assistant", ({"type": "text", "text": RESULTS_READ},))
            sent += [Message("user", results), answer, Message("user", rest)]
        else:
            sent.append(message)
    return tuple(sent)


def _replaced(messages: Sequence[Message], replacement: Callable[[Block], Block]) -> tuple[Message, ...]:
    """Thinking after the first replaced block is dropped, because it is no longer valid."""
    drafts = drafts_of(messages)
    start, first = 0, None
    for draft in drafts:
        blocks = [replacement(block) for block in draft.blocks]
        changed = [new is not old for new, old in zip(blocks, draft.blocks, strict=True)]
        if first is None and True in changed:
            first = start + changed.index(True)
        start += len(blocks)
        draft.blocks = blocks
    if first is None:
        return tuple(messages)
    drop_thinking_from(drafts, first)
    return built(joined(drafts, _unreported), messages)


def steps(messages: Sequence[Message]) -> tuple[tuple[Message, ...], ...]:
    """The history in steps: one reply each, with the message before it and the results of its calls.

    Any number of steps may be left out at the front, and every remaining call still has its result. A step starts with
    a prompt or, inside a turn, with the assistant's next message. Joined, the steps are the history.
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


def _unreported(draft: MessageDraft, what: str) -> None:
    """Requested changes are reported by the caller."""
