"""What each tool provides, which tools can replace it (docs/design/breakers.md#capability-map), and the part of a plan
that is possible without one.

All of it is advice; nothing runs here (docs/design/breakers.md#alternatives, docs/design/breakers.md#reduced-plans).
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from types import MappingProxyType

from harness.events import Alternative, Deferred, ItemStatus, PlanItem, Rank, Severity

UNSURE = "unknown; test it before relying on it"
"""Loss of an alternative that declares none: it is kept and marked, not left out."""


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
    """The mistake and its correction, as the end of a sentence."""


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
        """The map with an entry derived from what a tool says of itself: nothing takes its place but a user."""
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
        yield from _cycle(alternatives, "alternatives.{}.tool")
        yield from _cycle(depends_on, "depends_on.{}")


def _cycle(references: Mapping[str, list[str]], key: str) -> Iterator[CapabilityProblem]:
    """The first cycle of references between entries: a problem at each of them."""
    others = {tool: [name for name in names if name != tool] for tool, names in references.items()}
    try:
        TopologicalSorter(others).prepare()
    except CycleError as error:
        cycle: list[str] = error.args[1][::-1]
        text = f"forms a cycle ({' → '.join(cycle)}); take one of these references out"
        for tool, name in pairwise(cycle):
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


def routes(capabilities: CapabilityMap, tool: str, viable: Callable[[str], bool]) -> tuple[Alternative, ...]:
    """Alternatives to `tool`: small loss first, then large loss, then the user, then leaving it out.

    A tool that is not viable is left out. Its own alternatives come after all direct ones and lose what both lose.
    Terminates on any map, including cyclic ones.
    """
    whole, _, part = tool.partition(":")
    if part:
        return _round_a_part(capabilities, whole, part, viable)
    capability = capabilities.get(tool)
    direct = [one for one in _alternatives(capabilities, tool) if one.tool != tool and viable(one.tool)]
    low = [_route(one) for one in direct if one.severity is Severity.LOW]
    high = [_route(one) for one in direct if one.severity is Severity.HIGH]
    high += _indirect(capabilities, tool, viable, {route.tool for route in (*low, *high)})
    by_hand = capability.fallback if capability else f"ask the user for what {tool} would have returned"
    return (
        *low,
        *high,
        Alternative(Rank.MANUAL, by_hand, "waits for the user"),
        Alternative(
            Rank.SCOPE, f"do the rest without {tool}, and report what was left out and why", "that part of the work"
        ),
    )


def _round_a_part(
    capabilities: CapabilityMap, tool: str, part: str, viable: Callable[[str], bool]
) -> tuple[Alternative, ...]:
    """The same tool without the failing part, then alternatives to the tool."""
    others = routes(capabilities, tool, viable)
    same = Alternative(
        Rank.HIGH, f"reach the same end without {part}, or call it by another name", f"what {part} does", tool
    )
    return (same, *others) if viable(tool) else others


def _indirect(
    capabilities: CapabilityMap, tool: str, viable: Callable[[str], bool], offered: set[str]
) -> Iterator[Alternative]:
    """Alternatives to the alternatives that are not viable, nearest first."""
    seen = {tool}
    left = [(one, "") for one in _alternatives(capabilities, tool)]
    while left:
        alternative, lost = left.pop(0)
        if alternative.tool in seen:
            continue
        seen.add(alternative.tool)
        if not viable(alternative.tool):
            both = "; ".join(filter(None, (lost, alternative.degradation)))
            left += [(one, both) for one in _alternatives(capabilities, alternative.tool)]
        elif lost and alternative.tool not in offered:
            degradation = f"{lost}; {alternative.degradation}"
            yield Alternative(Rank.HIGH, alternative.method, degradation, alternative.tool)


def _alternatives(capabilities: CapabilityMap, tool: str) -> tuple[DeclaredAlternative, ...]:
    capability = capabilities.get(tool)
    return capability.alternatives if capability else ()


def _route(alternative: DeclaredAlternative) -> Alternative:
    return Alternative(Rank(alternative.severity.value), alternative.method, alternative.degradation, alternative.tool)


@dataclass(frozen=True, slots=True)
class ReducedPlan:
    """A plan in three parts, each in the order of the plan."""

    done: tuple[PlanItem, ...] = ()
    kept: tuple[PlanItem, ...] = ()
    """Not done yet, and possible."""
    deferred: tuple[Deferred, ...] = ()

    @property
    def nothing_left(self) -> bool:
        """Something is left to do, and all of it is deferred."""
        return bool(self.deferred) and not self.kept


def reduced(
    items: Sequence[PlanItem], usable: Callable[[str], bool], reason: Callable[[str], tuple[str, str]]
) -> ReducedPlan:
    """The plan, reduced to the items that are possible. An item that declares no tools is possible.

    Args:
        items: the whole plan.
        usable: whether the effect of a tool is available now, from the tool itself or from an alternative.
        reason: for an unusable tool, the reason and what would unblock it. Neither is empty.
    """
    done, kept, deferred = [], [], []
    for item in items:
        missing = [tool for tool in dict.fromkeys(item.tools) if not usable(tool)]
        if item.status is ItemStatus.DONE:
            done.append(item)
        elif missing:
            reasons, unblocks = zip(*map(reason, missing), strict=True)
            deferred.append(Deferred(item, _joined(reasons), _joined(unblocks)))
        else:
            kept.append(item)
    return ReducedPlan(tuple(done), tuple(kept), tuple(deferred))


def _joined(texts: Sequence[str]) -> str:
    """Each text once, so that one reason for several tools is given once."""
    return "; ".join(dict.fromkeys(texts))
