"""What a server remembers: the requests it saw and what became of them."""

from collections.abc import Mapping
from dataclasses import dataclass

from harness.events import Json
from harness.practice.replies import ScriptedReply


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
class Exchange:
    """A request and what became of it."""

    request: RecordedRequest
    answer: str
    """A few words, for example "200", "529 overloaded_error" or "200 with reset"."""
    completed: bool
    """False: the connection ended before the answer did."""
    duration_s: float
    said: ScriptedReply | None = None
    """The reply that the server set out to give; a fault may have cut it. None: there was none."""

    def line(self) -> str:
        """The exchange in one line, without anything of the headers or the content."""
        model = self.request.body.get("model")
        where = f"{self.request.method} {self.request.path}" + (f"  {model}" if isinstance(model, str) else "")
        cut = "" if self.completed else "  (connection ended)"
        return f"{where}  {self.answer}{cut}  {self.duration_s:.3f} s"
