"""Size of a request: counted offline, calibrated by reports of the API (docs/design/model-calls.md#token-counts).

`TokenCounter` counts with the o200k vocabulary, which is not the model's own; it is included in the package (see
`data/README.md`). `Estimator` converts such counts into the model's tokens: the last size that the API reported, plus
the tokens added since times a learned ratio.

The pattern of the vocabulary is that of o200k_base with a possessive tail: the original makes the regex engine fail on
a million spaces in a row.
"""

import base64
import hashlib
import json
import lzma
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from harness.events import Block, Json, Message, Usage
from harness.media.formats import pdf_pages
from harness.model.catalogue import known_card
from harness.model.media import image_size, nested

if TYPE_CHECKING:
    from tiktoken import Encoding

VOCABULARY_FILE = Path(__file__).with_name("data") / "o200k_base.xz"
SHA256 = "74c6f5af06dd76707df670b80098f8be24afcd25ffae041f3df869abdcf63f65"
SLICE = 64 * 1024
"""Characters encoded at once. Slicing adds about one token in a thousand."""

_PATTERN = "|".join(
    [
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
        r"\s*[\r\n]+",
        r"\s++$",
        r"\s+(?!\S)",
        r"\s",
    ]
)

Count = Callable[[str], int]
"""Returns the number of tokens in a text."""


def estimated_from_bytes(text: str) -> int:
    """A third of the bytes, rounded up: used without a vocabulary. Overestimates."""
    return -(-len(text.encode("utf-8", "replace")) // 3)


def vocabulary_intact(file: Path = VOCABULARY_FILE) -> bool:
    """Whether `file` exists and has the expected content."""
    return _packed(file) is not None


def load_vocabulary(file: Path = VOCABULARY_FILE) -> Count | None:
    """The counting function of `file`, or None where the file is missing or damaged.

    Takes about 0.2 s the first time: call it in a thread.
    """
    packed = _packed(file)
    return None if packed is None else partial(_count, _encoding(packed))


def _packed(file: Path) -> bytes | None:
    try:
        packed = file.read_bytes()
    except OSError:
        return None
    return packed if hashlib.sha256(packed).hexdigest() == SHA256 else None


@lru_cache(maxsize=1)
def _encoding(packed: bytes) -> "Encoding":
    """Built once per process, because it takes 80 MB."""
    from tiktoken import Encoding

    return Encoding("o200k_base", pat_str=_PATTERN, mergeable_ranks=_ranks(lzma.decompress(packed)), special_tokens={})


def _ranks(tokens: bytes) -> dict[bytes, int]:
    ranks: dict[bytes, int] = {}
    at, end = 0, len(tokens)
    while at < end:
        start = at + 1
        at = start + tokens[at]
        ranks[tokens[start:at]] = len(ranks)
    return ranks


def _count(encoding: "Encoding", text: str) -> int:
    return sum(_count_slice(encoding, text[at : at + SLICE]) for at in range(0, len(text), SLICE))


def _count_slice(encoding: "Encoding", text: str) -> int:
    try:
        return len(encoding.encode_ordinary(text))
    except BaseException as error:
        # A Rust panic is a BaseException; it must not end the program.
        if type(error).__name__ != "PanicException":
            raise
        return estimated_from_bytes(text)


# ── the size of a request ────────────────────────────────────────────────────────────────────────────

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

    count: Count
    blocks: dict[int, tuple[Json, int]] = field(default_factory=dict)
    """By identity; the entry keeps the block, so that its id is not reused."""


class TokenCounter:
    """Counts o200k tokens and the overhead of the wire. Usable at once; exact after `load()`.

    Each block is counted once, because blocks never change. Memory is bounded by the newest request. Not thread-safe,
    except for `load`.
    """

    def __init__(self) -> None:
        self._memo = _Memo(estimated_from_bytes)

    @property
    def loaded(self) -> bool:
        """Whether the vocabulary is in use instead of the rule of thumb."""
        return self._memo.count is not estimated_from_bytes

    def load(self) -> bool:
        """Load the vocabulary, which takes about 0.2 s; call it in a thread. Returns `loaded`, also where the file is
        missing or damaged."""
        if not self.loaded and (count := load_vocabulary()) is not None:
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


def _block(count: Count, block: Json) -> int:
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

    def refused(self, model: str, request_count: int, tokens: int) -> None:
        """Learn the size that the server named when it refused a request of `request_count` counted tokens."""
        if request_count >= self.LEAST_COUNT:
            self._ratios[model] = min(max(tokens / request_count, self.RATIO_MIN), self.RATIO_MAX)
            self._anchors[model] = _Anchor(request_count, tokens)

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
