"""The tokens of the next request, part by part."""

import json
from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from harness.engine.core import AgentCore
from harness.engine.model.calls import ModelCalls
from harness.events import Block, Json, Message
from harness.journal import CompactionCounts
from harness.model.media import MEDIA_TYPES, nested
from harness.model.prompt import Instructions, PromptSection
from harness.policies.recovery.compaction import CompactionThresholds, thresholds

SYSTEM, TOOLS = "system prompt", "tool schemas"
PROMPTS, REPLIES, RESULTS, DRAINED = "prompts", "replies", "tool results", "drained results"
MEDIA = "images and PDF"


@dataclass(frozen=True, slots=True)
class ContextPart:
    """One kind of text in a request."""

    name: str
    tokens: int
    count: int | None = None
    """How many there are; None: it is one text."""


@dataclass(frozen=True, slots=True)
class ContextUse:
    """What fills the window, and what happens when it is nearly full. All sizes are in tokens, and estimates."""

    parts: tuple[ContextPart, ...]
    tokens: int
    """The parts together."""
    window: int
    levels: CompactionThresholds
    automatic: bool
    """The history is shortened without being asked for."""
    gave_up: bool
    """Automatic compaction is off after three failures in a row."""
    shortenings: CompactionCounts

    @property
    def answer(self) -> int:
        """Tokens reserved for the answer."""
        return self.window - self.levels.usable

    @property
    def free(self) -> int:
        """Tokens left for the conversation, at least 0."""
        return max(0, self.levels.usable - self.tokens)


@dataclass(frozen=True, slots=True)
class PromptPart:
    """A section of the system prompt, or the schemas of all tools."""

    name: str
    text: str
    tokens: int
    sources: tuple[str, ...] = ()
    """The files it was made from."""


class ContextReport:
    """How full the context window of one conversation is."""

    def __init__(
        self,
        core: AgentCore,
        calls: ModelCalls,
        sections: Sequence[PromptSection],
        *,
        gave_up: bool,
    ) -> None:
        """
        Args:
            sections: of the system prompt.
            gave_up: automatic compaction is off after failures.
        """
        self._conversation = core.conversation
        self._calls = calls
        self._limits = core.limits
        self._sections = sections
        self._instructions = core.shared.instructions
        self._model = core.choice.model
        self._gave_up = gave_up

    @property
    def size(self) -> tuple[int, int]:
        """Estimated tokens of the next request, and the window of the model."""
        situation = self._calls.situation(self._model)
        return situation.prompt_tokens, situation.window

    @property
    def usage(self) -> ContextUse:
        """What fills the window, and what happens when it is nearly full."""
        calls, conversation, limits = self._calls, self._conversation, self._limits
        situation, messages, shortenings = (
            calls.situation(self._model),
            conversation.messages,
            conversation.state.shortenings,
        )
        parts = parts_of_request(
            messages,
            shortenings.drained,
            system=calls.count(Message("user", calls.system)),
            together=calls.counted(messages),
            estimate=situation.prompt_tokens,
            count=calls.count,
        )
        window, full = situation.window, thresholds(situation.window, situation.max_output)
        levels = limits.compact_at.applied(full, window)
        return ContextUse(parts, situation.prompt_tokens, window, levels, limits.compaction, self._gave_up, shortenings)

    def too_long(self, prompt: str) -> str:
        """Why a prompt cannot be sent even with an empty history, in one sentence; empty: it can."""
        situation = self._calls.situation(self._model)
        usable = thresholds(situation.window, situation.max_output).usable
        if len(prompt) < usable or (tokens := self._calls.count_text(prompt)) <= usable:
            return ""
        return (
            f"The prompt has about {tokens:,} tokens, and {self._model} takes {usable:,} beside its answer; name a "
            "file with the text, which is read in parts, or choose a model with a larger window."
        )

    @property
    def prompt_parts(self) -> tuple[PromptPart, ...]:
        """What precedes the conversation in every request."""
        return prompt_parts(self._sections, self._instructions, self._calls.tools, self._calls.count_text)


def prompt_parts(
    sections: Iterable[PromptSection],
    instructions: Iterable[Instructions],
    specs: Iterable[Json],
    count: Callable[[str], int],
) -> tuple[PromptPart, ...]:
    """The sections that are not empty, the tools, and those of each MCP server; `count` gives the tokens of a text."""
    files = {"instructions": tuple(file.path for file in instructions)}
    texts = {section.name: text for section in sections if (text := section.text.strip())}
    groups: dict[str, list[str]] = {TOOLS: []}
    for spec in specs:
        prefix, _, name = spec["name"].partition("__")
        part = f"MCP server {name.partition('__')[0]}" if prefix == "mcp" and name else TOOLS
        groups.setdefault(part, []).append(json.dumps(spec, ensure_ascii=False))
    texts |= {part: "\n".join(schemas) for part, schemas in groups.items()}
    return tuple(PromptPart(name, text, count(text), files.get(name, ())) for name, text in texts.items())


def parts_of_request(
    messages: Sequence[Message],
    drained: AbstractSet[str],
    *,
    system: int,
    together: int,
    estimate: int,
    count: Callable[[Message], int],
) -> tuple[ContextPart, ...]:
    """The parts of a request; their tokens add up to `estimate`.

    Args:
        drained: ids of the calls whose results point to a file.
        system: counted tokens of the system prompt.
        together: counted tokens of the request. What no other part has is the tools.
        estimate: its size in tokens of the model.
        count: counted tokens of a message.
    """
    counted = dict.fromkeys((PROMPTS, MEDIA, REPLIES, RESULTS, DRAINED), 0)
    number = dict.fromkeys(counted, 0)
    for message in messages:
        blocks: dict[str, list[Block]] = {}
        for block in message.content:
            media = [part for part in nested(block) if part.get("type") in MEDIA_TYPES]
            text = {**block, "content": [part for part in nested(block) if part not in media]} if media else block
            blocks.setdefault(_kind(message, text, drained), []).append(text)
            for part in media:
                blocks.setdefault(MEDIA, []).append(part)
        for kind, some in blocks.items():
            counted[kind] += count(Message(message.role, tuple(some)))
            number[kind] += len(some) if kind in (RESULTS, DRAINED, MEDIA) else 1
    rest = max(0, together - system - sum(counted.values()))
    sizes = {SYSTEM: system, TOOLS: rest, **counted}
    numbers = {SYSTEM: None, TOOLS: None, **number}
    shares = _scaled(list(sizes.values()), estimate)
    return tuple(ContextPart(name, tokens, numbers[name]) for name, tokens in zip(sizes, shares, strict=True))


def _kind(message: Message, block: Block, drained: AbstractSet[str]) -> str:
    if block.get("type") in MEDIA_TYPES:
        return MEDIA
    if block.get("type") == "tool_result":
        return DRAINED if block.get("tool_use_id") in drained else RESULTS
    return PROMPTS if message.role == "user" else REPLIES


def _scaled(sizes: Sequence[int], total: int) -> list[int]:
    """Whole numbers in the proportion of `sizes` whose sum is `total`."""
    whole, done, shares = max(1, sum(sizes)), 0, []
    seen = 0
    for size in sizes:
        seen += size
        upto = round(total * seen / whole)
        shares.append(upto - done)
        done = upto
    return shares
