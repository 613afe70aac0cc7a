"""Replies of the practice model, scripted or made by the rule-based model.

A reply is data. It names the content and the pace; the server turns it into a JSON body or into a
stream of events, gives ids to the tool calls and counts the tokens.
"""

from dataclasses import dataclass, field
from typing import Protocol

from harness.events import Block, Json


@dataclass(frozen=True, slots=True)
class TextPart:
    """A text block."""

    text: str
    citations: tuple[Json, ...] = ()
    """What it cites, as the API says it."""


@dataclass(frozen=True, slots=True)
class ThinkingPart:
    """A thinking block. The server signs it, so that a replayed block can be checked."""

    thinking: str
    signed: bool = True
    """False: the block goes out without a signature, as if it had been cut off."""
    shown: bool = True
    """False: the block goes out empty and signed, as where the display is omitted. It counts all the same."""

    @property
    def text(self) -> str:
        """What the client sees of it."""
        return self.thinking if self.shown else ""


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A tool call."""

    name: str
    input: Json = field(default_factory=dict)
    id: str | None = None
    """None: the server gives an id that is unique. A fixed id that is played twice makes an invalid history."""
    raw_input: str | None = None
    """Sent on the wire instead of `input`, character for character: invalid JSON, an array, duplicate keys."""


@dataclass(frozen=True, slots=True)
class RawBlock:
    """A block of any type, sent whole in its content_block_start."""

    block: Block


Part = TextPart | ThinkingPart | ToolUse | RawBlock


@dataclass(frozen=True, slots=True)
class CacheUse:
    """Tokens of a prompt that come from the prompt cache, and that go into it."""

    read: int = 0
    written_5m: int = 0
    """To live for five minutes."""
    written_1h: int = 0

    @property
    def written(self) -> int:
        """All that go into it."""
        return self.written_5m + self.written_1h


UNCACHED = CacheUse()
"""Nothing comes from the cache and nothing goes into it."""


@dataclass(frozen=True, slots=True)
class ReplyUsage:
    """Token counts to report instead of the counted ones. None: as counted by the server.

    With one of the three that describe the prompt, the other two are not counted: the cache counts are 0 then.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_read_input_tokens: int | None = None

    @property
    def describes_prompt(self) -> bool:
        """Says something about the prompt."""
        given = (self.input_tokens, self.cache_creation_input_tokens, self.cache_read_input_tokens)
        return any(count is not None for count in given)


@dataclass(frozen=True, slots=True)
class ScriptedReply:
    """One whole answer of the model: content in order, why it stops, and how fast it is written."""

    parts: tuple[Part, ...] = ()
    """Empty: an answer without content, which the real API also gives now and then."""
    stop_reason: str | None = None
    """None: "tool_use" when there is a tool call, else "end_turn"."""
    chunk_size: int = 40
    """Characters in one delta."""
    delay_s: float = 0.0
    """Seconds before the response headers."""
    event_delay_s: float = 0.0
    """Seconds before each event after the first."""
    usage: ReplyUsage = ReplyUsage()
    stop_sequence: str | None = None
    """The sequence that it stops at, with the stop reason "stop_sequence"."""
    stop_details: Json | None = None
    """Details of the stop reason, such as the category of a refusal."""
    tokens: int | None = None
    """Output tokens that it needs, thinking included; None: as many as its words have."""
    fills: tuple[tuple[str, str], ...] = ()
    """Names in its texts and tool inputs, written `{name}`, and the regular expressions that find their values."""

    @property
    def ending(self) -> str:
        """The stop reason as sent."""
        if self.stop_reason is not None:
            return self.stop_reason
        return "tool_use" if any(isinstance(part, ToolUse) for part in self.parts) else "end_turn"


def say(text: str) -> ScriptedReply:
    """A reply of one text block."""
    return ScriptedReply((TextPart(text),))


class ReplyModel(Protocol):
    """Something that can answer any request: the rule-based model, or a test's own."""

    def answer(self, request: Json) -> ScriptedReply:
        """The reply to a valid request body. A pure function of the body; it must not block."""
        ...
