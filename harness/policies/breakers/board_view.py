"""What the checks and the table read of a board: how each key stands, and the limits that it is judged by."""

from dataclasses import dataclass
from typing import Protocol

from harness.events import DispatchLimits, Score
from harness.policies.breakers.breaker import Breaker
from harness.policies.breakers.capabilities import CapabilityMap
from harness.policies.breakers.cascade import Group


@dataclass(frozen=True, slots=True)
class Seen:
    """What the table shows of a tool besides its breaker; nothing is decided by it."""

    last_failure: float | None = None
    last_success: float | None = None
    """Unix time; None: none yet."""
    message: str = ""
    """Of the last failure."""


class BoardView(Protocol):
    """A board, as far as it is read. `board.Board` is one."""

    @property
    def step(self) -> int: ...

    @property
    def limits(self) -> DispatchLimits: ...

    @property
    def tools(self) -> tuple[str, ...]: ...

    @property
    def capabilities(self) -> CapabilityMap: ...

    def breaker(self, tool: str) -> Breaker: ...

    def scored(self, tool: str) -> Score | None: ...

    def seen(self, tool: str) -> Seen: ...

    def group_of(self, tool: str) -> Group | None: ...

    def unconfirmed(self, group: Group) -> bool: ...
