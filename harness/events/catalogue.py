"""The events themselves, in the order in which a session meets them."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from harness.events.breakers import Failure
from harness.events.messages import (
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
    effort: str = ""
    """What the model is to put into its replies; empty: what is its own."""


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
    effort: str = ""


@dataclass(frozen=True, slots=True)
class PromptListsRead(Event):
    """The lists of skills and memories in the system prompt, as read from the disk when the session began.

    A resumed session sends the same lists, so that its requests begin with the same bytes, and reports what has changed
    on the disk beside the next prompt.
    """

    skills: str
    """The section of the system prompt; empty: there is none."""
    memory: str
    """The same for memories."""
    memories: tuple[KnownMemory, ...] = ()
    """What the section on memories was made of."""


@dataclass(frozen=True, slots=True)
class SettingChanged(Event):
    """A setting was changed while the session ran, for example by /model or /mode."""

    name: str
    value: str


@dataclass(frozen=True, slots=True)
class FaultOrdered(Event):
    """The person broke something on purpose, with /fault or /toolfault, or called it off."""

    target: Literal["model", "tool"]
    order: str
    """As it is typed: "529 3", "grep timeout 2", or "off"."""

    @property
    def typed(self) -> str:
        """The whole command: "/fault 529 3"."""
        return f"{'/fault' if self.target == 'model' else '/toolfault'} {self.order}"


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
    reason: Literal["compaction", "truncation", "clear", "rewind", "rollback", "thinking", "media", "repair"]
    plain_until: int | None = None
    """Messages before this index are sent without thinking blocks; None: all of them."""


@dataclass(frozen=True, slots=True)
class ThinkingOmitted(Event):
    """Earlier thinking is left out of all later requests: it cannot be read in them, or the server refused it."""

    before: int | None
    """Messages before this index are sent without it; None: every message, also later ones."""
    reason: str


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
    window: int = 0
    """Context window of the model in tokens, as we believe it; 0: unknown."""
    system_digest: str = ""
    """Of the system prompt. Thinking is bound to the model, the system prompt and the tools of its request."""
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
    """A thinking block of a reply is over, also one of which nothing was shown."""

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
    """The server searched the web or read a page for the model. Reported when its result arrives."""

    tool: str
    """"web_search", "web_fetch"."""
    asked: str
    """The query or the address; empty where it came with an earlier reply."""
    outcome: str
    """What came of it, in a few words: "3 results", "1 page", "max_uses_exceeded"."""
    failed: bool = False


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
    counted: int = 0
    """Tokens of request and reply together, by our own count; 0: not counted."""
    ratio: float = 0.0
    """Tokens of the model for one token of our own count, as learned so far."""
    exact: bool = False
    """Our own count was made with the vocabulary, not from the number of bytes."""
    message_id: str = ""
    """What the next request is compared with; empty: a summary, or the server gave none."""


@dataclass(frozen=True, slots=True)
class CacheMissed(Event):
    """The server says why the prompt cache could not give what the request before had put into it."""

    reason: str
    """As in `CacheMiss`."""
    tokens: int | None
    """About how many tokens would have been read from the cache; None: not known."""
    purpose: Literal["turn", "summary"] = "turn"


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
    """The wait for a retry is over, by time, by the user's wish to try again or to ask another model, or because the
    turn was interrupted."""

    why: Literal["due", "asked", "switched", "interrupted"]


@dataclass(frozen=True, slots=True)
class RetryBudgetSpent(Event):
    """The retries that all agents of the program share are used up: the request ends with its last error. In the
    conversation of the user once a turn, in that of a subagent each time one of its retries is refused."""

    requests: int
    """Requests of the turn that were counted: those made while subagents were at work."""
    retries: int
    """Retries of them."""


@dataclass(frozen=True, slots=True)
class WaitOffered(Event):
    """The server asks for a wait so long that the person decides (recovery B3)."""

    seconds: float
    until: float
    """Unix time."""
    can_switch: bool
    """A fallback model could be asked instead."""
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
    model: str = ""
    session_cap: int | None = None
    """What `model` is asked for in the rest of the session, where the window leaves room; None: only this request
    changes."""


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
    drained: tuple[str, ...] = ()
    """Ids of the calls whose results now point to a file that holds the whole of them; all else stayed as it was."""


@dataclass(frozen=True, slots=True)
class SpendChanged(Event):
    """What the session has cost so far. Written after every request, failed or not (recovery L3)."""

    requests: int
    usage: Usage
    cost_usd: float
    retry_usage: Usage
    """The share of `usage` that failed or was thrown away."""
    retry_cost_usd: float
    unpriced: int = 0
    """Requests among `requests` without a known price; what they cost is not in `cost_usd`."""


@dataclass(frozen=True, slots=True)
class BudgetReached(Event):
    """The session has spent this share of its cost budget. Reported once for 50, 80 and 100 %."""

    percent: int
    cost_usd: float
    budget_usd: float


@dataclass(frozen=True, slots=True)
class Transition(Event):
    """Exactly one for each step: why the loop goes round or ends."""

    step: int
    code: TransitionCode
    reason: str
    number: int = 0
    """Which time in a row, for a code that is allowed only so often; 0: it is not counted."""
    most: int = 0
    """How often in a row it is allowed; 0: it is not counted."""


@dataclass(frozen=True, slots=True)
class PermissionAsked(Event):
    """A tool call waits for a person's consent."""

    call_id: str
    tool: str
    summary: str
    why: str
    agent: str = ""
    """Id of the subagent whose call it is; empty: the agent the person talks to."""


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
    failure: Failure | None = None
    """What its breaker counts; None for every outcome that says nothing against the tool (resilience A5)."""
    revision: Revision | None = None
    """What a file holds that was read as a whole, or holds now that it was changed; None: not known."""
    detail_of: int = 0
    """Lines of the whole output of which `detail` is the beginning; 0: `detail` is all there is to show."""


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
    unpriced: int = 0
    """Requests among `requests` without a known price; what they cost is not in `cost_usd`."""
    sources: tuple[Source, ...] = ()
    """The pages that the answer cites, each once, in order."""
