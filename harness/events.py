"""Every fact the program reports: one small typed class each.

The stream of these events is the only output of an agent. The journal writes them down, the plain
and JSON front ends print them, the panel folds them, tests compare them. What is not an event did
not happen, and a view needs nothing but events: it shows the same thing live, while it follows
another process, and when it replays a file.

An event is frozen and holds plain values only, so that `encode` and `decode` are exact inverses.
Events marked `transient` (pieces of streamed text, hints) are shown and forgotten; the journal
keeps all others. Content blocks stay the JSON objects of the Messages API, key order and unknown
fields included, because a block that was changed is a block the API may reject (api R27).

This module imports nothing of ours; every other room may import it.
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Any, ClassVar, Literal


Json = dict[str, Any]
"""A JSON object."""
Block = dict[str, Any]
"""One content block exactly as it stands on the wire."""


# ── values that events carry ────────────────────────────────────────────────────────────────────


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
    """Tokens of one request, or of many added up. All counts are tokens."""

    input: int = 0
    """Only what stands after the last cache breakpoint (api §5.3)."""
    output: int = 0
    cache_creation: int = 0
    cache_read: int = 0

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
        )


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
    REFUSAL = "refusal"
    MALFORMED_RESPONSE = "malformed_response"
    CANCELLED = "cancelled"
    UNKNOWN = "unknown"


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
class Reply:
    """A model call that came back whole: message_stop was seen and the stop reason is known (api R13)."""

    model: str
    stop_reason: str
    content: tuple[Block, ...]
    """Complete blocks as received. The blocks of `cut_calls` are not among them."""
    calls: tuple[ToolCall, ...] = ()
    """Calls that may be run, in the order of the reply. Each has its block in `content`."""
    cut_calls: tuple[CutCall, ...] = ()
    usage: Usage = Usage()
    request_id: str | None = None

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


class TransitionCode(StrEnum):
    """Why the loop went round or ended (recovery §1.1, M1). What each means stands in `recovery.transitions`."""

    COMPLETED = "completed"
    NEXT_TURN = "next_turn"
    MAX_OUTPUT_TOKENS_ESCALATE = "max_output_tokens_escalate"
    MAX_OUTPUT_TOKENS_RECOVERY = "max_output_tokens_recovery"
    REACTIVE_COMPACT_RETRY = "reactive_compact_retry"
    PROMPT_TOO_LONG = "prompt_too_long"
    COLLAPSE_DRAIN_RETRY = "collapse_drain_retry"
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
    BUDGET_EXHAUSTED = "budget_exhausted"
    FAILURE_BUDGET_PAUSED = "failure_budget_paused"


class Origin(StrEnum):
    """Why a message stands in the history."""

    PROMPT = "prompt"
    REPLY = "reply"
    TOOL_RESULTS = "tool_results"
    CONTINUATION = "continuation"
    """Our request to go on where a cut reply ended."""
    NUDGE = "nudge"
    """Our request to use the rest of a token budget."""
    REPAIR = "repair"


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


# ── the events ──────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Event:
    """A fact. Subclasses are listed in the order in which a session meets them."""

    transient: ClassVar[bool] = False
    """True: shown and forgotten; never in the journal."""


@dataclass(frozen=True, slots=True)
class SessionStarted(Event):
    """First event of every journal."""

    session_id: str
    version: str
    workspace: str
    model: str
    endpoint: str
    """Address of the model, without credentials."""
    practice: bool
    """True: the built-in rule-based practice model answers."""
    forked_from: str | None = None


@dataclass(frozen=True, slots=True)
class SessionResumed(Event):
    """The journal was opened again."""

    version: str
    model: str
    endpoint: str
    practice: bool
    skipped_lines: int = 0
    """Lines of the journal that could not be read (recovery K1)."""
    interrupted: bool = False
    """The last turn had begun and never ended (recovery K3)."""


@dataclass(frozen=True, slots=True)
class SettingChanged(Event):
    """A setting was changed while the session ran, for example by /model."""

    name: str
    value: str


@dataclass(frozen=True, slots=True)
class Notice(Event):
    """One line for the person that no other event says."""

    level: Literal["info", "warning", "error"]
    text: str


@dataclass(frozen=True, slots=True)
class TurnStarted(Event):
    """A prompt was accepted. Turns count from 1 within a session."""

    turn: int
    prompt: str


@dataclass(frozen=True, slots=True)
class StepStarted(Event):
    """The loop goes round: one model reply and its tool calls follow. Steps count from 1 within a session."""

    step: int


@dataclass(frozen=True, slots=True)
class MessageAdded(Event):
    """A message became part of the history."""

    message: Message
    origin: Origin


@dataclass(frozen=True, slots=True)
class HistoryReplaced(Event):
    """The whole history is now this, and nothing before it counts (compaction, /clear, rewind)."""

    messages: tuple[Message, ...]
    reason: Literal["compaction", "truncation", "clear", "rewind", "thinking", "media", "repair"]


@dataclass(frozen=True, slots=True)
class HistoryRepaired(Event):
    """The check before a request found something that the API would reject, and mended the request (recovery F1)."""

    repairs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RequestSent(Event):
    """A request goes out. Every POST to the model has exactly one of these."""

    model: str
    max_tokens: int
    estimated_tokens: int
    """Size of the prompt as we estimate it."""
    attempt: int
    """1 for the first try of a request, 2 for its first retry."""
    purpose: Literal["turn", "summary"] = "turn"


@dataclass(frozen=True, slots=True)
class TextDelta(Event):
    """A piece of streamed answer text."""

    transient: ClassVar[bool] = True
    text: str


@dataclass(frozen=True, slots=True)
class ThinkingDelta(Event):
    """A piece of streamed thinking."""

    transient: ClassVar[bool] = True
    text: str


@dataclass(frozen=True, slots=True)
class ToolCallDelta(Event):
    """The model is writing a tool call."""

    transient: ClassVar[bool] = True
    name: str
    characters: int
    """Characters of input received so far."""


@dataclass(frozen=True, slots=True)
class SilenceHint(Event):
    """The model has been silent for a while (recovery G1)."""

    transient: ClassVar[bool] = True
    phase: str
    silent_s: float
    gives_up_in_s: float


@dataclass(frozen=True, slots=True)
class PartialDiscarded(Event):
    """Streamed text that was shown does not count: a fresh attempt replaces it (recovery G2)."""

    characters: int
    reason: str


@dataclass(frozen=True, slots=True)
class ReplyReceived(Event):
    """A model call came back whole."""

    model: str
    stop_reason: str
    usage: Usage
    request_id: str | None
    duration_s: float


@dataclass(frozen=True, slots=True)
class FaultOccurred(Event):
    """A model call failed."""

    fault: Fault
    model: str
    attempt: int


@dataclass(frozen=True, slots=True)
class RetryScheduled(Event):
    """The same request will be sent again (recovery L1, terminal §1)."""

    scope: Literal["model", "compaction"]
    category: FaultKind
    attempt: int
    """Number of the coming retry, from 1."""
    max_attempts: int
    delay_s: float
    retry_at: float
    """Unix time at which it goes out; a countdown is derived from this, never counted down."""
    elapsed_s: float
    """Seconds waited in this turn so far."""
    status: int | None
    request_id: str | None
    detail: str
    """Why, in one line."""


@dataclass(frozen=True, slots=True)
class RetryEnded(Event):
    """The wait for a retry is over, by time, by the user's wish, or because the turn was interrupted."""

    why: Literal["due", "asked", "interrupted"]


@dataclass(frozen=True, slots=True)
class WaitOffered(Event):
    """The server asks for a wait so long that the person decides (recovery B3)."""

    seconds: float
    until: float
    """Unix time."""
    detail: str


@dataclass(frozen=True, slots=True)
class WaitAnswered(Event):
    """What was decided about a long wait."""

    choice: Literal["wait", "switch", "stop"]


@dataclass(frozen=True, slots=True)
class ModelSwitched(Event):
    """Another model answers from here on, for the rest of this turn unless `lasting`."""

    from_model: str
    to_model: str
    reason: str
    lasting: bool = False


@dataclass(frozen=True, slots=True)
class OutputCapChanged(Event):
    """The next request asks for at most this many output tokens."""

    from_cap: int
    to_cap: int
    reason: str


@dataclass(frozen=True, slots=True)
class CompactionStarted(Event):
    """The history is about to be replaced by something shorter."""

    trigger: Literal["reactive", "auto", "manual"]
    tokens_before: int


@dataclass(frozen=True, slots=True)
class CompactionEnded(Event):
    """A compaction succeeded or failed."""

    method: Literal["summary", "truncation"]
    tokens_before: int
    tokens_after: int
    succeeded: bool
    detail: str


@dataclass(frozen=True, slots=True)
class SpendChanged(Event):
    """What the session has cost so far. Written after every request, failed or not (recovery L3)."""

    requests: int
    usage: Usage
    cost_usd: float
    retry_usage: Usage
    """The share of `usage` that failed or was thrown away."""
    retry_cost_usd: float


@dataclass(frozen=True, slots=True)
class Transition(Event):
    """Exactly one for each step: why the loop goes round or ends."""

    step: int
    code: TransitionCode
    reason: str


@dataclass(frozen=True, slots=True)
class PermissionAsked(Event):
    """A tool call waits for a person's consent."""

    call_id: str
    tool: str
    summary: str
    why: str


@dataclass(frozen=True, slots=True)
class PermissionAnswered(Event):
    """Whether the call may run, and who said so."""

    call_id: str
    tool: str
    answer: Literal["once", "always", "no"]
    by: Literal["person", "rule", "mode", "default"]
    why: str = ""


@dataclass(frozen=True, slots=True)
class ToolStarted(Event):
    """A tool runs now."""

    call_id: str
    tool: str
    summary: str
    """The call in one line, for example its command or path."""
    input: Json


@dataclass(frozen=True, slots=True)
class ToolEnded(Event):
    """A tool call is answered. Every call of a reply has exactly one of these."""

    call_id: str
    tool: str
    outcome: ToolOutcome
    summary: str
    """The result in a few words: "88 lines", "exit 1", "timed out after 30 s"."""
    duration_s: float
    detail: str = ""
    """Text to expand: the diff of an edit, the head of an output."""
    full_output: str | None = None
    """Path of the whole output, where the result was shortened."""


@dataclass(frozen=True, slots=True)
class TurnEnded(Event):
    """The turn is over; the session takes the next prompt."""

    turn: int
    code: TransitionCode
    reason: str
    """One line: what happened and, unless all is well, what to do next."""
    answer: str
    """The answer's text, continuations joined; what was kept, if the turn failed."""
    usage: Usage
    cost_usd: float
    steps: int
    requests: int
    duration_s: float


# ── to and from JSON ────────────────────────────────────────────────────────────────────────────


@cache
def _classes() -> dict[str, type[Event]]:
    return {name_of(cls): cls for cls in Event.__subclasses__()}


@cache
def name_of(cls: type[Event]) -> str:
    """The name of an event class in JSON: `RetryScheduled` is "retry_scheduled"."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__).lower()


@cache
def _adapter(cls: type[Event]) -> Any:
    from pydantic import TypeAdapter

    return TypeAdapter(cls)


def encode(event: Event) -> Json:
    """The event as a JSON object with its name under "type"."""
    return {"type": name_of(type(event)), **_adapter(type(event)).dump_python(event, mode="json")}


def decode(data: Json) -> Event:
    """The event that `encode` made `data` of; fields of a newer version are ignored.

    Raises ValueError when the name is unknown or a field does not fit.
    """
    cls = _classes().get(data.get("type", ""))
    if cls is None:
        raise ValueError(f"unknown event type {data.get('type')!r}")
    event: Event = _adapter(cls).validate_python({k: v for k, v in data.items() if k != "type"})
    return event
