"""What a worker reports, one line each, for people and for programs."""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Literal

from harness.base.clock import time_of_day
from harness.base.external_text import visible
from harness.base.secrets import Masking, without_passwords

Kind = Literal[
    "ready", "taken", "done", "failed", "given back", "lost", "note", "store away", "store back", "draining", "ended"
]


@dataclass(frozen=True, slots=True)
class WorkerEvent:
    """Something that the operator of a worker has to know."""

    at: float
    """Unix time of this machine."""
    kind: Kind
    text: str = ""
    task: str = ""
    """Id of the task; empty: it is about the worker."""
    fence: int = 0
    """The start of the task."""

    @property
    def line(self) -> str:
        start = f" {self.task} (start {self.fence})" if self.task else ""
        text = " ".join(self.text.split())
        return visible(f"{time_of_day(self.at)}  {self.kind}{start}{f': {text}' if text else ''}")

    @property
    def json(self) -> str:
        return json.dumps(asdict(self))

    def masked(self, masking: Masking) -> "WorkerEvent":
        """Without keys and passwords."""
        text = masking.text(without_passwords(self.text))
        return WorkerEvent(self.at, self.kind, text, self.task, self.fence)


Report = Callable[[WorkerEvent], None]
