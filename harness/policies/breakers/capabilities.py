"""What each tool provides, and which tools can replace it (docs/design/breakers.md#capability-map)."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from types import MappingProxyType

from harness.events import Severity

UNSURE = "unknown; test it before relying on it"
"""What is lost by an alternative of which nobody has said so: it is kept and marked, not left out."""


@dataclass(frozen=True, slots=True)
class DeclaredAlternative:
    """Another tool that can replace one."""

    tool: str
    method: str
    """What to do with it, in one line."""
    degradation: str = UNSURE
    """The loss."""
    severity: Severity = Severity.HIGH


@dataclass(frozen=True, slots=True)
class Capability:
    """One tool."""

    tool: str
    provides: str
    """In one line."""
    fallback: str
    """What to do by hand when no tool is left."""
    alternatives: tuple[DeclaredAlternative, ...] = ()
    """In the order in which they are to be tried, within one severity."""
    depends_on: tuple[str, ...] = ()
    """Tools without which it cannot work."""


@dataclass(frozen=True, slots=True)
class CapabilityProblem:
    """An error in a capability map, and where it is."""

    tool: str
    """The tool whose entry it is in; of a missing entry the tool it is missing for."""
    key: str
    """Path of the key within the entry, such as "alternatives.0.tool"; empty: the entry itself."""
    text: str
    """What is wrong and what would be right, as the end of a sentence."""


class CapabilityMap:
    """The capabilities of an agent's tools."""

    def __init__(self, capabilities: Iterable[Capability] = ()) -> None:
        """A later entry for the same tool replaces an earlier one."""
        self._capabilities: Mapping[str, Capability] = MappingProxyType({one.tool: one for one in capabilities})
        self.critical = frozenset(one.tool for one in self._capabilities.values() if not one.alternatives)
        """Tools that no other can take the place of."""

    @property
    def capabilities(self) -> tuple[Capability, ...]:
        """All entries."""
        return tuple(self._capabilities.values())

    def get(self, tool: str) -> Capability | None:
        """The entry of a tool."""
        return self._capabilities.get(tool)

    def with_tool(self, name: str, description: str) -> "CapabilityMap":
        """The map with an entry derived from what a tool says of itself: nothing takes its place but a person."""
        first, _, _ = " ".join(description.split()).partition(". ")
        derived = Capability(name, first.rstrip(".:") or name, f"ask the user for what {name} would have returned")
        return CapabilityMap((*self.capabilities, derived))

    def problems(self, known: Collection[str]) -> tuple[CapabilityProblem, ...]:
        """Everything that is wrong with the map for an agent with the tools `known`."""
        missing = (
            CapabilityProblem(tool, "", "has no entry; every tool needs one with provides and fallback")
            for tool in known
            if tool not in self._capabilities
        )
        each = (problem for one in self.capabilities for problem in _problems_of(one, known))
        return (*missing, *each, *self._circles())

    def _circles(self) -> Iterator[CapabilityProblem]:
        alternatives = {one.tool: [other.tool for other in one.alternatives] for one in self.capabilities}
        depends_on = {one.tool: list(one.depends_on) for one in self.capabilities}
        yield from _circle(alternatives, "alternatives.{}.tool")
        yield from _circle(depends_on, "depends_on.{}")


def _circle(references: Mapping[str, list[str]], key: str) -> Iterator[CapabilityProblem]:
    """The first circle in which entries refer to each other: a problem at each of its references."""
    others = {tool: [name for name in names if name != tool] for tool, names in references.items()}
    try:
        TopologicalSorter(others).prepare()
    except CycleError as error:
        circle: list[str] = error.args[1][::-1]
        text = f"forms a cycle ({' → '.join(circle)}); take one of these references out"
        for tool, name in pairwise(circle):
            yield CapabilityProblem(tool, key.format(references[tool].index(name)), text)


def _problems_of(capability: Capability, known: Collection[str]) -> Iterator[CapabilityProblem]:
    tool = capability.tool
    if tool not in known:
        yield CapabilityProblem(tool, "", f"is not a tool of this agent; {_hint(tool, known)}")
    for key in ("provides", "fallback"):
        if not getattr(capability, key).strip():
            yield CapabilityProblem(tool, key, "is empty; say it in one line")
    for number, alternative in enumerate(capability.alternatives):
        yield from _reference(tool, f"alternatives.{number}.tool", alternative.tool, known)
        if not alternative.method.strip():
            yield CapabilityProblem(tool, f"alternatives.{number}.method", "is empty; say in one line what to do")
    for number, name in enumerate(capability.depends_on):
        yield from _reference(tool, f"depends_on.{number}", name, known)


def _reference(tool: str, key: str, name: str, known: Collection[str]) -> Iterator[CapabilityProblem]:
    if name == tool:
        yield CapabilityProblem(tool, key, "names the tool itself; name another one")
    elif name not in known:
        yield CapabilityProblem(tool, key, f"names {name!r}, which is not a tool of this agent; {_hint(name, known)}")


def _hint(name: str, known: Collection[str]) -> str:
    near = get_close_matches(name, known, n=1, cutoff=0.6)
    return f"perhaps {near[0]} was meant" if near else f"there are {', '.join(sorted(known))}"
