"""An agent that is naive on purpose: one failure, and it goes round and round on the ways it knows."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from chapters.s22_loops.graph_agents.exploration import Path
from chapters.s22_loops.graph_agents.protocols import Answer, Arguments, Caller, Where
from chapters.s22_loops.graph_agents.worlds import World


@dataclass(frozen=True, slots=True)
class Mind:
    """All that the agent remembers."""

    node: str
    known: frozenset[str]
    """The places it has been to."""
    afraid: bool = False
    """Something failed. From now on it takes a way it knows wherever there is one."""


class NaiveAgent:
    """Walks straight to the goal as long as all goes well.

    A tool that fails keeps it where it is, and it tries the very same again. After its first failure it trusts only
    places where it has been: on the ring of the seed it then passes by the way out for ever. It listens to nothing.
    Only to be moved, or to be put back to a time before the failure, gives it new courage.
    """

    def __init__(self, world: World) -> None:
        self._paths = world.paths
        self._goal = world.goal
        self._distances = world.distances()
        self._mind = Mind(world.start, frozenset({world.start}))

    def where(self) -> Where:
        """Where it stands now."""
        return Where(self._mind.node, at_goal=self._mind.node == self._goal)

    async def step(self, call: Caller) -> None:
        """Open the next way, if it has to be opened, and take it."""
        path = self._next()
        if path.requires:
            answer = await call(path.requires, {"place": path.target})
            if not answer.ok:
                self._mind = replace(self._mind, afraid=True)
                return
        self._go(path)

    def paths(self) -> Sequence[Path]:
        """The ways that lead on from where it stands."""
        return self._paths[self._mind.node]

    async def move(self, path: Path) -> None:
        """Go where it is told to, and think afresh from there."""
        self._go(path)
        self._mind = replace(self._mind, afraid=False)

    async def advise(self, text: str) -> None:
        """Hear it, and go on as before."""

    def checkpoint(self) -> object:
        """What it remembers now."""
        return self._mind

    async def restore(self, checkpoint: object) -> Sequence[str]:
        """Remember only this; nothing it does has to be undone. Raises TypeError for a checkpoint of another agent."""
        if not isinstance(checkpoint, Mind):
            raise TypeError(f"{checkpoint!r} is no checkpoint of this agent")
        self._mind = checkpoint
        return ()

    async def resume(self, tool: str, arguments: Arguments, answer: Answer) -> None:
        """The way that it could not open is open now: take it."""
        path = next(path for path in self.paths() if (path.requires, path.target) == (tool, arguments["place"]))
        self._go(path)

    def _next(self) -> Path:
        """Straight to the goal; when afraid, the first way to a place it knows, if there is one."""
        paths = self._paths[self._mind.node]
        straight = min(paths, key=lambda path: self._distances[path.target])
        if not self._mind.afraid:
            return straight
        return next((path for path in paths if path.target in self._mind.known), straight)

    def _go(self, path: Path) -> None:
        self._mind = replace(self._mind, node=path.target, known=self._mind.known | {path.target})
