"""Cuts a history without a model: the last resort that always works (docs/design/recovery.md#summary-request).

The mildest measure comes first: long tool results lose their middle; then the oldest rounds are dropped; then every
text loses its middle until the history fits. A tool call and its result stay or go together.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from harness.events import Block, Message

Round = tuple[Message, ...]
"""Messages that belong together: a prompt, or a reply with the results of its calls."""

RESULT_LENGTHS = (8_000, 2_000, 500)
"""Lengths for long tool results in characters, tried in this order."""
LAST_LENGTHS = (8_000, 2_000, 500, 100, 20)
"""Lengths for any text in characters, tried if dropping rounds was not enough."""
HEAD_SHARE = 0.6
DRAINED_ABOVE = 2_000
"""Results up to this many characters are not drained."""
DRAINED_LENGTH = 400
"""Characters that remain of a drained result, besides the name of the file with all of it."""
MEDIA_LEFT_OUT = "[left out to save room; read the file again to see it]"
KEPT_RESULTS = 5
"""Newest long results that are not drained."""


@dataclass(frozen=True, slots=True)
class CutHistory:
    rounds: tuple[Round, ...]
    dropped: int
    """Rounds dropped at the beginning."""
    cut: int
    """Last length that texts were cut to, in characters; 0: none was."""


def shrink(rounds: Sequence[Round], budget: int, count: Callable[[Message], int]) -> CutHistory:
    """The newest part of the conversation that fits `budget` tokens.

    Args:
        rounds: oldest first.
        budget: tokens that the result may have, in the units of `count`.
        count: tokens of a message.

    The last round is always kept. In the worst case its texts have 20 characters each.
    """

    def size(some: Iterable[Round]) -> int:
        return sum(count(message) for group in some for message in group)

    kept = tuple(rounds)
    if size(kept) <= budget:
        return CutHistory(kept, 0, 0)
    length = 0
    for length in RESULT_LENGTHS:
        kept = (*(_shortened(group, length, results_only=True) for group in kept[:-1]), *kept[-1:])
        if size(kept) <= budget:
            return CutHistory(kept, 0, length)
    sizes = [size([group]) for group in kept]
    dropped, total = 0, sum(sizes)
    while total > budget and dropped < len(kept) - 1:
        total -= sizes[dropped]
        dropped += 1
    kept = kept[dropped:]
    for length in LAST_LENGTHS if total > budget else ():
        kept = tuple(_shortened(group, length, results_only=False) for group in kept)
        if size(kept) <= budget:
            break
    return CutHistory(kept, dropped, length)


def middle_cut(text: str, length: int) -> str:
    """`text` without its middle, so that `length` characters and a mark remain; unchanged if that saves nothing."""
    if len(text) <= length:
        return text
    head = int(length * HEAD_SHARE)
    tail = length - head
    cut = f"{text[:head]}\n[… {len(text) - length:,} characters left out …]\n{text[len(text) - tail :]}"
    return cut if len(cut) < len(text) else text


def _shortened(group: Round, length: int, *, results_only: bool) -> Round:
    return tuple(
        replace(
            message,
            content=tuple(_shortened_block(block, length, results_only=results_only) for block in message.content),
        )
        for message in group
    )


def _shortened_block(block: Block, length: int, *, results_only: bool) -> Block:
    match block:
        case {"type": "tool_result", "content": str(text)}:
            return {**block, "content": middle_cut(text, length)}
        case {"type": "tool_result", "content": list(parts)}:
            return {**block, "content": [_shortened_block(part, length, results_only=False) for part in parts]}
        case {"type": "text", "text": str(text)} if not results_only:
            return {**block, "text": middle_cut(text, length)}
        case {"type": "tool_use", "input": dict(values)} if not results_only:
            return {**block, "input": _shortened_value(values, length)}
        case {"type": "image" | "document" as kind} if not results_only:
            return {"type": "text", "text": f"[{kind} left out]"}
    return block


def _shortened_value(value: Any, length: int) -> Any:
    match value:
        case str():
            return middle_cut(value, length)
        case dict():
            return {key: _shortened_value(inner, length) for key, inner in value.items()}
        case list():
            return [_shortened_value(inner, length) for inner in value]
    return value


def joined_end(rounds: Sequence[Round]) -> tuple[Round, ...]:
    """The rounds with everything that the model has not answered yet joined into the last one.

    The results of its calls may be followed by a user message that starts a round: a background notice, or a loop
    notice. Without this, unanswered results would count as old.
    """
    last = max((at for at, group in enumerate(rounds) if any(m.role == "assistant" for m in group)), default=None)
    if last is None or rounds[last][-1].role == "assistant":
        return tuple(rounds)
    return (*rounds[:last], tuple(message for group in rounds[last:] for message in group))


def drainable(rounds: Sequence[Round], keep_last: int = KEPT_RESULTS) -> tuple[str, ...]:
    """Ids of the tool results that can be shortened without a model: old and long ones, oldest first.

    Args:
        rounds: oldest first.
        keep_last: newest long results that stay whole; unanswered ones always do.
    """
    rounds = joined_end(rounds)
    results = [
        (block["tool_use_id"], index)
        for index, group in enumerate(rounds)
        for message in group
        for block in message.content
        if block.get("type") == "tool_result" and _is_long(block.get("content"))
    ]
    old = results[:-keep_last] if keep_last else results
    return tuple(result for result, index in old if index < len(rounds) - 1)


def _is_long(content: object) -> bool:
    """Whether a result is worth shortening: a long text, or one with an image or document."""
    if isinstance(content, list):
        return any(map(_is_media, content))
    return isinstance(content, str) and len(content) > DRAINED_ABOVE


def _is_media(part: Any) -> bool:
    return isinstance(part, dict) and part.get("type") in ("image", "document")


def drained(block: Block, file: str) -> Block:
    """A tool result in the history once its full text is in `file`.

    An image or document needs no copy: its own file can be read again.
    """
    if isinstance(block["content"], list):
        left = {"type": "text", "text": MEDIA_LEFT_OUT}
        return {**block, "content": [left if _is_media(part) else part for part in block["content"]]}
    return {**block, "content": pointing(middle_cut(block["content"], DRAINED_LENGTH), file)}


def pointing(text: str, file: str) -> str:
    """A shortened text with the name of the file that holds all of it."""
    return f"{text}\n[whole result: {file}]"
