"""Graphs to walk over: a ring of five places, and larger ones drawn at random."""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from random import Random

SMALLEST = 3
LARGEST = 1_000
GENERIC = "Generic"
"""The tool that can replace every other one."""


@dataclass(frozen=True, slots=True)
class Path:
    """A path between two places."""

    source: str
    target: str
    requires: str = ""
    """The tool that must succeed at `source` first; empty: none."""


@dataclass(frozen=True, slots=True)
class World:
    """A graph, the way of an agent in it, and the tools that open its paths."""

    name: str
    start: str
    goal: str
    paths: Mapping[str, tuple[Path, ...]]
    """The paths that leave each place."""
    rates: Mapping[str, float]
    """How often each tool fails, from 0 to 1."""

    @property
    def alternatives(self) -> dict[str, dict[str, str]]:
        """For each tool, its substitute and the limitation of that."""
        return {tool: {GENERIC: "its own checks"} for tool in self.rates if tool != GENERIC}

    def distances(self) -> dict[str, int]:
        """The number of paths from each place to the goal; places that cannot reach it are left out."""
        sources: dict[str, list[str]] = {}
        for path in (path for paths in self.paths.values() for path in paths):
            sources.setdefault(path.target, []).append(path.source)
        found, waiting = {self.goal: 0}, deque([self.goal])
        while waiting:
            place = waiting.popleft()
            for source in sources.get(place, ()):
                if source not in found:
                    found[source] = found[place] + 1
                    waiting.append(source)
        return found


def ring(fail_rate: float | None = None) -> World:
    """A → B → C → A, and from C over D to the goal E. ToolB opens the path to B, ToolC that to C.

    Args:
        fail_rate: of all tools; None: 0.6, 0.1 and 0.2.
    """
    paths = {
        "A": (Path("A", "B", "ToolB"),),
        "B": (Path("B", "C", "ToolC"),),
        "C": (Path("C", "A"), Path("C", "D")),
        "D": (Path("D", "E"),),
        "E": (),
    }
    return World("ring", "A", "E", paths, _rates({"ToolB": 0.6, "ToolC": 0.1, GENERIC: 0.2}, fail_rate))


def random_graph(size: int, seed: int, fail_rate: float | None = None) -> World:
    """A graph with many cycles; every place is reachable from the start.

    Args:
        size: how many places, from `SMALLEST` to `LARGEST`.
        seed: the same seed and size give the same graph.
        fail_rate: of all tools; None: each its own.
    """
    dice = Random(f"graph {size} {seed}")
    width = len(str(size - 1))
    places = [f"N{number:0{width}}" for number in range(size)]
    tools = ("", "", "ToolA", "ToolB", "ToolC")
    edges: dict[tuple[str, str], str] = {}
    for number, place in enumerate(places[1:], start=1):
        parent = places[dice.randrange(number // 2, number)]
        edges[parent, place] = dice.choice(tools)
    for number, place in enumerate(places[1:-1], start=1):
        edges.setdefault((place, places[dice.randrange(number)]), "")
        edges.setdefault((place, places[(number + dice.randrange(1, size)) % size]), dice.choice(tools))
    paths: dict[str, tuple[Path, ...]] = dict.fromkeys(places, ())
    for (source, target), tool in sorted(edges.items()):
        paths[source] += (Path(source, target, tool),)
    rates = {"ToolA": 0.1, "ToolB": 0.6, "ToolC": 0.3, GENERIC: 0.2}
    return World(f"random graph of {size} places", places[0], places[-1], paths, _rates(rates, fail_rate))


def _rates(rates: dict[str, float], fail_rate: float | None) -> dict[str, float]:
    return rates if fail_rate is None else dict.fromkeys(rates, fail_rate)
