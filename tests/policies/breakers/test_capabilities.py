"""The map of what can take whose place, and the ways round a tool."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.events import Alternative, Rank, Severity
from harness.policies.breakers.capabilities import UNSURE, Capability, CapabilityMap, DeclaredAlternative, routes

NAMES = ["a", "b", "c", "d", "e"]
LOW, HIGH = Severity.LOW, Severity.HIGH


def capability(tool: str, *alternatives: DeclaredAlternative, depends_on: tuple[str, ...] = ()) -> Capability:
    """A capability entry with these values."""
    return Capability(tool, f"what {tool} does", f"do {tool} by hand", alternatives, depends_on)


@st.composite
def maps(draw: st.DrawFn) -> CapabilityMap:
    """Any map, cycles and references to itself included."""
    entries = []
    for tool in NAMES:
        others = draw(st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(Severity)), max_size=4, unique=True))
        entries.append(
            capability(tool, *(DeclaredAlternative(one, f"use {one}", f"less than {tool}", how) for one, how in others))
        )
    return CapabilityMap(entries)


def reachable(found: CapabilityMap, tool: str, viable: set[str]) -> set[str]:
    """Naive: the viable tools that are alternatives, or alternatives of alternatives that are not viable, and so on."""
    reached: set[str] = set()
    left, seen = [tool], set()
    while left:
        one = left.pop()
        if one in seen:
            continue
        seen.add(one)
        entry = found.get(one)
        for alternative in entry.alternatives if entry else ():
            if alternative.tool in viable:
                reached.add(alternative.tool)
            else:
                left.append(alternative.tool)
    return reached - {tool}


@given(maps(), st.sampled_from(NAMES), st.sets(st.sampled_from(NAMES)))
def test_on_any_map_the_ways_are_viable_ordered_and_complete(found: CapabilityMap, tool: str, viable: set[str]) -> None:
    ways = routes(found, tool, viable.__contains__)
    *through, by_hand, out = ways
    assert {way.tool for way in through} == reachable(found, tool, viable - {tool})
    assert tool not in {way.tool for way in ways}
    ranks = [way.rank for way in ways]
    assert ranks == sorted(ranks, key=list(Rank).index)
    assert (by_hand.rank, out.rank) == (Rank.MANUAL, Rank.SCOPE)
    assert by_hand.method == f"do {tool} by hand"
    assert all(way.method and way.degradation for way in ways)


@given(maps(), st.sampled_from(NAMES), st.sets(st.sampled_from(NAMES)))
def test_no_route_is_listed_twice_and_of_indirect_ones_the_shortest(
    found: CapabilityMap, tool: str, viable: set[str]
) -> None:
    """A tool may appear twice only if the file lists it twice, with two methods: these are two routes."""
    ways = [way for way in routes(found, tool, viable.__contains__) if way.tool]
    entry = found.get(tool)
    assert entry is not None
    direct = [one for one in entry.alternatives if one.tool in viable and one.tool != tool]
    named = {one.tool for one in direct}
    indirect = [way for way in ways if way.tool not in named]
    assert len(ways) == len(direct) + len(indirect)
    assert len({way.tool for way in indirect}) == len(indirect)
    for way in indirect:
        assert way.degradation.count(";") == distance(found, tool, way.tool, viable)
    assert [way.degradation.count(";") for way in indirect] == sorted(way.degradation.count(";") for way in indirect)


def distance(found: CapabilityMap, tool: str, other: str, viable: set[str]) -> int:
    """Naive: how many tools that are not viable lie between the two on the shortest way."""
    reached, steps = {tool}, 0
    while True:
        entries = [entry for one in reached if (entry := found.get(one))]
        nearer = {alternative.tool for entry in entries for alternative in entry.alternatives}
        if other in nearer:
            return steps
        reached |= nearer - viable
        steps += 1


def test_little_is_lost_first_and_the_order_of_the_file_decides_the_rest() -> None:
    found = CapabilityMap(
        [
            capability(
                "a",
                DeclaredAlternative("b", "1", "x", HIGH),
                DeclaredAlternative("c", "2", "y", LOW),
                DeclaredAlternative("d", "3", "z", LOW),
            )
        ]
    )
    ways = routes(found, "a", lambda tool: True)
    assert ways[:3] == (
        Alternative(Rank.LOW, "2", "y", "c"),
        Alternative(Rank.LOW, "3", "z", "d"),
        Alternative(Rank.HIGH, "1", "x", "b"),
    )


def test_what_takes_the_place_of_an_alternative_loses_what_both_lose() -> None:
    found = CapabilityMap(
        [
            capability("a", DeclaredAlternative("b", "use b", "the colours", LOW)),
            capability("b", DeclaredAlternative("c", "use c", "the speed", LOW)),
        ]
    )
    first, *_ = routes(found, "a", lambda tool: tool == "c")
    assert first == Alternative(Rank.HIGH, "use c", "the colours; the speed", "c")


def test_a_tool_without_an_entry_is_left_to_the_user() -> None:
    by_hand, out = routes(CapabilityMap(), "x", lambda tool: True)
    assert by_hand == Alternative(Rank.MANUAL, "ask the user for what x would have returned", "waits for the user")
    assert out.method == "do the rest without x, and report what was left out and why"
    assert out.degradation == "that part of the work"


# ── the map ─────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("entries", "problems"),
    [
        ([capability("a"), capability("b")], []),
        ([capability("a")], [("b", "")]),
        ([capability("a"), capability("b"), capability("x")], [("x", "")]),
        ([capability("a", DeclaredAlternative("a", "m")), capability("b")], [("a", "alternatives.0.tool")]),
        (
            [capability("a", DeclaredAlternative("b", "m"), DeclaredAlternative("x", "m")), capability("b")],
            [("a", "alternatives.1.tool")],
        ),
        ([capability("a", DeclaredAlternative("b", " ")), capability("b")], [("a", "alternatives.0.method")]),
        ([Capability("a", " ", "x"), capability("b")], [("a", "provides")]),
        ([Capability("a", "x", ""), capability("b")], [("a", "fallback")]),
        ([capability("a", depends_on=("b", "a")), capability("b")], [("a", "depends_on.1")]),
        ([capability("a", depends_on=("x",)), capability("b")], [("a", "depends_on.0")]),
        (
            [capability("a", DeclaredAlternative("b", "m")), capability("b", DeclaredAlternative("a", "m"))],
            [("a", "alternatives.0.tool"), ("b", "alternatives.0.tool")],
        ),
        (
            [capability("a", depends_on=("b",)), capability("b", depends_on=("a",))],
            [("a", "depends_on.0"), ("b", "depends_on.0")],
        ),
    ],
)
def test_what_is_wrong_with_a_map_and_where(entries: list[Capability], problems: list[tuple[str, str]]) -> None:
    found = CapabilityMap(entries).problems(["a", "b"])
    assert sorted((problem.tool, problem.key) for problem in found) == problems
    assert all(problem.text for problem in found)


def test_problems_say_what_to_do() -> None:
    entries = [
        capability("a", DeclaredAlternative("b", "m"), depends_on=("x",)),
        capability("b", DeclaredAlternative("a", "m"), DeclaredAlternative("b", "m")),
        Capability("y", "", "z"),
    ]
    texts = {problem.text for problem in CapabilityMap(entries).problems(["a", "b", "c"])}
    assert texts == {
        "has no entry; every tool needs one with provides and fallback",
        "names 'x', which is not a tool of this agent; there are a, b, c",
        "names the tool itself; name another one",
        "is not a tool of this agent; there are a, b, c",
        "is empty; say it in one line",
        next(text for text in texts if text.startswith("forms a cycle (")),
    }
    (cycle,) = (text for text in texts if "cycle" in text)
    assert cycle.endswith("; take one of these references out")


def test_tools_without_alternatives_are_critical() -> None:
    found = CapabilityMap([capability("a", DeclaredAlternative("b", "m")), capability("b")])
    assert found.critical == {"b"}
    assert found.get("c") is None
    assert DeclaredAlternative("b", "m").degradation == UNSURE


@pytest.mark.parametrize(
    ("description", "provides"),
    [("Search files. Slow.", "Search files"), ("Search\n  files", "Search files"), ("", "x"), ("Does it:", "Does it")],
)
def test_an_entry_can_be_derived_from_what_a_tool_says_of_itself(description: str, provides: str) -> None:
    entry = CapabilityMap().with_tool("x", description).get("x")
    assert entry == Capability("x", provides, "ask the user for what x would have returned")
