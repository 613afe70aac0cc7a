"""Messages, token usage, and the two outcomes of a model call: `Reply` and `Fault`."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal

__all__ = [
    "ADDED_FOLDER",
    "ATTACHMENT",
    "OWN_COMMAND",
    "OWN_EFFORT",
    "Block",
    "CacheMiss",
    "CutCall",
    "Denial",
    "Effort",
    "Fault",
    "FaultKind",
    "Json",
    "KnownMemory",
    "Message",
    "Origin",
    "Outcome",
    "Reply",
    "Revision",
    "Source",
    "ToolCall",
    "ToolOutcome",
    "TransitionCode",
    "Usage",
]

Json = dict[str, Any]
"""A JSON object."""
Block = dict[str, Any]
"""One content block, exactly as on the wire."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message of the conversation, as sent to the model."""

    role: Literal["user", "assistant"]
    content: tuple[Block, ...]

    @property
    def text(self) -> str:
        """The text blocks, joined."""
        return "".join(block["text"] for block in self.content if block.get("type") == "text")

    @property
    def typed(self) -> str:
        """What the user typed: the last text. Facts about the folder and attached files precede it."""
        return next((str(block.get("text", "")) for block in reversed(self.content) if block.get("type") == "text"), "")


@dataclass(frozen=True, slots=True)
class Usage:
    """Usage of one request, or the sum of several. Numbers are tokens unless stated otherwise."""

    input: int = 0
    """Input tokens after the last cache breakpoint."""
    output: int = 0
    cache_creation: int = 0
    cache_read: int = 0
    cache_creation_1h: int = 0
    """Part of `cache_creation` that is cached for an hour instead of five minutes."""
    web_searches: int = 0
    """Number of web searches by the server."""
    thinking: int = 0
    """Part of `output` that is thinking, where the server reports it."""
    speed: str = ""
    """"fast" in fast mode; empty in a sum."""
    inference_geo: str = ""
    """Where the model ran: "us", "global"; empty in a sum, or where the server does not report it."""

    @property
    def prompt(self) -> int:
        """All tokens of the prompt, cached or not."""
        return self.input + self.cache_creation + self.cache_read

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.input + other.input,
            self.output + other.output,
            self.cache_creation + other.cache_creation,
            self.cache_read + other.cache_read,
            self.cache_creation_1h + other.cache_creation_1h,
            self.web_searches + other.web_searches,
            self.thinking + other.thinking,
        )

    def __sub__(self, other: "Usage") -> "Usage":
        return Usage(
            self.input - other.input,
            self.output - other.output,
            self.cache_creation - other.cache_creation,
            self.cache_read - other.cache_read,
            self.cache_creation_1h - other.cache_creation_1h,
            self.web_searches - other.web_searches,
            self.thinking - other.thinking,
        )


@dataclass(frozen=True, slots=True)
class Source:
    """A page that an answer cites."""

    url: str
    title: str = ""


@dataclass(frozen=True, slots=True)
class Denial:
    """A tool call that did not run, because it was not allowed."""

    call_id: str
    tool: str
    input: Json
    why: str


@dataclass(frozen=True, slots=True)
class KnownMemory:
    """A memory as the system prompt lists it."""

    name: str
    place: str
    type: str
    description: str
    digest: str
    """Of its text."""


class FaultKind(StrEnum):
    """Kind of failure of a model call."""

    OVERLOADED = "overloaded"
    RATE_LIMIT = "rate_limit"
    QUOTA_EXHAUSTED = "quota_exhausted"
    SERVER = "server"
    TIMEOUT = "timeout"
    NETWORK = "network"
    STALE_SOCKET = "stale_socket"
    TLS = "tls"
    AUTH = "auth"
    BILLING = "billing"
    PROMPT_TOO_LONG = "prompt_too_long"
    MAX_TOKENS_OVERFLOW = "max_tokens_overflow"
    REQUEST_TOO_LARGE = "request_too_large"
    MEDIA = "media"
    SIGNATURE = "signature"
    HISTORY_INVALID = "history_invalid"
    MODEL_NOT_FOUND = "model_not_found"
    WRONG_ADDRESS = "wrong_address"
    """The server does not provide the Messages API."""
    CACHE_MARKS = "cache_marks"
    """The server does not accept `cache_control`."""
    REPLY_SETTINGS = "reply_settings"
    """The server does not accept `thinking` or `output_config.effort`, or these values of them."""
    SERVER_TOOLS = "server_tools"
    """The server or the model does not support web search and fetch."""
    ANSWER_FORMAT = "answer_format"
    """The server or the model does not accept `output_config.format`, or this schema."""
    TEXT_AFTER_RESULTS = "text_after_results"
    """The server does not accept text of the user behind tool results."""
    CACHE_DIAGNOSTICS = "cache_diagnostics"
    """The server does not accept `diagnostics`."""
    REFUSAL = "refusal"
    MALFORMED_RESPONSE = "malformed_response"
    REPETITION = "repetition"
    """The reply repeated itself and was cut off by us."""
    CANCELLED = "cancelled"
    UNKNOWN = "unknown"


OWN_EFFORT = "default"
"""Setting value for the default effort of the model."""
ADDED_FOLDER = "added folder"
"""Setting name of a further folder that tools may use like the workspace."""


class Effort(StrEnum):
    """Reasoning effort (`output_config.effort`), from least to most. A model's card lists those it supports.

    https://platform.claude.com/docs/en/build-with-claude/effort
    """

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    XHIGH = "xhigh"
    MAX = "max"


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A complete tool call that may run: its block was closed and its input is a JSON object."""

    id: str
    name: str
    input: Json


@dataclass(frozen=True, slots=True)
class CutCall:
    """A tool call that must not run: the reply broke off inside it, or its input is not a JSON object."""

    id: str
    name: str
    why: str
    whole: bool = False
    """It did not break off; its form is wrong."""


@dataclass(frozen=True, slots=True)
class CacheMiss:
    """Why the prompt cache missed what the previous request had stored."""

    reason: str
    """As the server names it: "model_changed", "system_changed", "tools_changed", "messages_changed",
    "previous_message_not_found" or "unavailable"; the last two are not about the request."""
    tokens: int | None = None
    """Approximate number of tokens that the cache did not provide; None: unknown."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A complete reply: the stream reached message_stop."""

    model: str
    stop_reason: str
    """As the server named it; otherwise derived: "tool_use" or "end_turn"."""
    content: tuple[Block, ...]
    """Complete blocks as received, without those of `cut_calls`."""
    calls: tuple[ToolCall, ...] = ()
    """Calls that may run, in order. Each has its block in `content`."""
    cut_calls: tuple[CutCall, ...] = ()
    usage: Usage = Usage()
    request_id: str | None = None
    stop_details: Json | None = None
    """Details of the stop reason, such as the category and explanation of a refusal."""
    message_id: str = ""
    """The server's id of the message; may be empty."""
    cache_miss: CacheMiss | None = None
    """Why the prompt cache missed; None: it did not, or the server does not report it."""

    @property
    def text(self) -> str:
        """The text blocks, joined."""
        return Message("assistant", self.content).text


@dataclass(frozen=True, slots=True)
class Fault:
    """A classified failure of a model call."""

    kind: FaultKind
    message: str
    """One line for the user, from the server where possible; contains no secret."""
    status: int | None = None
    """HTTP status; for an error event inside a stream, the equivalent status (529 for overloaded_error)."""
    error_type: str | None = None
    """`error.type` of the body."""
    error_code: str | None = None
    """`error.details.error_code` of the body."""
    retry_after_s: float | None = None
    """Seconds that the server asks to wait; None: nothing usable."""
    should_retry: bool | None = None
    """The header x-should-retry."""
    request_id: str | None = None
    input_tokens: int | None = None
    """Size of the prompt in tokens, where the error text states it."""
    limit: int | None = None
    """The exceeded limit in tokens, where the error text states it."""
    streamed: bool = False
    """The response had started: a 200 stream was open when it failed."""
    unreachable: bool = False
    """There is no server at the address: its name does not resolve, or its port is closed."""
    unsent: bool = False
    """No request went out: other sessions hold the endpoint (docs/design/admission.md#request-limit)."""
    kept: tuple[Block, ...] = ()
    """Blocks that were complete when the stream broke, without unsigned thinking and cut tool calls."""
    calls: tuple[ToolCall, ...] = ()
    """Complete tool calls among `kept`."""
    stop_reason: str | None = None
    """The stop reason, if it was sent before the stream broke."""
    usage: Usage = Usage()
    """Usage of the failed attempt, as far as known."""


Outcome = Reply | Fault


def without_unanswered(content: tuple[Block, ...]) -> tuple[Block, ...]:
    """The blocks without calls of server tools that lack a result. Only the server can supply the result, and only
    while nothing follows the call."""
    answered = {block.get("tool_use_id") for block in content}
    return tuple(
        block
        for block in content
        if block.get("type") not in ("server_tool_use", "mcp_tool_use") or block.get("id") in answered
    )


def paragraphs(content: tuple[Block, ...]) -> str:
    """The text of a reply, with a paragraph break wherever a server tool ran."""
    text, apart = "", False
    for block in content:
        if block.get("type") == "text":
            text += ("\n\n" if apart and text.strip() else "") + str(block.get("text", ""))
            apart = False
        else:
            apart = apart or str(block.get("type")).endswith(("_tool_use", "_tool_result"))
    return text


class TransitionCode(StrEnum):
    """Why the loop continued or ended. docs/transitions.md describes each code."""

    COMPLETED = "completed"
    NEXT_TURN = "next_turn"
    MAX_OUTPUT_TOKENS_ESCALATE = "max_output_tokens_escalate"
    MAX_OUTPUT_TOKENS_EFFORT = "max_output_tokens_effort"
    MAX_OUTPUT_TOKENS_RECOVERY = "max_output_tokens_recovery"
    REACTIVE_COMPACT_RETRY = "reactive_compact_retry"
    PROMPT_TOO_LONG = "prompt_too_long"
    COLLAPSE_DRAIN_RETRY = "collapse_drain_retry"
    REFUSAL_FALLBACK = "refusal_fallback"
    MODEL_ERROR = "model_error"
    IMAGE_ERROR = "image_error"
    ABORTED_STREAMING = "aborted_streaming"
    ABORTED_TOOLS = "aborted_tools"
    STOP_HOOK_BLOCKING = "stop_hook_blocking"
    STOP_HOOK_PREVENTED = "stop_hook_prevented"
    HOOK_STOPPED = "hook_stopped"
    TOKEN_BUDGET_CONTINUATION = "token_budget_continuation"
    BLOCKING_LIMIT = "blocking_limit"
    MAX_TURNS = "max_turns"
    API_ERROR = "api_error"
    COMPACTION_THRASH = "compaction_thrash"
    MALFORMED_TOOL_USE = "malformed_tool_use"
    EMPTY_ANSWER = "empty_answer"
    MAX_OUTPUT_TOKENS_EXHAUSTED = "max_output_tokens_exhausted"
    BUDGET_EXHAUSTED = "budget_exhausted"
    FAILURE_BUDGET_PAUSED = "failure_budget_paused"
    LOOP_STOPPED = "loop_stopped"
    WAIT_LIMIT = "wait_limit"


OWN_COMMAND = "shell-"
"""Prefix of call ids of commands that the user ran; a number follows."""
ATTACHMENT = "attach-"
"""Prefix of call ids that read a file named in a prompt; the turn, the text and a number follow."""


class Origin(StrEnum):
    """Why a message was added to the history."""

    PROMPT = "prompt"
    REPLY = "reply"
    TOOL_RESULTS = "tool_results"
    CONTINUATION = "continuation"
    """Asks the model to continue a cut reply, or to use the rest of a token budget."""
    NUDGE = "nudge"
    """Tells the model about a loop."""
    REPAIR = "repair"
    ARRIVAL = "arrival"
    """Notifications of background commands and subagents."""
    SHELL = "shell"
    """A command that the user ran, and its result."""
    STEERING = "steering"
    """A text that the user gave to the running turn."""
    HOOK = "hook"
    """Text of a user hook: an objection to the end of the turn, or context."""
    MAIL = "mail"
    """Mail of a member, one block for each message."""


@dataclass(frozen=True, slots=True)
class Revision:
    """The content of a resource at one moment."""

    resource: str
    """Its canonical name: for a file, its path relative to the workspace, with links resolved."""
    digest: str
    """Digest of the whole content."""


class ToolOutcome(StrEnum):
    """How a tool call ended."""

    OK = "ok"
    ERROR = "error"
    """The tool worked and reports a failure: a failed test, a missing file, a non-zero exit."""
    BROKEN = "broken"
    """The tool itself failed: time limit, cannot start, killed by a signal, transport."""
    INVALID = "invalid"
    """The arguments do not match the schema, or the tool does not exist; nothing ran."""
    DENIED = "denied"
    CANCELLED = "cancelled"
    SKIPPED = "skipped"
    """Not run: its breaker is open, or the turn pauses."""
