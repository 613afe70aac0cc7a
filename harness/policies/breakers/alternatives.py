"""Alternatives to a tool that is not called, and the part of a plan that is possible without it.

Both are advice; nothing runs here. See docs/design/breakers.md#alternatives and docs/design/breakers.md#reduced-plans.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from harness.events import Alternative, Deferred, ItemStatus, PlanItem, Rank, Severity
from harness.policies.breakers.capabilities import CapabilityMap, DeclaredAlternative


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
