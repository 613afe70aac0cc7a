"""Questions to the user: permissions, questions of the model, plans, and the consent to start many subagents."""

from dataclasses import dataclass
from typing import Literal

from harness.events.catalogue import Event

__all__ = [
    "FanOut",
    "PermissionAnswered",
    "PermissionAsked",
    "PlanHandedOver",
    "ProposedPlan",
    "QuestionAnswered",
    "QuestionAsked",
    "QuestionOption",
]


@dataclass(frozen=True, slots=True)
class PermissionAsked(Event):
    """A tool call waits for the user's permission."""

    call_id: str
    tool: str
    summary: str
    why: str
    agent: str = ""
    """Id of the subagent that made the call; empty: the main agent."""
    detail: tuple[str, ...] = ()
    """Lines shown with the question that no other event has, such as what a removal would lose."""


@dataclass(frozen=True, slots=True)
class PermissionAnswered(Event):
    """Whether the call may run, and who decided."""

    call_id: str
    tool: str
    answer: Literal["once", "always", "edits", "no"]
    """With "edits" all edits are allowed from now on: the permission mode changes."""
    by: Literal["user", "rule", "mode", "default"]
    why: str = ""


@dataclass(frozen=True, slots=True)
class QuestionOption:
    """One of the answers offered."""

    label: str
    """A few words; the answer itself."""
    description: str = ""
    """Explains it in a sentence."""


@dataclass(frozen=True, slots=True)
class FanOut:
    """The estimate shown before many subagents are started."""

    wanted: int
    """Subagents that wait to be started."""
    started: int
    """Subagents that the session has started so far."""
    allowed: int
    """Total that the session may start without another question if the answer is yes."""
    most: int
    """`max_subagents`: the total that a session may start."""
    tokens: int
    """Estimate for `wanted` subagents, input and output together."""
    cost_usd: float | None
    """Estimate for the same, in US dollars; None: the price is unknown."""
    measured: int
    """Finished subagents that the estimate averages; 0: it is an assumption."""


@dataclass(frozen=True, slots=True)
class ProposedPlan:
    """A plan that the model proposes in plan mode."""

    text: str
    """Markdown."""
    steps: tuple[str, ...] = ()
    """The steps of the checklist, in order."""


@dataclass(frozen=True, slots=True)
class QuestionAsked(Event):
    """A question waits for the user."""

    call_id: str
    """The tool call that it belongs to."""
    question: str
    options: tuple[QuestionOption, ...] = ()
    """Empty: the answer is free text. Free text is possible in any case."""
    agent: str = ""
    """Id of the subagent that asks; empty: the main agent."""
    fan_out: FanOut | None = None
    """Set where the program asks whether subagents may be started; the first option is yes."""
    plan: ProposedPlan | None = None
    """Set where the model proposes a plan. An answer in free text refuses it, with the reason."""
    hosts: tuple[str, ...] = ()
    """Set where the program asks whether a command in the sandbox may reach these hosts; the last option is no, as is
    any answer in free text, with the reason."""


@dataclass(frozen=True, slots=True)
class QuestionAnswered(Event):
    """The end of a question. A question without this event was interrupted."""

    call_id: str
    how: Literal["option", "text", "declined", "withdrawn"]
    """Withdrawn: what it was about ended before there was an answer."""
    answer: str
    """The chosen label or the user's text; empty where the question was declined or withdrawn."""
    by: Literal["user", "setting"] = "user"
    plan: ProposedPlan | None = None
    """The plan as the user edited it; None: unchanged, or no plan was asked about."""


@dataclass(frozen=True, slots=True)
class PlanHandedOver(Event):
    """The user approved a plan that a new conversation is to carry out. Its call is answered, and the turn ends."""

    prompt: str
    """The first prompt of the new conversation: the plan and the original request."""
    steps: tuple[str, ...]
    """The checklist that it begins with."""
    mode: str
    """The permission mode that it begins in."""
