"""What a profile grants to a path, beside a naive reading of its four lists."""

from hypothesis import given
from hypothesis import strategies as st

from harness.sandbox import Access, Allowance, Profile, ProfileName

NAMES = st.lists(st.sampled_from("abc"), max_size=4)
PATHS = NAMES.map(lambda names: "/" + "/".join(names))
LISTS = st.lists(PATHS, max_size=4, unique=True).map(tuple)


def naive(profile: Profile, path: str) -> Access:
    """Every path of the four lists that covers it; the longest wins, and of the same one the later list."""
    lists = ((profile.readable, 1), (profile.writable, 2), (profile.read_only, 1), (profile.hidden, 0))
    covering = [
        (len(one), place, access)
        for place, (paths, access) in enumerate(lists)
        for one in paths
        if path == one or path.startswith(one if one == "/" else f"{one}/")
    ]
    return Access(max(covering)[2]) if covering else Access.NONE


@given(LISTS, LISTS, LISTS, LISTS, PATHS)
def test_the_longest_path_decides(
    readable: tuple[str, ...], writable: tuple[str, ...], read_only: tuple[str, ...], hidden: tuple[str, ...], path: str
) -> None:
    profile = Profile(ProfileName.WORK, readable, writable, read_only, hidden)
    assert profile.access(path) is naive(profile, path)


@given(LISTS, LISTS)
def test_an_allowance_is_beyond_another_where_no_path_of_that_covers_it(
    mine: tuple[str, ...], others: tuple[str, ...]
) -> None:
    found = Allowance(mine, ("a:1", "b")).beyond(Allowance(others, ("b", "c")))
    covered = {one for one in mine for other in others if f"{one}/".startswith(f"{other.rstrip('/')}/")}
    assert found == Allowance(tuple(one for one in mine if one not in covered), ("a:1",))
