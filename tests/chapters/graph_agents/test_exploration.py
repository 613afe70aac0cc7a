"""Which way out of a circle is taken."""

from collections.abc import Collection, Mapping, Sequence

from hypothesis import given
from hypothesis import strategies as st

from chapters.s22_loops.graph_agents.exploration import Edge, Path, choose

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
