"""Which way out of a circle is taken."""

from collections.abc import Collection, Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapters.s22_escape.graph_agents.exploration import Edge, Path, choose

RING = frozenset({("A", "B"), ("B", "C"), ("C", "A")})
TO_A, TO_D, TO_E = Path("C", "A"), Path("C", "D"), Path("C", "E")


def chosen(
    *paths: Path,
    cycle: Collection[Edge] = RING,
    used: Mapping[Edge, int] | None = None,
    passed: Collection[tuple[str, str]] = (),
    chance: float = 0.0,
) -> Path | None:
    return choose(paths, cycle=cycle, used=used or {}, passed=passed, chance=chance)


def test_the_way_out_of_the_ring_is_the_one_that_is_not_in_it() -> None:
    assert chosen(TO_A, TO_D, used={("C", "A"): 1}) == TO_D


def test_there_may_be_no_way_out() -> None:
    assert chosen() is None
    assert chosen(TO_A) is None


def test_a_way_that_was_never_used_comes_before_those_that_were() -> None:
    assert chosen(TO_D, TO_E, used={("C", "D"): 3}) == TO_E


def test_of_used_ways_the_one_used_longest_ago_is_taken() -> None:
    assert chosen(TO_D, TO_E, used={("C", "D"): 3, ("C", "E"): 9}, chance=0.99) == TO_D


@pytest.mark.parametrize(("chance", "taken"), [(0.0, TO_D), (0.49, TO_D), (0.5, TO_E), (0.999, TO_E)])
def test_chance_decides_between_equals(chance: float, taken: Path) -> None:
    assert chosen(TO_D, TO_E, chance=chance) == taken


def test_a_gate_has_to_be_passed_where_it_stands() -> None:
    gated = Path("C", "D", requires="key")
    assert chosen(gated) is None
    assert chosen(gated, passed={("C", "other")}) is None
    assert chosen(gated, passed={("B", "key")}) is None
    assert chosen(gated, passed={("C", "key")}) == gated


PLACES = st.sampled_from("ABCDE")
EDGES = st.tuples(PLACES, PLACES)
TOOLS = st.sampled_from(["", "key", "lamp"])


def oracle(
    paths: Sequence[Path], cycle: Collection[Edge], used: Mapping[Edge, int], passed: Collection[tuple[str, str]]
) -> list[Path]:
    """All ways that may be taken, found by throwing out those that may not."""
    left = list(paths)
    for path in paths:
        here = (path.source, path.target)
        barred = path.requires != "" and not any(pair == (path.source, path.requires) for pair in passed)
        if here in set(cycle) or barred:
            left.remove(path)
    for path in list(left):
        others = [used.get((other.source, other.target), 0) for other in left]
        if any(other < used.get((path.source, path.target), 0) for other in others):
            left = [one for one in left if one != path]
    return left


@given(
    paths=st.lists(st.builds(Path, PLACES, PLACES, TOOLS), unique_by=lambda path: path.edge, max_size=8),
    cycle=st.frozensets(EDGES),
    used=st.dictionaries(EDGES, st.integers(1, 5)),
    passed=st.frozensets(st.tuples(PLACES, TOOLS)),
    chance=st.floats(0, 1, exclude_max=True),
)
def test_the_way_is_one_of_those_a_naive_search_leaves(
    paths: list[Path],
    cycle: frozenset[Edge],
    used: dict[Edge, int],
    passed: frozenset[tuple[str, str]],
    chance: float,
) -> None:
    left = oracle(paths, cycle, used, passed)
    taken = choose(paths, cycle=cycle, used=used, passed=passed, chance=chance)
    assert (taken in left) if left else (taken is None)
    if left:
        places = [choose(paths, cycle=cycle, used=used, passed=passed, chance=n / len(left)) for n in range(len(left))]
        assert places == left
