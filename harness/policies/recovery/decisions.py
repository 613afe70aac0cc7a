"""The decisions of the recovery policy. The engine carries out exactly one at a time."""

from dataclasses import dataclass, field
from enum import StrEnum

from harness.events import Block, CutCall, FaultKind, ToolCall, TransitionCode
from harness.events.messages import without_unanswered
from harness.policies.recovery.state import TurnState
from harness.policies.recovery.transitions import Remedy


class Nudge(StrEnum):
    """Why the model is asked to continue."""

    CUT_AT_CAP = "cut_at_cap"
    """The reply ended at the output cap."""
    BROKEN_STREAM = "broken_stream"
    """The connection broke after complete text."""
    EMPTY_REPLY = "empty_reply"
    """The reply held nothing."""
    NO_CALL = "no_call"
    """The reply ended as one that calls a tool, and held no call."""
    TOKEN_BUDGET = "token_budget"
    """A part of the token budget is left."""
    REPEATED = "repeated"
    """The reply repeated itself and was cut."""
    OBJECTION = "objection"
    """A stop hook does not want the turn to end yet."""
    STEERED = "steered"
    """The user added a text, which the model reads next."""
    PAUSED = "paused"
    """The server paused its own tools and continues when its reply is sent back unchanged."""


@dataclass(frozen=True, slots=True)
class RetryWait:
    """A wait before a retry. It is shown, and can be shortened or ended."""

    seconds: float
    retry: int
    """Number of the coming retry of this request, from 1."""
    category: FaultKind
    most: int = 0
    """Number of the last retry if the fault stays; 0: as many as a request has."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What happens next, and the state after it."""

    state: TurnState
    reason: str
    """One line for the user."""
    code: TransitionCode | None = field(default=None, kw_only=True)
    """Set if a step ends with this decision; None while the same request is retried."""


@dataclass(frozen=True, slots=True)
class Resend(Decision):
    """The same request again. With a code it has a larger output cap, which is a step of its own."""

    wait: RetryWait | None = None
    fresh_connection: bool = False


@dataclass(frozen=True, slots=True)
class OfferWait(Decision):
    """The server wants a long wait. The user chooses: wait, other model, stop (docs/design/recovery.md#retry-after)."""

    wait: RetryWait
    can_switch: bool
    otherwise: "Stop"


@dataclass(frozen=True, slots=True)
class SwitchModel(Decision):
    """Ask `to_model` for the rest of the turn (docs/design/recovery.md#fallback). With a code the model before declined
    to answer, which is a step of its own."""

    to_model: str


@dataclass(frozen=True, slots=True)
class Repair(Decision):
    """Change one thing about the request and send it again."""

    remedy: Remedy
    otherwise: "Stop"
    """The decision if there is nothing to change."""


@dataclass(frozen=True, slots=True)
class Drain(Decision):
    """Shorten old tool results, which needs no model, and send again. Without a code it comes before a request."""

    tokens: int
    """Tokens to save at least."""


@dataclass(frozen=True, slots=True)
class Compact(Decision):
    """Replace the history with a summary and send again. Without a code it comes before a request."""

    prompt_tokens: int | None
    """The size that was refused, if the server named it."""
    limit: int | None
    """The limit that was exceeded, if the server named it."""
    only_cut: bool = False
    """A summary was not enough: cut the history by half, without a model."""


@dataclass(frozen=True, slots=True)
class RunTools(Decision):
    """Keep the reply and answer every tool call in it."""

    keep: tuple[Block, ...]
    calls: tuple[ToolCall, ...]
    cut_calls: tuple[CutCall, ...]
    """Calls that are answered with an error and never run."""

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The reply as the history keeps it; its cut calls have no input."""
        cut: list[Block] = [{"type": "tool_use", "id": cut.id, "name": cut.name, "input": {}} for cut in self.cut_calls]
        return (*self.keep, *cut)


@dataclass(frozen=True, slots=True)
class Continue(Decision):
    """Keep the complete blocks and ask for the rest."""

    keep: tuple[Block, ...]
    nudge: Nudge
    wait: RetryWait | None = None
    objection: str = ""
    """The objection of a stop hook, for `Nudge.OBJECTION`."""


@dataclass(frozen=True, slots=True)
class Stop(Decision):
    """The turn ends."""

    code: TransitionCode
    keep: tuple[Block, ...] = ()
    """Blocks of the last reply that join the history."""
    retries_spent: bool = field(default=False, kw_only=True)
    """Another retry was due, but the shared retry budget was used up."""


def speakable(content: tuple[Block, ...]) -> tuple[Block, ...]:
    """The blocks that may end a turn: without tool calls, which would stay unanswered, and without thinking last."""
    spoken = [block for block in without_unanswered(content) if block.get("type") != "tool_use"]
    while spoken and spoken[-1].get("type") in ("thinking", "redacted_thinking"):
        spoken.pop()
    return tuple(spoken)
