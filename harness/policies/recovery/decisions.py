"""Everything the policy can decide. The loop carries out exactly one of these at a time."""

from dataclasses import dataclass, field
from enum import StrEnum

from harness.events import Block, CutCall, FaultKind, ToolCall, TransitionCode
from harness.events.messages import without_unanswered
from harness.policies.recovery.state import TurnState


class Nudge(StrEnum):
    """What the model is asked for when its answer is to go on."""

    CUT_AT_CAP = "cut_at_cap"
    """The reply ended at the output cap."""
    BROKEN_STREAM = "broken_stream"
    """The connection broke after complete text."""
    EMPTY_REPLY = "empty_reply"
    """The reply held nothing."""
    TOKEN_BUDGET = "token_budget"
    """A part of the token budget is left."""
    REPEATED = "repeated"
    """The reply repeated itself and was cut."""
    OBJECTION = "objection"
    """A stop hook does not want the turn to end yet."""
    PAUSED = "paused"
    """The server paused its own tools, and goes on when its reply is sent back as it is."""


class Mending(StrEnum):
    """What is changed about a request before it goes out once more."""

    REPAIR = "repair"
    STRIP_THINKING = "strip_thinking"
    STRIP_MEDIA = "strip_media"
    DROP_CACHE_MARKS = "drop_cache_marks"
    DROP_REPLY_SETTINGS = "drop_reply_settings"
    DROP_SERVER_TOOLS = "drop_server_tools"
    DROP_FORMAT = "drop_format"
    DROP_DIAGNOSTICS = "drop_diagnostics"
    RELOAD_KEY = "reload_key"
    LOWER_CAP = "lower_cap"


@dataclass(frozen=True, slots=True)
class Wait:
    """A pause before a retry. It is shown, and can be cut short or ended."""

    seconds: float
    retry: int
    """Number of the coming retry of this request, from 1."""
    category: FaultKind
    most: int = 0
    """Number of the last retry that there would be if the fault stayed; 0: as many as a request has."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What happens next, and the state the turn is in then."""

    state: TurnState
    reason: str
    """One line for a person."""
    code: TransitionCode | None = field(default=None, kw_only=True)
    """Set when a step of the loop ends with this decision; None while the same request is tried again."""


@dataclass(frozen=True, slots=True)
class Resend(Decision):
    """The same request again. With a code it asks for a larger output cap, which is a step of its own."""

    wait: Wait | None = None
    fresh_connection: bool = False


@dataclass(frozen=True, slots=True)
class OfferWait(Decision):
    """The server wants a long wait. A person chooses: wait, other model, stop (recovery B3)."""

    wait: Wait
    can_switch: bool
    otherwise: "Stop"


@dataclass(frozen=True, slots=True)
class SwitchModel(Decision):
    """Ask `to_model` instead, for the rest of the turn (recovery C1-C4). With a code the model before it declined to
    answer, which is a step of its own."""

    to_model: str


@dataclass(frozen=True, slots=True)
class Mend(Decision):
    """Change one thing about the request and send it once more."""

    mending: Mending
    otherwise: "Stop"
    """What to do when there turns out to be nothing to change."""


@dataclass(frozen=True, slots=True)
class Drain(Decision):
    """Shorten old tool results, which need no model for that, and send again. Without a code it comes before a
    request."""

    tokens: int
    """Tokens to save at least."""


@dataclass(frozen=True, slots=True)
class Compact(Decision):
    """Replace the history by a summary and send again. Without a code it comes before a request."""

    prompt_tokens: int | None
    """The size that was refused, where the server named it."""
    limit: int | None
    """The limit that was passed, where the server named it."""


@dataclass(frozen=True, slots=True)
class RunTools(Decision):
    """Keep the reply and answer every tool call in it."""

    keep: tuple[Block, ...]
    calls: tuple[ToolCall, ...]
    cut_calls: tuple[CutCall, ...]
    """Calls that are answered with an error and never run."""


@dataclass(frozen=True, slots=True)
class Continue(Decision):
    """Keep what is complete and ask for the rest."""

    keep: tuple[Block, ...]
    nudge: Nudge
    wait: Wait | None = None
    objection: str = ""
    """What a stop hook says, for `Nudge.OBJECTION`."""


@dataclass(frozen=True, slots=True)
class Stop(Decision):
    """The turn ends here."""

    code: TransitionCode
    keep: tuple[Block, ...] = ()
    """Blocks of the last reply that join the history."""
    retries_spent: bool = field(default=False, kw_only=True)
    """Another retry was due, and the budget that all agents share had none left."""


def speakable(content: tuple[Block, ...]) -> tuple[Block, ...]:
    """The blocks that may end a turn: nobody will answer a tool call in them, and no message may end with thinking."""
    spoken = [block for block in without_unanswered(content) if block.get("type") != "tool_use"]
    while spoken and spoken[-1].get("type") in ("thinking", "redacted_thinking"):
        spoken.pop()
    return tuple(spoken)
