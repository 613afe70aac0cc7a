"""What happened on a board, as events. A board decides by none of it, so that nobody has to listen (A27)."""

from collections.abc import Callable, Iterator

from harness.events import BreakerChanged, CascadeChanged, CascadePhase, Event
from harness.policies.breakers.breaker import Breaker
from harness.policies.breakers.cascade import Cascades, Group
from harness.policies.breakers.failure_signature import suspected_root

KEPT = 1_000
"""News that nobody read, before the oldest are dropped."""


class News:
    """Events that wait to be read."""

    def __init__(self) -> None:
        self._told: list[Event] = []

    def tell(self, *events: Event) -> None:
        """These happened."""
        self._told += events
        if len(self._told) > KEPT:
            del self._told[: -KEPT // 2]

    def read(self) -> tuple[Event, ...]:
        """What happened since this was asked last."""
        told, self._told = tuple(self._told), []
        return told


def moved(tool: str, before: Breaker, after: Breaker, step: int, detail: str) -> BreakerChanged:
    """A breaker is another one now."""
    due = None if after.due is None else int(after.due)
    return BreakerChanged(
        tool, before.state, after.state, after.why, after.failures, after.generation, step, due, detail
    )


def grouped(
    before: Cascades, after: Cascades, step: int, window: int, unconfirmed: Callable[[Group], bool]
) -> Iterator[CascadeChanged]:
    """What is new about common causes: first the suspicions, then the groups, then those that are over.

    Args:
        window: steps within which openings are taken to have a cause in common.
        unconfirmed: says of a group that it waits for a person.
    """

    def changed(signature: str, phase: CascadePhase, tools: frozenset[str], due: int | None = None) -> CascadeChanged:
        return CascadeChanged(signature, phase, tuple(sorted(tools)), suspected_root(signature), step, due)

    for signature in sorted(after.suspected - before.suspected):
        tools = frozenset(
            name
            for name, opening in after.openings.items()
            if opening.signature == signature and step - opening.step <= window
        )
        yield changed(signature, CascadePhase.SUSPECTED, tools)
    for group in after.groups:
        old = before.group_for(group.signature)
        if old is None or (old.phase, old.due, old.members) != (group.phase, group.due, group.members):
            waits = group.phase is CascadePhase.SYSTEMIC and not unconfirmed(group)
            yield changed(group.signature, group.phase, group.members, group.due if waits else None)
    for group in before.groups:
        if after.group_for(group.signature) is None:
            yield changed(group.signature, CascadePhase.OVER, frozenset())
