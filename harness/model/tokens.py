"""Size of a request: counted offline, calibrated by reports of the API (docs/design/model-calls.md#token-counts).

`TokenCounter` counts with the o200k vocabulary, which is not the model's own. `Estimator` converts such counts into the
model's tokens: the last size that the API reported, plus the tokens added since times a learned ratio.
"""

import base64
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from harness.events import Block, Json, Message, Usage
from harness.media.formats import pdf_pages
from harness.model import vocabulary
from harness.model.catalogue import known_card
from harness.model.media import image_size, nested

MESSAGE_OVERHEAD = 4
BLOCK_OVERHEAD = 8
TOOLS_OVERHEAD = 500
"""The system prompt that the API adds for tools, 286 to 675 tokens."""
IMAGE_PATCH = 28
"""An image costs one token per square with an edge of this many pixels."""
IMAGE_CAP = 4_784
"""Maximum tokens of one image; also used where its size is unknown."""
PDF_PAGE = 3_000
"""Tokens of one page, which counts as text and as an image; the text alone is 1,500 to 3,000 tokens
(https://platform.claude.com/docs/en/build-with-claude/pdf-support)."""
PDF_BYTES_PER_TOKEN = 25
"""Where the number of pages is unknown."""
PDF_FLOOR = 2_000
ENCRYPTED_CHARACTERS_PER_TOKEN = 5
"""For thinking that is only available encrypted."""


@dataclass(slots=True)
class _Memo:
    """A counting function and its counts, replaced together."""

    count: vocabulary.Count
    blocks: dict[int, tuple[Json, int]] = field(default_factory=dict)
    """By identity; the entry keeps the block, so that its id is not reused."""


class TokenCounter:
    """Counts o200k tokens and the overhead of the wire. Usable at once; exact after `load()`.

    Each block is counted once, because blocks never change. Memory is bounded by the newest request. Not thread-safe,
    except for `load`.
    """

    def __init__(self) -> None:
        self._memo = _Memo(vocabulary.estimated_from_bytes)

    @property
    def loaded(self) -> bool:
        """Whether the vocabulary is in use instead of the rule of thumb."""
        return self._memo.count is not vocabulary.estimated_from_bytes

    def load(self) -> bool:
        """Load the vocabulary, which takes about 0.2 s; call it in a thread. Returns `loaded`, also where the file is
        missing or damaged."""
        if not self.loaded and (count := vocabulary.load()) is not None:
            self._memo = _Memo(count)
        return self.loaded

    def count_text(self, text: str) -> int:
        """Tokens of `text`."""
        return self._memo.count(text)

    def count_message(self, message: Message) -> int:
        """Tokens of one message with its overhead."""
        return self._message(self._memo, message)

    def count_request(self, system: Iterable[Block], tools: Iterable[Json], messages: Sequence[Message]) -> int:
        """Tokens of a whole request; blocks of earlier requests are not counted again."""
        memo, tools = self._memo, tuple(tools)
        total = sum(_remembered(memo, block) for block in system)
        if tools:
            total += TOOLS_OVERHEAD + sum(_remembered(memo, tool) for tool in tools)
        total += sum(self._message(memo, message) for message in messages)
        self._forget_others(memo, sum(len(message.content) for message in messages), messages)
        return total

    @staticmethod
    def _message(memo: _Memo, message: Message) -> int:
        return MESSAGE_OVERHEAD + sum(_remembered(memo, block) for block in message.content)

    @staticmethod
    def _forget_others(memo: _Memo, blocks: int, messages: Sequence[Message]) -> None:
        if len(memo.blocks) <= 2 * blocks + 1_000:
            return
        current = {id(block) for message in messages for block in message.content}
        memo.blocks = {key: entry for key, entry in memo.blocks.items() if key in current}


def _remembered(memo: _Memo, block: Json) -> int:
    entry = memo.blocks.get(id(block))
    if entry is None:
        entry = memo.blocks[id(block)] = (block, BLOCK_OVERHEAD + _block(memo.count, block))
    return entry[1]


def _block(count: vocabulary.Count, block: Json) -> int:
    match block:
        case {"type": "text", "text": str(text)}:
            return count(text)
        case {"type": "thinking", "thinking": str(text)} if text:
            return count(text)
        case {"type": "thinking", "signature": str(encrypted)} | {"type": "redacted_thinking", "data": str(encrypted)}:
            return len(encrypted) // ENCRYPTED_CHARACTERS_PER_TOKEN
        case {"type": "tool_use", "name": str(name), "input": input}:
            return count(name) + count(_json(input))
        case {"type": "tool_result", "content": str(text)}:
            return count(text)
        case {"type": "tool_result", "content": list()}:
            return sum(BLOCK_OVERHEAD + _block(count, inner) for inner in nested(block))
    tokens = media_tokens(block)
    return count(_json(block)) if tokens is None else tokens


def media_tokens(block: Block) -> int | None:
    """Tokens of an image or a PDF, which are independent of the vocabulary; None for other blocks."""
    match block:
        case {"type": "image"}:
            return _image(block)
        case {"type": "document", "source": {"type": "base64", "data": str(data)}}:
            return _pdf(data)
    return None


def _image(block: Block) -> int:
    size = image_size(block)
    if size is None:
        return IMAGE_CAP
    return min(IMAGE_CAP, -(-size.width // IMAGE_PATCH) * -(-size.height // IMAGE_PATCH))


def _pdf(data: str) -> int:
    try:
        pages = pdf_pages(base64.b64decode(data))
    except ValueError:  # not base64: the API will reject it
        pages = None
    return max(PDF_FLOOR, len(data) * 3 // 4 // PDF_BYTES_PER_TOKEN) if pages is None else pages * PDF_PAGE


def _json(value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (RecursionError, ValueError, TypeError):
        # It cannot be sent like this, so only the order of magnitude matters.
        return str(value)


@dataclass(frozen=True, slots=True)
class _Anchor:
    """A request of known size."""

    counted: int
    tokens: int


class Estimator:
    """Converts counts into tokens of a model.

    The estimate is the size that the API reported last, plus the tokens added since times a ratio. The ratio starts as
    published for the model and follows each report, between `RATIO_MIN` and `RATIO_MAX`.
    """

    RATIO_MIN = 0.8
    RATIO_MAX = 2.5
    WEIGHT = 0.5
    """Weight of the newest report in the ratio."""
    LEAST_COUNT = 200
    """Smaller requests do not change the ratio, because overheads dominate."""

    def __init__(self, counter: TokenCounter) -> None:
        self.counter = counter
        self._ratios: dict[str, float] = {}
        self._anchors: dict[str, _Anchor] = {}

    def ratio(self, model: str) -> float:
        """Tokens of `model` per counted token."""
        return self._ratios.get(model, known_card(model).token_ratio)

    def estimate(self, model: str, request_count: int) -> int:
        """Tokens that a request of `request_count` counted tokens has for `model`."""
        anchor = self._anchors.get(model)
        if anchor is None or request_count < anchor.counted:
            return round(self.ratio(model) * request_count)
        return anchor.tokens + round(self.ratio(model) * (request_count - anchor.counted))

    def observe(self, model: str, request_count: int, usage: Usage, *, reply_count: int | None = None) -> None:
        """Learn from what the API reported for a request of `request_count` counted tokens.

        With `reply_count`, the count of the reply as added to the history, the known size includes the reported output.
        A report without prompt tokens is ignored.
        """
        if usage.prompt <= 0 or request_count <= 0:
            return
        if request_count >= self.LEAST_COUNT:
            ratio = self.ratio(model)
            ratio += self.WEIGHT * (usage.prompt / request_count - ratio)
            self._ratios[model] = min(max(ratio, self.RATIO_MIN), self.RATIO_MAX)
        if reply_count is None:
            self._anchors[model] = _Anchor(request_count, usage.prompt)
        else:
            self._anchors[model] = _Anchor(request_count + reply_count, usage.prompt + usage.output)

    def known(self, model: str) -> tuple[int, int] | None:
        """The last size that the API reported, as counted tokens and tokens of `model`, or None."""
        anchor = self._anchors.get(model)
        return None if anchor is None else (anchor.counted, anchor.tokens)

    def restore(self, model: str, ratio: float, known: tuple[int, int] | None) -> None:
        """Restore what was learned earlier; `known` as returned by the method of that name."""
        self._ratios[model] = min(max(ratio, self.RATIO_MIN), self.RATIO_MAX)
        if known is not None:
            self._anchors[model] = _Anchor(*known)

    def recounted(self, before: int, after: int) -> "Estimator":
        """This estimator for a counter that counts differently: a request of `before` tokens now has `after`.

        Without it, the estimate would jump when the vocabulary is loaded.
        """
        other = Estimator(self.counter)
        if before > 0 and after > 0:
            for model, ratio in self._ratios.items():
                other._ratios[model] = min(max(ratio * before / after, self.RATIO_MIN), self.RATIO_MAX)
            for model, anchor in self._anchors.items():
                other._anchors[model] = _Anchor(round(anchor.counted * after / before), anchor.tokens)
        return other

    def reset(self) -> None:
        """Forget known sizes after a change of the history, such as a compaction. Ratios stay."""
        self._anchors.clear()
