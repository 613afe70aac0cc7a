"""What to do with a reply that was cut."""

from dataclasses import dataclass, replace
from enum import Enum, auto

DEFAULT_CAP = 8_000
RAISED_CAP = 64_000
CONTINUATIONS = 3
"""How often in a row the model is asked for the rest."""


class Step(Enum):
    """What follows a reply."""

    DONE = auto()
    """The reply is the answer."""
    ANSWER_CALLS = auto()
    """Keep it, run the calls that are whole, answer the one that was cut with an error, and ask again."""
    AGAIN = auto()
    """Throw it away, and send the same request with a larger cap."""
    GO_ON = auto()
    """Keep it, and ask for the rest."""
    GIVE_UP = auto()
    """Keep it, and end the turn."""


@dataclass(frozen=True, slots=True)
class Turn:
    """Where a turn stands."""

    raised_cap: int | None = None
    """Asked for in the place of DEFAULT_CAP."""
    continuations: int = 0
    """Times in a row that the model was asked for the rest."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back."""

    cut: bool
    """Its stop reason is max_tokens."""
    calls: int = 0
    """How many tool calls in it are whole."""
    cut_call: bool = False
    """It ends in the middle of a tool call."""


def cap_of(turn: Turn, most: int) -> int:
    """How many tokens the next request asks for. `most` is what the model can answer at most."""
    return min(turn.raised_cap or DEFAULT_CAP, most)


def decide(turn: Turn, reply: Reply, most: int) -> tuple[Turn, Step]:
    """Where the turn stands after a reply, and what to do with it."""
    has_calls = reply.calls > 0 or reply.cut_call
    if not reply.cut:
        whole = replace(turn, continuations=0)
        return whole, Step.ANSWER_CALLS if has_calls else Step.DONE
    larger = min(RAISED_CAP, most)
    if larger > cap_of(turn, most):
        return replace(turn, raised_cap=larger), Step.AGAIN
    if turn.continuations >= CONTINUATIONS:
        return turn, Step.GIVE_UP
    counted = replace(turn, continuations=turn.continuations + 1)
    return counted, Step.ANSWER_CALLS if has_calls else Step.GO_ON
