"""Events of a session, its turns and model calls, in the order in which they occur."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from harness.events.breakers import Failure
from harness.events.messages import (
    Denial,
    Fault,
    FaultKind,
    Json,
    KnownMemory,
    Message,
    Origin,
    Revision,
    Source,
    ToolOutcome,
    TransitionCode,
    Usage,
)

__all__ = [
    "BudgetReached",
    "CacheMissed",
    "CompactionEnded",
    "CompactionStarted",
    "Event",
    "FaultOccurred",
    "FaultOrdered",
    "HistoryRepaired",
    "HistoryReplaced",
    "MessageAdded",
    "ModelSwitched",
    "Notice",
    "OutputCapChanged",
    "OutputDelta",
    "PartialDiscarded",
    "PromptKeyed",
    "PromptListsRead",
    "ReplyReceived",
    "RequestSent",
    "RetryBudgetSpent",
    "RetryEnded",
    "RetryScheduled",
    "SessionResumed",
    "SessionStarted",
    "SettingChanged",
    "SilenceEnded",
    "SilenceHint",
    "SpendChanged",
    "StepStarted",
    "TextDelta",
    "ThinkingDelta",
    "ThinkingEnded",
    "ThinkingOmitted",
    "ToolCallDelta",
    "ToolEnded",
    "ToolStarted",
    "Transition",
    "TurnEnded",
    "TurnStarted",
    "WaitAnswered",
    "WaitOffered",
    "WebUsed",
]


@dataclass(frozen=True, slots=True)
class Event:
    """Base of all events."""

    transient: ClassVar[bool] = False
    """True: shown but not written to the journal."""


@dataclass(frozen=True, slots=True)
class SessionStarted(Event):
    """First event of every journal."""

    session_id: str
    version: str
    workspace: str
    model: str
    endpoint: str
    """Address of the model API, without credentials."""
    practice: bool
    """True: the built-in rule-based practice model answers."""
    forked_from: str | None = None
    effort: str = ""
    """Reasoning effort requested from the model; empty: the model's default."""


@dataclass(frozen=True, slots=True)
class SessionResumed(Event):
    """The journal was opened again."""

    version: str
    model: str
    endpoint: str
    practice: bool
    skipped_lines: int = 0
    """Lines of the journal that could not be read."""
    interrupted: bool = False
    """The last turn was started but not ended."""
    effort: str = ""


@dataclass(frozen=True, slots=True)
class PromptListsRead(Event):
    """The lists of skills and memories in the system prompt, as read from disk when the session began.

    A resumed session sends the same lists, so that its requests start with the same bytes; changes on disk are
    reported with the next prompt.
    """

    skills: str
    """Section of the system prompt; may be empty."""
    memory: str
    """The same for memories."""
    memories: tuple[KnownMemory, ...] = ()
    """The memories listed in it."""


@dataclass(frozen=True, slots=True)
class SettingChanged(Event):
    """A setting was changed during the session, for example by /model or /mode."""

    name: str
    value: str
    removed: bool = False
    """The value was taken from a list, such as the hosts that commands may reach."""


@dataclass(frozen=True, slots=True)
class FaultOrdered(Event):
    """The user ordered or cancelled a practice fault with /fault or /toolfault."""

    target: Literal["model", "tool"]
    order: str
    """As typed: "529 3", "grep timeout 2", or "off"."""

    @property
    def typed(self) -> str:
        """The whole command: "/fault 529 3"."""
        return f"{'/fault' if self.target == 'model' else '/toolfault'} {self.order}"


@dataclass(frozen=True, slots=True)
class Notice(Event):
    """One line for the user that no other event carries."""

    level: Literal["info", "warning", "error"]
    text: str


@dataclass(frozen=True, slots=True)
class PromptKeyed(Event):
    """The next turn belongs to a prompt with a key of its caller, which is run once however often it is asked for."""

    key: str
    digest: str
    """Of the prompt."""


@dataclass(frozen=True, slots=True)
class TurnStarted(Event):
    """A prompt was accepted. Turns count from 1 within a session."""

    turn: int
    prompt: str


@dataclass(frozen=True, slots=True)
class StepStarted(Event):
    """A step begins: one model reply and its tool calls. Steps count from 1 within a session."""

    step: int


@dataclass(frozen=True, slots=True)
class MessageAdded(Event):
    """A message was added to the history."""

    message: Message
    origin: Origin


@dataclass(frozen=True, slots=True)
class HistoryReplaced(Event):
    """The whole history was replaced (compaction, /clear, rewind)."""

    messages: tuple[Message, ...]
    reason: Literal["compaction", "truncation", "clear", "rewind", "rollback", "thinking", "media", "repair"]
    plain_until: int | None = None
    """Messages before this index are sent without thinking blocks; None: all of them."""
    turn: int = 0
    """The first turn that a rewind has taken back; 0: none, or unknown."""


@dataclass(frozen=True, slots=True)
class ThinkingOmitted(Event):
    """Earlier thinking is left out of later requests: the model cannot read it, or the server rejected it."""

    before: int | None
    """Messages before this index are sent without it; None: all messages, including later ones."""
    reason: str


@dataclass(frozen=True, slots=True)
class HistoryRepaired(Event):
    """The check before a request found something that the API would reject, and repaired it."""

    repairs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RequestSent(Event):
    """A request is sent. Every POST to the model has exactly one of these events."""

    model: str
    max_tokens: int
    estimated_tokens: int
    """Estimated size of the prompt."""
    attempt: int
    """1 for the first attempt of a request, 2 for its first retry."""
    purpose: Literal["turn", "summary"] = "turn"
    window: int = 0
    """Assumed context window of the model, in tokens; 0: unknown."""
    system_digest: str = ""
    """Digest of the system prompt. Thinking is valid only with the model, system prompt and tools of its request."""
    tools_digest: str = ""


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
class ThinkingEnded(Event):
    """A thinking block of a reply ended, shown or not."""

    duration_s: float


@dataclass(frozen=True, slots=True)
class ToolCallDelta(Event):
    """The model is writing a tool call."""

    transient: ClassVar[bool] = True
    name: str
    characters: int
    """Characters of input received so far."""


@dataclass(frozen=True, slots=True)
class WebUsed(Event):
    """The server searched the web or fetched a page for the model. Emitted when its result arrives."""

    tool: str
    """"web_search", "web_fetch"."""
    asked: str
    """The query or the address; empty where the call was part of an earlier reply."""
    outcome: str
    """The result in a few words: "3 results", "1 page", "max_uses_exceeded"."""
    failed: bool = False


@dataclass(frozen=True, slots=True)
class SilenceHint(Event):
    """The model has been silent for a while."""

    transient: ClassVar[bool] = True
    phase: str
    silent_s: float
    gives_up_in_s: float


@dataclass(frozen=True, slots=True)
class SilenceEnded(Event):
    """The model sends again after a `SilenceHint`."""

    transient: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class PartialDiscarded(Event):
    """Streamed text that was shown is void: a new attempt replaces it."""

    characters: int
    reason: str


@dataclass(frozen=True, slots=True)
class ReplyReceived(Event):
    """A model call succeeded."""

    model: str
    stop_reason: str
    usage: Usage
    request_id: str | None
    duration_s: float
    counted: int = 0
    """Tokens of request and reply together, counted locally; 0: not counted."""
    ratio: float = 0.0
    """Tokens of the model per locally counted token, as learned so far."""
    exact: bool = False
    """The local count used the vocabulary, not the number of bytes."""
    message_id: str = ""
    """Id for the cache diagnostics of the next request; empty: a summary, or the server sent none."""


@dataclass(frozen=True, slots=True)
class CacheMissed(Event):
    """The server reports why the prompt cache missed."""

    reason: str
    """As in `CacheMiss`."""
    tokens: int | None
    """Approximate number of tokens that the cache did not provide; None: unknown."""
    purpose: Literal["turn", "summary"] = "turn"


@dataclass(frozen=True, slots=True)
class FaultOccurred(Event):
    """A model call failed."""

    fault: Fault
    model: str
    attempt: int


@dataclass(frozen=True, slots=True)
class RetryScheduled(Event):
    """The same request will be sent again."""

    scope: Literal["model", "compaction"]
    category: FaultKind
    attempt: int
    """Number of the retry, from 1."""
    max_attempts: int
    delay_s: float
    retry_at: float
    """Unix time of the retry, from which countdowns are derived."""
    status: int | None
    request_id: str | None
    detail: str
    """Why, in one line."""


@dataclass(frozen=True, slots=True)
class RetryEnded(Event):
    """The wait for a retry ended: it is due, or the user asked to retry now, to switch models, or to interrupt."""

    why: Literal["due", "asked", "switched", "interrupted"]


@dataclass(frozen=True, slots=True)
class RetryBudgetSpent(Event):
    """The retry budget that all agents of the program share is exhausted: the request ends with its last error. Once a
    turn in the main conversation; in that of a subagent, each time a retry is refused."""

    requests: int
    """Requests of the turn that count: those made while subagents run."""
    retries: int
    """Retries among them."""


@dataclass(frozen=True, slots=True)
class WaitOffered(Event):
    """The server asks for a long wait; the user decides."""

    seconds: float
    until: float
    """Unix time."""
    can_switch: bool
    """A fallback model is available."""
    detail: str


@dataclass(frozen=True, slots=True)
class WaitAnswered(Event):
    """The decision about a long wait."""

    choice: Literal["wait", "switch", "stop"]


@dataclass(frozen=True, slots=True)
class ModelSwitched(Event):
    """Another model is used for the rest of the turn, or of the session if `lasting`."""

    from_model: str
    to_model: str
    reason: str
    lasting: bool = False


@dataclass(frozen=True, slots=True)
class OutputCapChanged(Event):
    """The next request has another limit of output tokens."""

    from_cap: int
    to_cap: int
    reason: str
    model: str = ""
    session_cap: int | None = None
    """Limit for `model` in the rest of the session, where the window leaves room; None: only this request changes."""


@dataclass(frozen=True, slots=True)
class CompactionStarted(Event):
    """The history is about to be shortened."""

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
    drained: tuple[str, ...] = ()
    """Ids of calls whose results were moved to files; nothing else was changed."""


@dataclass(frozen=True, slots=True)
class SpendChanged(Event):
    """Cost of the session so far. Emitted after every request, failed or not."""

    requests: int
    usage: Usage
    cost_usd: float
    retry_usage: Usage
    """Part of `usage` that failed or was discarded."""
    retry_cost_usd: float
    unpriced: int = 0
    """Requests among `requests` without a known price; `cost_usd` does not include them."""


@dataclass(frozen=True, slots=True)
class BudgetReached(Event):
    """The session has spent this share of its cost budget. Once each for 50, 80 and 100 %."""

    percent: int
    cost_usd: float
    budget_usd: float


@dataclass(frozen=True, slots=True)
class Transition(Event):
    """Why the loop continues or ends. Exactly one for each step."""

    step: int
    code: TransitionCode
    reason: str
    number: int = 0
    """Occurrence in a row, for a code with a limit; 0: not counted."""
    most: int = 0
    """Limit of occurrences in a row; 0: not counted."""


@dataclass(frozen=True, slots=True)
class ToolStarted(Event):
    """A tool was started."""

    call_id: str
    tool: str
    summary: str
    """The call in one line, such as its command or path."""
    input: Json
    profile: str = ""
    """What the sandbox holds its command to: look, work or free; empty: there is no full sandbox, or no command."""


@dataclass(frozen=True, slots=True)
class OutputDelta(Event):
    """Output of a running command, at most ten times a second and from 0.4 s after its start.

    Only for a live view: the result of the call, and `detail` in `ToolEnded`, hold the output again.
    """

    transient: ClassVar[bool] = True
    call_id: str
    """The call, or a background command that is followed: "b1"."""
    lines: tuple[str, ...]
    """Lines that have ended since the previous delta, as a terminal would show them at their end; the last ones of
    many. Of a long line only the end, after "…"."""
    open_line: str = ""
    """The line that has not ended, as it is now; replaces that of the previous delta."""
    skipped: int = 0
    """Lines between the previous delta and `lines` that are left out."""


@dataclass(frozen=True, slots=True)
class ToolEnded(Event):
    """A tool call has its result. Exactly one for each call of a reply."""

    call_id: str
    tool: str
    outcome: ToolOutcome
    summary: str
    """The result in a few words: "88 lines", "exit 1", "timed out after 30 s"."""
    duration_s: float
    detail: str = ""
    """Text to expand: the diff of an edit, the beginning of an output, a failure that `summary` cuts short."""
    full_output: str | None = None
    """Path of the complete output, where the result was shortened."""
    failure: Failure | None = None
    """Counted by the breaker; None unless the tool itself failed."""
    revision: Revision | None = None
    """Version of the file that was read or written as a whole; None: unknown."""
    detail_of: int = 0
    """Lines of the complete output where `detail` is its beginning; 0: `detail` is complete."""


@dataclass(frozen=True, slots=True)
class TurnEnded(Event):
    """The turn ended; the session accepts the next prompt."""

    turn: int
    code: TransitionCode
    reason: str
    """One line: what happened and, after a failure, what to do next."""
    answer: str
    """Text of the answer with its continuations; after a failure, the part that was kept."""
    usage: Usage
    cost_usd: float
    steps: int
    requests: int
    duration_s: float
    unpriced: int = 0
    """Requests among `requests` without a known price; `cost_usd` does not include them."""
    sources: tuple[Source, ...] = ()
    """The pages that the answer cites, without duplicates, in order."""
    denials: tuple[Denial, ...] = ()
    """Tool calls that were not allowed, also of subagents. The answer may depend on them."""
