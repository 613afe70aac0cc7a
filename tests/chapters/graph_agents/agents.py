"""Agents and tools of others: they know nothing of ours but the protocols."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from chapters.s22_loops.graph_agents.exploration import Path
from chapters.s22_loops.graph_agents.protocols import Answer, Arguments, Caller, Where
from harness.events import LoopAsked, LoopChoice
from harness.policies.loops.observations import Poll


@dataclass
class ScriptedTool:
    """Does what a function says."""

    name: str
    does: Callable[[Arguments], str]
    idempotent: bool = True
    mutates: bool = False
    poll: Poll | None = None
    ran: list[Arguments] = field(default_factory=list)

    async def run(self, arguments: Arguments) -> str:
        self.ran.append(arguments)
        return self.does(arguments)


def refuses(arguments: Arguments) -> str:
    """What every call of a broken service does."""
    raise ConnectionRefusedError("connection refused")


class Circling:
    """Goes round over some places forever and calls nothing. It can do nothing but take steps."""

    def __init__(self, places: str) -> None:
        self.places = places
        self.steps = 0

    def where(self) -> Where:
        return Where(self.places[self.steps % len(self.places)])

    async def step(self, call: Caller) -> None:
        self.steps += 1


class Calling:
    """Stays where it is and calls the same tool with the same arguments forever."""

    def __init__(self, tool: str, arguments: Arguments | None = None) -> None:
        self.tool = tool
        self.arguments = arguments or {}
        self.answers: list[Answer] = []
        self.caller: Caller | None = None

    def where(self) -> Where:
        return Where("here")

    async def step(self, call: Caller) -> None:
        self.caller = call
        self.answers.append(await call(self.tool, self.arguments))


class Deaf(Calling):
    """Has every ability and makes use of none."""

    told: int = 0

    def paths(self) -> Sequence[Path]:
        return (Path("here", "there"),)

    async def move(self, path: Path) -> None:
        self.told += 1

    async def advise(self, text: str) -> None:
        self.told += 1

    def checkpoint(self) -> object:
        return None

    async def restore(self, checkpoint: object) -> Sequence[str]:
        self.told += 1
        return ()

    async def resume(self, tool: str, arguments: Arguments, answer: Answer) -> None:
        self.told += 1


class Decides:
    """A person who gives these answers, one after the other; None: nobody was there."""

    def __init__(self, *answers: LoopChoice | None) -> None:
        self.answers = list(answers)
        self.asked: list[LoopAsked] = []

    async def decide(self, asked: LoopAsked) -> LoopChoice | None:
        self.asked.append(asked)
        return self.answers.pop(0)
