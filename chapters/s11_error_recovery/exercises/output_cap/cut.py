"""What to do with a reply that was cut. Two functions are missing; TASK.md says what they have to do."""

from dataclasses import dataclass
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
    """The state of a turn."""

    raised_cap: int | None = None
    """Asked for in the place of DEFAULT_CAP."""
    continuations: int = 0
    """Times in a row that the model was asked for the rest."""


@dataclass(frozen=True, slots=True)
class Reply:
    """The outcome."""

    cut: bool
    """Its stop reason is max_tokens."""
    calls: int = 0
    """How many tool calls in it are whole."""
    cut_call: bool = False
    """It ends in the middle of a tool call."""


def cap_of(turn: Turn, most: int) -> int:
    """How many tokens the next request asks for. `most` is what the model can answer at most."""
    # ── your part begins ─────────────────────────────────────────────
    return most
    # ── your part ends ───────────────────────────────────────────────


def decide(turn: Turn, reply: Reply, most: int) -> tuple[Turn, Step]:
    """The state of the turn after a reply, and what to do next."""
    # ── your part begins ─────────────────────────────────────────────
    return turn, Step.DONE
    # ── your part ends ───────────────────────────────────────────────
