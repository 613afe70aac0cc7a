"""The failure budget of a cycle: how many failures of tools there may be before the turn pauses.

A cycle is a turn, or the time since a session was resumed. Tools that fail from one cause cost as much as the one that
failed most, and one failure once the cause is systemic. A failure of unknown cause counts for its own tool
(docs/design/breakers.md#failure-budget).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from harness.events import Failure, LoggedFailure

KEPT = 200
"""Failures of a cycle that are kept with their messages."""


def budget_used(consumed: int, budget: int) -> str:
    """Such as "3 of 5". Calls of one step run together, so that more of them may fail than the budget has left."""
    return f"{min(consumed, budget)} of {budget}" if budget else f"{consumed} of an unknown number"


@dataclass(frozen=True, slots=True)
class FailureBudget:
    """The failures of one cycle so far."""

    total: int = 5
    counts: Mapping[tuple[str, str], int] = field(default_factory=lambda: MappingProxyType({}))
    """Failures by signature and tool. The signature is empty for an unknown cause."""
    systemic: frozenset[str] = frozenset()
    """Signatures that cost one failure in total."""
    exhausted: bool = False
    """The budget was used up in this cycle. It stays exhausted when a common cause is found afterwards."""
    log: tuple[LoggedFailure, ...] = ()
    not_logged: int = 0

    @property
    def consumed(self) -> int:
        """Failures charged: the sum over the causes."""
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
        """Whether the next failure may exhaust the budget."""
        return self.consumed >= self.total - 1

    def charged(self, tool: str, failure: Failure, step: int) -> "FailureBudget":
        """The budget after one more failure. A failure of a part, such as "bash:npm", is charged to its tool: two
        missing programs do not have one cause."""
        key = failure.signature, tool.partition(":")[0]
        counts = {**self.counts, key: self.counts.get(key, 0) + 1}
        log = (*self.log, LoggedFailure(step, tool, failure))
        not_logged = self.not_logged + max(0, len(log) - KEPT)
        return replace(self, counts=counts, log=log[-KEPT:], not_logged=not_logged)._checked()

    def one_cause(self, root: str) -> "FailureBudget":
        """The budget once the failures of `root` are known to be one event."""
        return replace(self, systemic=self.systemic | {root})

    def of(self, total: int) -> "FailureBudget":
        """The same failures against another total. Only a larger one can end the pause."""
        return replace(self, total=total, exhausted=self.exhausted and total <= self.total)._checked()

    def next_cycle(self, living: frozenset[str]) -> "FailureBudget":
        """A fresh budget; `living` are the signatures that are still systemic."""
        return FailureBudget(self.total, systemic=living)

    def _checked(self) -> "FailureBudget":
        return replace(self, exhausted=self.exhausted or self.consumed >= self.total)
