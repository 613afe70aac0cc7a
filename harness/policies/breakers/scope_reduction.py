"""Scope reduction: what of a plan can still be done, and what has to wait (seed 000, step 5; A21).

It is no failure to do less, if it is said what was left out, why, and what would make it possible. A sub-task that
has not declared its tools is kept: nothing speaks against trying.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from harness.events import Deferred, ItemStatus, PlanItem


@dataclass(frozen=True, slots=True)
class Scope:
    """A plan in three parts, each in the order of the plan."""

    done: tuple[PlanItem, ...] = ()
    kept: tuple[PlanItem, ...] = ()
    """Not done yet, and possible."""
    deferred: tuple[Deferred, ...] = ()

    @property
    def nothing_left(self) -> bool:
        """Something is left to do, and all of it is deferred: whoever goes on only pretends to."""
        return bool(self.deferred) and not self.kept


def reduced(
    items: Sequence[PlanItem], usable: Callable[[str], bool], reason: Callable[[str], tuple[str, str]]
) -> Scope:
    """The plan, reduced to what is possible.

    Args:
        items: the whole plan.
        usable: whether what a tool does can be had now, from the tool itself or from another in its place.
        reason: for a tool of which that is not so, why, and what would change it. Neither is empty.
    """
    done, kept, deferred = [], [], []
    for item in items:
        missing = [tool for tool in dict.fromkeys(item.tools) if not usable(tool)]
        if item.status is ItemStatus.DONE:
            done.append(item)
        elif missing:
            reasons, unblocks = zip(*map(reason, missing), strict=True)
            deferred.append(Deferred(item, _joined(reasons), _joined(unblocks)))
        else:
            kept.append(item)
    return Scope(tuple(done), tuple(kept), tuple(deferred))


def _joined(texts: Sequence[str]) -> str:
    """Each text once: tools that are down for one reason are told by it together."""
    return "; ".join(dict.fromkeys(texts))
