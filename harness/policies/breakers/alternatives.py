"""The ways round a tool that is not called, best first (seed 000, step 4; A20). Advice only: nothing is run here."""

from collections.abc import Callable, Iterator

from harness.events import Rank, Route, Severity
from harness.policies.breakers.capabilities import Alternative, CapabilityMap


def routes(capabilities: CapabilityMap, tool: str, viable: Callable[[str], bool]) -> tuple[Route, ...]:
    """First what loses little, then what loses much, then the person, then leaving it out.

    Alternatives that are not viable are left out; what could take their place comes after all direct ones, and loses
    what both lose. Ends on any map, circles included.
    """
    whole, _, part = tool.partition(":")
    if part:
        return _round_a_part(capabilities, whole, part, viable)
    capability = capabilities.get(tool)
    direct = [one for one in _alternatives(capabilities, tool) if one.tool != tool and viable(one.tool)]
    low = [_route(one) for one in direct if one.severity is Severity.LOW]
    high = [_route(one) for one in direct if one.severity is Severity.HIGH]
    high += _indirect(capabilities, tool, viable, {route.tool for route in (*low, *high)})
    by_hand = capability.fallback if capability else f"ask the person for what {tool} would have given"
    return (
        *low,
        *high,
        Route(Rank.MANUAL, by_hand, "it waits for the person"),
        Route(Rank.SCOPE, f"do the rest without {tool}, and say what was left out and why", "that part of the work"),
    )


def _round_a_part(
    capabilities: CapabilityMap, tool: str, part: str, viable: Callable[[str], bool]
) -> tuple[Route, ...]:
    """The same tool without the part that fails, then what could take the place of the tool."""
    others = routes(capabilities, tool, viable)
    same = Route(Rank.HIGH, f"reach the same end without {part}, or call it by another name", f"what {part} does", tool)
    return (same, *others) if viable(tool) else others


def _indirect(
    capabilities: CapabilityMap, tool: str, viable: Callable[[str], bool], offered: set[str]
) -> Iterator[Route]:
    """Through what could take the place of alternatives that are not viable, nearest first."""
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
            yield Route(Rank.HIGH, alternative.method, degradation, alternative.tool)


def _alternatives(capabilities: CapabilityMap, tool: str) -> tuple[Alternative, ...]:
    capability = capabilities.get(tool)
    return capability.alternatives if capability else ()


def _route(alternative: Alternative) -> Route:
    return Route(Rank(alternative.severity.value), alternative.method, alternative.degradation, alternative.tool)
