"""The values that events carry: messages, usage, and the two outcomes of a model call."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal

Json = dict[str, Any]
"""A JSON object."""
Block = dict[str, Any]
"""One content block exactly as it stands on the wire."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message of the conversation, in the form that is sent to the model."""

    role: Literal["user", "assistant"]
    content: tuple[Block, ...]

    @property
    def text(self) -> str:
        """The text blocks, joined."""
        return "".join(block["text"] for block in self.content if block.get("type") == "text")


@dataclass(frozen=True, slots=True)
class Usage:
    """What one request took, or many added up. Counts are tokens unless said otherwise."""

    input: int = 0
    """Only what stands after the last cache breakpoint (api §5.3)."""
    output: int = 0
    cache_creation: int = 0
    cache_read: int = 0
    cache_creation_1h: int = 0
    """Of `cache_creation`, what is kept for an hour and not for five minutes."""
    web_searches: int = 0
    """Searches that the server made."""
    thinking: int = 0
    """Of `output`, what was thought, where the server says so."""
    speed: str = ""
    """"fast" in fast mode. This and what follows is known of one request only; empty in a sum."""
    inference_geo: str = ""
    """Where the model ran, where the server says so: "us", "global"."""

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
class KnownMemory:
    """A memory as the system prompt lists it."""

    name: str
    place: str
    type: str
    description: str
    digest: str
    """Of its text."""


class FaultKind(StrEnum):
    """What kind of failure a model call ended in (recovery A1)."""

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
    """Something answers there, but not the Messages API."""
    CACHE_MARKS = "cache_marks"
    """The server takes no `cache_control`."""
    REPLY_SETTINGS = "reply_settings"
    """The server takes no `thinking` or `output_config.effort`, or not as they were sent."""
    SERVER_TOOLS = "server_tools"
    """The server or the model has no web search and fetch."""
    ANSWER_FORMAT = "answer_format"
    """The server or the model takes no `output_config.format`, or not this schema."""
    CACHE_DIAGNOSTICS = "cache_diagnostics"
    """The server takes no `diagnostics`."""
    REFUSAL = "refusal"
    MALFORMED_RESPONSE = "malformed_response"
    REPETITION = "repetition"
    """The reply repeated itself, and we cut it."""
    CANCELLED = "cancelled"
    UNKNOWN = "unknown"


OWN_EFFORT = "default"
"""In the place of an effort: the model goes by its own."""


class Effort(StrEnum):
    """How much a model puts into a reply (`output_config.effort`), from the least to the most.

    Which of them a model takes is in its card (https://platform.claude.com/docs/en/build-with-claude/effort).
    """

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    XHIGH = "xhigh"
    MAX = "max"


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call that may be run: its block was closed and its input is a whole JSON object (api R18)."""

    id: str
    name: str
    input: Json


@dataclass(frozen=True, slots=True)
class CutCall:
    """A tool call that must never run, because the reply broke off in it or its input is not a JSON object."""

    id: str
    name: str
    why: str


@dataclass(frozen=True, slots=True)
class CacheMiss:
    """Why the prompt cache could not give what the request before had put into it."""

    reason: str
    """In the server's word: "model_changed", "system_changed", "tools_changed", "messages_changed",
    "previous_message_not_found" or "unavailable"; the last two say nothing about the request."""
    tokens: int | None = None
    """About how many tokens would have been read from the cache; None: not known."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A model call that came back whole: message_stop was seen."""

    model: str
    stop_reason: str
    """As the server named it; where it named none, what the reply amounts to: "tool_use" or "end_turn"."""
    content: tuple[Block, ...]
    """Complete blocks as received. The blocks of `cut_calls` are not among them."""
    calls: tuple[ToolCall, ...] = ()
    """Calls that may be run, in the order of the reply. Each has its block in `content`."""
    cut_calls: tuple[CutCall, ...] = ()
    usage: Usage = Usage()
    request_id: str | None = None
    stop_details: Json | None = None
    """What came with the stop reason, such as the category and explanation of a refusal."""
    message_id: str = ""
    """The server's id of the message; empty: it gave none."""
    cache_miss: CacheMiss | None = None
    """How the prompt differs from that of the request before; None: it does not, or the server does not say."""

    @property
    def text(self) -> str:
        """The text blocks, joined."""
        return Message("assistant", self.content).text


@dataclass(frozen=True, slots=True)
class Fault:
    """A classified failure of a model call."""

    kind: FaultKind
    message: str
    """One line for a person, in the server's words where it gave any; holds no secret."""
    status: int | None = None
    """HTTP status; for an error event inside a stream the status it stands for (529 for overloaded_error)."""
    error_type: str | None = None
    """`error.type` of the body."""
    error_code: str | None = None
    """`error.details.error_code` of the body."""
    retry_after_s: float | None = None
    """Seconds the server asks us to wait; None when it said nothing usable."""
    should_retry: bool | None = None
    """The header x-should-retry."""
    request_id: str | None = None
    input_tokens: int | None = None
    """Size of the prompt, where the error text names it."""
    limit: int | None = None
    """The limit that was passed, in tokens, where the error text names it."""
    streamed: bool = False
    """The response had begun: a 200 stream was open when it failed."""
    kept: tuple[Block, ...] = ()
    """Blocks that were complete when the stream broke; unsigned thinking and cut tool calls are not among them."""
    calls: tuple[ToolCall, ...] = ()
    """Complete tool calls among `kept`."""
    stop_reason: str | None = None
    """The stop reason, if the stream broke after it had been sent."""
    usage: Usage = Usage()
    """What the failed attempt is known to have cost."""


Outcome = Reply | Fault


def without_unanswered(content: tuple[Block, ...]) -> tuple[Block, ...]:
    """The blocks without calls of server tools whose result is not among them: nobody but the server can answer one,
    and it does so only while nothing stands behind it."""
    answered = {block.get("tool_use_id") for block in content}
    return tuple(
        block
        for block in content
        if block.get("type") not in ("server_tool_use", "mcp_tool_use") or block.get("id") in answered
    )


def paragraphs(content: tuple[Block, ...]) -> str:
    """The text of a reply as it is read: what stands before and behind tools of the server in paragraphs of its own."""
    text, apart = "", False
    for block in content:
        if block.get("type") == "text":
            text += ("\n\n" if apart and text.strip() else "") + str(block.get("text", ""))
            apart = False
        else:
            apart = apart or str(block.get("type")).endswith(("_tool_use", "_tool_result"))
    return text


class TransitionCode(StrEnum):
    """Why the loop went round or ended (recovery §1.1, M1). What each means stands in `recovery.transitions`."""

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
"""Begins the call ids of commands that the person ran; a number follows."""
ATTACHMENT = "attach-"
"""Begins the ids of calls that read a file which a prompt names; the turn and a number follow."""


class Origin(StrEnum):
    """Why a message stands in the history."""

    PROMPT = "prompt"
    REPLY = "reply"
    TOOL_RESULTS = "tool_results"
    CONTINUATION = "continuation"
    """Our request to go on: where a cut reply ended, or with what is left of a token budget."""
    NUDGE = "nudge"
    """What the escape mechanism says to the model about a loop (resilience B20)."""
    REPAIR = "repair"
    ARRIVAL = "arrival"
    """What came of commands and agents in the background while the model did something else."""
    SHELL = "shell"
    """A command that the person ran, and what came of it."""
    HOOK = "hook"
    """What a hook of the person says to the model: an objection to the end of the turn, or something to know."""


@dataclass(frozen=True, slots=True)
class Revision:
    """What a resource holds at one moment."""

    resource: str
    """Its one name, whatever the arguments call it: for a file its path from the workspace, links resolved."""
    digest: str
    """Of the whole content."""


class ToolOutcome(StrEnum):
    """How a tool call ended."""

    OK = "ok"
    ERROR = "error"
    """The tool answered that it could not do it: a failed test, a missing file, a non-zero exit."""
    BROKEN = "broken"
    """The tool itself failed: time limit, cannot start, killed by a signal, transport (resilience Q3)."""
    INVALID = "invalid"
    """The arguments did not fit the schema, or the tool does not exist; nothing was run."""
    DENIED = "denied"
    CANCELLED = "cancelled"
    SKIPPED = "skipped"
    """Decided before it ran: its breaker is open, or the turn pauses (resilience A2)."""
