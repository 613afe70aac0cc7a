"""The choice of a path out of a cycle (docs/design/loops.md#exploration)."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

Edge = tuple[str, str]
"""Source and target."""


@dataclass(frozen=True, slots=True)
class Path:
    """A path between two places."""

    source: str
    target: str
    requires: str = ""
    """The tool that must succeed at `source` first; empty: none."""

    @property
    def edge(self) -> Edge:
        """Source and target."""
        return self.source, self.target


def choose(
    paths: Sequence[Path],
    *,
    cycle: Collection[Edge],
    used: Mapping[Edge, int],
    passed: Collection[tuple[str, str]],
    chance: float,
) -> Path | None:
    """The least recently used open path outside the cycle; None: there is none.

    Args:
        paths: the known paths, each at most once.
        cycle: the edges of the cycle.
        used: the step of the last use of each edge; others were never used.
        passed: the place and name of each tool that has succeeded since the agent reached that place.
        chance: a random number in [0, 1); decides between equally old paths.
    """
    out = [path for path in paths if path.edge not in cycle and _is_open(path, passed)]
    oldest = min((used.get(path.edge, 0) for path in out), default=0)
    equal = [path for path in out if used.get(path.edge, 0) == oldest]
    return equal[int(chance * len(equal))] if equal else None


def _is_open(path: Path, passed: Collection[tuple[str, str]]) -> bool:
    return not path.requires or (path.source, path.requires) in passed
