"""Which other way to take out of a circle (resilience B22)."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

Edge = tuple[str, str]
"""From which place to which."""


@dataclass(frozen=True, slots=True)
class Path:
    """A way from one place to another."""

    source: str
    target: str
    requires: str = ""
    """The tool that has to succeed at `source` before the way may be taken; empty: it is free."""

    @property
    def edge(self) -> Edge:
        """Where it leads from and to."""
        return self.source, self.target


def choose(
    paths: Sequence[Path],
    *,
    cycle: Collection[Edge],
    used: Mapping[Edge, int],
    passed: Collection[tuple[str, str]],
    chance: float,
) -> Path | None:
    """The least recently used way that is no part of the circle and that no tool bars; None: there is none.

    Args:
        paths: the ways that are known, each at most once.
        cycle: the edges that the agent goes round on.
        used: the step at which each edge was used last; an edge that is not in it was never used.
        passed: the place and the name of each tool that has succeeded since the agent came to that place.
        chance: from 0 up to but not including 1; decides between ways that were used equally long ago.
    """
    out = [path for path in paths if path.edge not in cycle and _is_open(path, passed)]
    oldest = min((used.get(path.edge, 0) for path in out), default=0)
    equal = [path for path in out if used.get(path.edge, 0) == oldest]
    return equal[int(chance * len(equal))] if equal else None


def _is_open(path: Path, passed: Collection[tuple[str, str]]) -> bool:
    return not path.requires or (path.source, path.requires) in passed
