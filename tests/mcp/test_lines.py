"""Lines of a pipe, however the pipe cuts them."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from harness.mcp.lines import LineBuffer

LONGEST = 6
DATA = st.lists(st.binary(max_size=9) | st.just(b"\n"), max_size=30).map(b"".join)


@given(data=DATA, cuts=st.lists(st.integers(0, 200)))
def test_pieces_of_any_size_give_the_lines_of_the_whole(data: bytes, cuts: list[int]) -> None:
    places = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    buffer, found = LineBuffer(LONGEST), list[bytes | None]()
    for first, last in pairwise(places):
        found += buffer.feed(data[first:last])
    *ended, rest = data.split(b"\n")
    wanted = [None if len(line) > LONGEST else line for line in ended if line.strip() or len(line) > LONGEST]
    assert found == [*wanted, *([None] if len(rest) > LONGEST else [])]


def test_a_line_that_is_too_long_is_not_kept_while_it_arrives() -> None:
    buffer = LineBuffer(LONGEST)
    assert [list(buffer.feed(b"x" * 4)) for _ in range(1_000)] == [[], [None], *[[]] * 998]
    assert list(buffer.feed(b"\nnext\n")) == [b"next"]
