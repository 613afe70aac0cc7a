"""An agent that is naive on purpose: one failure, and it keeps to the paths that it knows."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from examples.graph_agents.worlds import Path, World


@dataclass(frozen=True, slots=True)
class Memory:
    """All that the agent remembers; also its checkpoint."""

    place: str
    known: frozenset[str]
    """Places it has visited."""
    afraid: bool = False
    """Something failed: from now on it prefers paths to places it knows."""


class NaiveAgent:
    """Walks straight to the goal as long as all goes well.

    After a failed call it tries the same call again. After its first failure it trusts only places it has visited, so
    on the ring it never takes the exit. It ignores every text. Being moved, or returned to a checkpoint from before
    the failure, makes it go straight again.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        self._distances = world.distances()
        self.memory = Memory(world.start, frozenset({world.start}))

    @property
    def place(self) -> str:
        return self.memory.place

    @property
    def paths(self) -> Sequence[Path]:
        """The paths that leave its place."""
        return self._world.paths[self.place]

    def choose(self) -> Path:
        """Straight to the goal; when afraid, the first path to a place it knows, if there is one."""
        straight = min(self.paths, key=lambda path: self._distances[path.target])
        if not self.memory.afraid:
            return straight
        return next((path for path in self.paths if path.target in self.memory.known), straight)

    def go(self, path: Path) -> None:
        self.memory = replace(self.memory, place=path.target, known=self.memory.known | {path.target})

    def failed(self) -> None:
        """A tool did not open the path."""
        self.memory = replace(self.memory, afraid=True)

    def moved(self, path: Path) -> None:
        """It was moved along a path."""
        self.go(path)
        self.memory = replace(self.memory, afraid=False)
