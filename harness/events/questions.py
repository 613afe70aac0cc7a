"""Questions to the user that are no permission: one of the model, and the one before many subagents are started."""

from dataclasses import dataclass
from typing import Literal

from harness.events.catalogue import Event


@dataclass(frozen=True, slots=True)
class QuestionOption:
    """One answer on offer."""

    label: str
    """A few words; the answer itself."""
    description: str = ""
    """What it means, in a sentence."""


@dataclass(frozen=True, slots=True)
class FanOut:
    """What it would take to start many subagents."""

    wanted: int
    """Subagents that wait to be started."""
    started: int
    """Those that the session has started before."""
    allowed: int
    """Those that the session may have started, all together, without another question if the answer is yes."""
    most: int
    """`max_agents`: those that a session may start at all."""
    tokens: int
    """Estimate for `wanted` of them, input and output together."""
    cost_usd: float | None
    """Estimate for the same, in US dollars; None: the price is not known."""
    measured: int
    """Subagents of the session whose average the estimate is; 0: it rests on an assumption."""


@dataclass(frozen=True, slots=True)
class QuestionAsked(Event):
    """A question waits for the user."""

    call_id: str
    """The tool call that it belongs to."""
    question: str
    options: tuple[QuestionOption, ...] = ()
    """Empty: the answer is free text. An answer in other words is possible in any case."""
    agent: str = ""
    """Id of the subagent that asks; empty: the agent the user talks to."""
    fan_out: FanOut | None = None
    """Set where the program asks whether subagents may be started; the first option is yes."""


@dataclass(frozen=True, slots=True)
class QuestionAnswered(Event):
    """The end of a question. A question without one was interrupted."""

    call_id: str
    how: Literal["option", "text", "declined"]
    answer: str
    """The label that was chosen, or the user's words; empty where the question was declined."""
    by: Literal["user", "setting"] = "user"
