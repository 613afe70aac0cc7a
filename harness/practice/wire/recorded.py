"""The record of a request and of what the server sent in answer."""

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from harness.events import Json
from harness.practice.wire.replies import ScriptedReply

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


@dataclass(frozen=True, slots=True)
class RecordedRequest:
    """A request as the server saw it."""

    path: str
    """Without the query."""
    method: str
    headers: Mapping[str, str]
    """Names in lower case."""
    body: Json
    """Empty when there was none, or it was not a JSON object."""
    connection_id: int
    """Counts connections from 1; equal for requests that shared one."""
    at: float
    """time.monotonic() when its last byte had come."""


@dataclass(frozen=True, slots=True)
class RecordedExchange:
    """A request and what became of it."""

    request: RecordedRequest
    answer: str
    """A few words, for example "200", "529 overloaded_error" or "200 with reset"."""
    completed: bool
    """False: the connection ended before the answer did."""
    duration_s: float
    said: ScriptedReply | None = None
    """The reply that the server set out to give; a fault may have cut it. None: there was none."""
    scripted: tuple[int, int] | None = None
    """Number of the entry of the script that answered, from 1, and of all entries; None: no entry did."""
    response: RecordedResponse | None = None
    """What went over the socket; None: nothing, or it was not recorded."""

    def line(self) -> str:
        """The exchange in one line, without anything of the headers or the content."""
        model = self.request.body.get("model")
        where = f"{self.request.method} {self.request.path}" + (f"  {model}" if isinstance(model, str) else "")
        cut = "" if self.completed else "  (connection ended)"
        return f"{where}  {self.answer}{cut}  {self.duration_s:.3f} s"
