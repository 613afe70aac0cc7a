"""What went over the socket is recorded, up to a limit."""

import time

from harness.practice.response_recorder import MOST_BYTES, ResponseRecorder


def test_the_first_bytes_are_kept_and_the_others_counted() -> None:
    assert ResponseRecorder(0.0).response is None
    recorder = ResponseRecorder(time.monotonic())
    recorder.begin(200, [("content-type", "text/plain")])
    for piece in (b"a" * (MOST_BYTES - 1), b"bcd", b"e"):
        recorder.add(piece)
    response = recorder.response
    assert response is not None
    assert b"".join(data for _, data in response.pieces) == b"a" * (MOST_BYTES - 1) + b"b"
    assert response.omitted == 3
    times = [at for at, _ in response.pieces]
    assert times == sorted(times)
