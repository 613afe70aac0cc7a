"""What an agent and a tool have to be so that they can be watched (seed 001, section 4.3).

Only `Agent` is needed: one method that takes the next step, and one that says where the agent stands. It calls tools
through what it is handed, so that the one who watches sees every call, asks the breaker first, can put another tool in
its place, and can end it all; an agent that does nothing else is still watched and stopped (resilience B25). What more
it can do, it says by having the methods: `Steerable` is moved out of a circle, `Restorable` goes back to a checkpoint,
`Advisable` listens, `Resumable` takes the result of a call that was made again.

No base classes: whatever has these methods fits.
"""

from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from harness.events import LoopAsked, LoopChoice
from harness.policies.loops.exploration import Path
from harness.policies.loops.observations import Poll

Arguments = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Where:
    """Where an agent stands."""

    node: str
    """Its place in the graph, or the task it works on."""
    state: object = None
    """What it holds there, any value; None: not told. The same state at the same place again and again is a loop."""
    path: str = ""
    """The id of the way it is on, where it has such a thing."""
    at_goal: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of a call, for the agent that made it."""

    ok: bool
    text: str
    """What the tool gave; of a failure what is wrong."""
    tool: str
    """The tool that was called: after a substitution another one than was asked for."""
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
        """Calling it again with the same arguments does no harm; only then a failed call is made again (B21)."""
        ...

    @property
    def mutates(self) -> bool:
        """It changes something that a rollback of the agent does not bring back (B24)."""
        ...

    @property
    def poll(self) -> Poll | None:
        """The limits of a tool that is meant to be asked again and again (B10); None: it is not."""
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
        """Where it stands now."""
        ...

    def step(self, call: Caller) -> Awaitable[None]:
        """Do the next thing: call tools, move, or both. One step is what counts as one (Q1)."""
        ...


@runtime_checkable
class Steerable(Protocol):
    """An agent that can be moved along a path."""

    def paths(self) -> Sequence[Path]:
        """The ways that lead on from where it stands."""
        ...

    def move(self, path: Path) -> Awaitable[None]:
        """Take one of them, which is open. It begins where the agent stands."""
        ...


@runtime_checkable
class Advisable(Protocol):
    """An agent that can be told something."""

    def advise(self, text: str) -> Awaitable[None]:
        """Here is what was noticed; what comes of it is the agent's own affair."""
        ...


@runtime_checkable
class Restorable(Protocol):
    """An agent that can go back to a checkpoint."""

    def checkpoint(self) -> object:
        """All that it needs to stand again as it stands now; never changed afterwards."""
        ...

    def restore(self, checkpoint: object) -> Awaitable[Sequence[str]]:
        """Stand as at a checkpoint. Returns what could not be undone, a line for each (B24)."""
        ...


@runtime_checkable
class Resumable(Protocol):
    """An agent that takes a late success."""

    def resume(self, tool: str, arguments: Arguments, answer: Answer) -> Awaitable[None]:
        """A call of its last step had failed, was made again by the one who watches, and has succeeded (B21)."""
        ...


class Person(Protocol):
    """Who is asked when nothing milder is left."""

    def decide(self, asked: LoopAsked) -> Awaitable[LoopChoice | None]:
        """What to do about a loop; None: nobody is there."""
        ...
