"""Events of a stream from its recorded pieces."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from chapters.course.stream_events import StreamEvent, stream_events

STREAM = 'event: ping\ndata: {}\n\nevent: delta\r\ndata: {"t": "日本"}\r\n\r\ndata: a\ndata: b\n\nevent: cut'.encode()


@given(st.lists(st.integers(0, len(STREAM)), max_size=12))
def test_events_do_not_depend_on_where_the_stream_was_divided(cuts: list[int]) -> None:
    places = [0, *sorted(cuts), len(STREAM)]
    pieces = [(float(end), STREAM[start:end]) for start, end in pairwise(places)]
    found = stream_events(pieces)
    assert [(one.name, one.data) for one in found] == [
        ("ping", "{}"),
        ("delta", '{"t": "日本"}'),
        ("", "a\nb"),
        ("", "event: cut"),
    ]
    assert [one.complete for one in found] == [True, True, True, False]
    assert found[0].after_s == min(place for place in places if place >= STREAM.index(b"event: delta"))


def test_an_event_has_the_time_of_its_last_byte() -> None:
    assert stream_events([(0.1, b"data: a"), (0.2, b"\n\n")]) == (StreamEvent(0.2, "", "a"),)
