"""The protocols of an agent and its tools.

Only `Agent` is needed: one method for the next step, and one for the current place. It calls tools through the caller
it is given, so every call is observed, the breaker is asked first, another tool can replace it, and everything can be
stopped. Further methods are optional: `Steerable` can be moved out of a cycle, `Restorable` returns to a checkpoint,
`Advisable` takes notices, `Resumable` takes the result of a retried call. No base classes are required.
"""

from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from chapters.s22_loops.graph_agents.exploration import Path
from harness.events import LoopAsked, LoopChoice
from harness.policies.loops.observations import Poll

Arguments = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Where:
    """Place of an agent."""

    node: str
    """Its place in the graph, or the task it works on."""
    state: object = None
    """Its state there, any value; None: unknown."""
    path: str = ""
    """The id of the way it is on, where it has such a thing."""
    at_goal: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of a call, for the agent that made it."""

    ok: bool
    text: str
    """The output of the tool, or its error."""
    tool: str
    """The tool that was called: after a substitution a different one than was asked for."""
    called: bool = True
    """False: the breaker of the tool is open, and nothing was run."""


class ToolFailed(Exception):  # noqa: N818 (reads better where it is raised)
    """What a tool raises when it can say more about a failure than its text. Any other exception is a failure too."""

    def __init__(self, text: str, *, status: int | None = None, code: str | None = None) -> None:
        """
        Args:
            status: of HTTP, such as 503.
            code: of the provider, such as "rate_limit_error".
        """
        super().__init__(text)
        self.status = status
        self.code = code


class Tool(Protocol):
    """Something an agent can call."""

    @property
    def name(self) -> str:
        """Unlike that of every other tool of the agent."""
        ...

    @property
    def idempotent(self) -> bool:
        """Calling it again with the same arguments does no harm; only then a failed call is made again."""
        ...

    @property
    def mutates(self) -> bool:
        """It changes something that a rollback of the agent does not bring back."""
        ...

    @property
    def poll(self) -> Poll | None:
        """The limits of a tool that is meant to be asked again and again; None: it is not."""
        ...

    def run(self, arguments: Arguments) -> Awaitable[str]:
        """Do it, and give the result as text. Raises `ToolFailed`, or any other exception, where it fails."""
        ...


class Caller(Protocol):
    """The way to the tools, as an agent is handed it."""

    def __call__(self, tool: str, arguments: Arguments) -> Awaitable[Answer]:
        """Call a tool. A failure is an answer; calls of one step may run side by side.

        Raises KeyError for a tool that does not exist, and RuntimeError when the agent has been stopped.
        """
        ...


@runtime_checkable
class Agent(Protocol):
    """An agent that can be watched."""

    def where(self) -> Where:
        """The current place."""
        ...

    def step(self, call: Caller) -> Awaitable[None]:
        """Do the next thing: call tools, move, or both."""
        ...


@runtime_checkable
class Steerable(Protocol):
    """An agent that can be moved along a path."""

    def paths(self) -> Sequence[Path]:
        """The paths from the current place."""
        ...

    def move(self, path: Path) -> Awaitable[None]:
        """Take an open path from the current place."""
        ...


@runtime_checkable
class Advisable(Protocol):
    """An agent that takes notices."""

    def advise(self, text: str) -> Awaitable[None]:
        """Take a notice."""
        ...


@runtime_checkable
class Restorable(Protocol):
    """An agent that can go back to a checkpoint."""

    def checkpoint(self) -> object:
        """Everything needed to return to the current state; never changed afterwards."""
        ...

    def restore(self, checkpoint: object) -> Awaitable[Sequence[str]]:
        """Return to a checkpoint. Returns the effects that cannot be undone, one line each."""
        ...


@runtime_checkable
class Resumable(Protocol):
    """An agent that takes a late success."""

    def resume(self, tool: str, arguments: Arguments, answer: Answer) -> Awaitable[None]:
        """A call of its last step had failed, was retried and has succeeded."""
        ...


class Person(Protocol):
    """Answers questions about a loop."""

    def decide(self, asked: LoopAsked) -> Awaitable[LoopChoice | None]:
        """The decision about a loop; None: no answer."""
        ...
