"""What a server sent in answer to one request: status, headers, and the first bytes of the body with their times."""

import time
from collections.abc import Iterable
from dataclasses import dataclass

MOST_BYTES = 64 * 1024
"""Recorded bytes of a body; the others are counted."""
MOST_PIECES = 1_000


@dataclass(frozen=True, slots=True)
class RecordedResponse:
    """A response as it was handed to the socket."""

    status: int
    headers: tuple[tuple[str, str], ...]
    pieces: tuple[tuple[float, bytes], ...]
    """Pieces of the body, each with the seconds since the request."""
    omitted: int
    """Number of bytes after the recorded ones."""
    chunks: int = 0
    """Number of pieces, recorded or not."""


class ResponseRecorder:
    """Records one response; `at` is the time.monotonic() of its request."""

    def __init__(self, at: float) -> None:
        self._at = at
        self._head: tuple[int, tuple[tuple[str, str], ...]] | None = None
        self._pieces: list[tuple[float, bytes]] = []
        self._room = MOST_BYTES
        self._omitted = 0
        self._chunks = 0

    def begin(self, status: int, headers: Iterable[tuple[str, str]]) -> None:
        """Status and headers were sent."""
        self._head = status, tuple(headers)

    def add(self, data: bytes) -> None:
        """A piece of the body was sent."""
        self._chunks += 1
        kept = data[: self._room] if len(self._pieces) < MOST_PIECES else b""
        self._omitted += len(data) - len(kept)
        self._room = self._room - len(kept) if len(kept) == len(data) else 0
        if kept:
            self._pieces.append((time.monotonic() - self._at, kept))

    @property
    def response(self) -> RecordedResponse | None:
        """The response so far; None: nothing was sent."""
        if self._head is None:
            return None
        return RecordedResponse(*self._head, tuple(self._pieces), self._omitted, self._chunks)
