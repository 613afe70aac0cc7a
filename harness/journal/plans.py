"""The plan of one session, and those it took the place of: folded from the events, live and from a journal alike.

The last plan that was accepted holds, from turn to turn, until another one takes its place. It is taken back with the
history: where the call that declared it is cut off, the plan before it holds again.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from harness.events import HistoryReplaced, Message, PlanItem
from harness.journal.rewind_points import same_beginning

TAKES_BACK = frozenset({"clear", "rewind", "rollback"})
"""Replacements of a history that leave only its beginning; all others leave what was agreed on as it is."""


@dataclass(frozen=True, slots=True)
class DeclaredPlan:
    """A plan, and where in the history it was declared."""

    items: tuple[PlanItem, ...]
    place: int
    """Index of the message with the result of the call."""


@dataclass(frozen=True, slots=True)
class Plans:
    """The plans that a cut of the history may come back to."""

    declared: tuple[DeclaredPlan, ...] = ()
    """Oldest first; the last one holds."""

    @property
    def current(self) -> tuple[PlanItem, ...]:
        """The plan that holds; empty: there is none."""
        return self.declared[-1].items if self.declared else ()

    def changed(self, items: tuple[PlanItem, ...], place: int) -> "Plans":
        """The same after another plan was declared. One like the one before it changes nothing."""
        return self if items == self.current else Plans((*self.declared, DeclaredPlan(items, place)))

    def replaced(self, before: Sequence[Message], event: HistoryReplaced) -> "Plans":
        """The same after the history `before` gave way to that of the event."""
        after = event.messages
        if event.reason in TAKES_BACK:
            return Plans(tuple(plan for plan in self.declared if plan.place < len(after)))
        if len(before) == len(after):
            return self
        same = same_beginning(before, after)
        return Plans(_last_of_each_place(DeclaredPlan(plan.items, min(plan.place, same)) for plan in self.declared))


def _last_of_each_place(declared: Iterable[DeclaredPlan]) -> tuple[DeclaredPlan, ...]:
    return tuple({plan.place: plan for plan in declared}.values())
