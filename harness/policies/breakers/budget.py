"""The failure budget: how many failures one cycle may cost, over all tools (seed 000, step 7).

A cycle is a turn of the user, or the time since a session was resumed. Failures are charged to their root:
several tools that fail from one cause cost as much as the one that failed most, and only one failure once the
cause is known to be systemic (A11). A failure of unknown cause is a root of its own tool.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from harness.events import Failure, LoggedFailure

KEPT = 200
"""Failures of a cycle that are kept with their texts."""


@dataclass(frozen=True, slots=True)
class Budget:
    """What a cycle has cost so far."""

    total: int = 5
    counts: Mapping[tuple[str, str], int] = field(default_factory=lambda: MappingProxyType({}))
    """Failures by root and tool. The root is a signature; it is empty for a failure of unknown cause."""
    systemic: frozenset[str] = frozenset()
    """Roots that cost one failure and no more."""
    exhausted: bool = False
    """The budget was used up in this cycle. It stays so, also where a common cause is found afterwards."""
    log: tuple[LoggedFailure, ...] = ()
    not_logged: int = 0

    @property
    def consumed(self) -> int:
        """Failures charged: the sum over the roots (A11)."""
        worst: dict[str, int] = {}
        unknown = 0
        for (root, _), count in self.counts.items():
            if not root:
                unknown += count
            elif root in self.systemic:
                worst[root] = 1
            else:
                worst[root] = max(worst.get(root, 0), count)
        return unknown + sum(worst.values())

    @property
    def caution(self) -> bool:
        """The next failure may be the last one."""
        return self.consumed >= self.total - 1

    def charged(self, tool: str, failure: Failure, step: int) -> "Budget":
        """The budget after one more failure. What fails in parts of a tool, such as "bash:npm", is charged to the tool:
        two programs that are missing are not missing from one cause."""
        key = failure.signature, tool.partition(":")[0]
        counts = {**self.counts, key: self.counts.get(key, 0) + 1}
        log = (*self.log, LoggedFailure(step, tool, failure))
        not_logged = self.not_logged + max(0, len(log) - KEPT)
        return replace(self, counts=counts, log=log[-KEPT:], not_logged=not_logged)._checked()

    def one_cause(self, root: str) -> "Budget":
        """The budget once the failures of `root` are known to be one event."""
        return replace(self, systemic=self.systemic | {root})

    def of(self, total: int) -> "Budget":
        """The same failures against another total. Only a larger one can end the pause."""
        return replace(self, total=total, exhausted=self.exhausted and total <= self.total)._checked()

    def next_cycle(self, living: frozenset[str]) -> "Budget":
        """A fresh budget; `living` are the roots that are still systemic."""
        return Budget(self.total, systemic=living)

    def _checked(self) -> "Budget":
        return replace(self, exhausted=self.exhausted or self.consumed >= self.total)
