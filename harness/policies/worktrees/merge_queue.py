"""The merge queue: finished branches are merged one after the other onto a trial, and the check runs on the result.

The outcome is that of merging and checking one branch at a time and dropping each that is red, with fewer checks: all
are merged first; where the check is red, the shortest red beginning is searched by halves and its last branch is given
back. This holds as long as a later branch does not repair an earlier one. A conflict with a branch that is given back
is tried again.
"""

from dataclasses import dataclass, replace
from typing import Literal


@dataclass(frozen=True, slots=True)
class GivenBack:
    """A branch that is not merged."""

    branch: str
    why: Literal["conflict", "red"]
    detail: str = ""
    """The conflict, or the end of the output of the check."""


@dataclass(frozen=True, slots=True)
class QueueState:
    """A queue at work."""

    waiting: tuple[str, ...]
    """Branches that are not decided, in the order in which they were finished."""
    accepted: tuple[str, ...] = ()
    """Merged and checked together, in this order."""
    given_back: tuple[GivenBack, ...] = ()
    tried: tuple[str, ...] = ()
    """Merged on top of the accepted ones; not decided yet."""
    conflicts: tuple[GivenBack, ...] = ()
    """Of branches that could not be merged on top of those; final only if the ones before them are accepted."""
    green: int = 0
    """The first so many of the tried ones are known to be green."""
    red: int = 0
    """The first so many of the tried ones are known to be red; 0: none are."""
    output: str = ""
    """Of the check of the red ones."""


@dataclass(frozen=True, slots=True)
class Merge:
    """Merge this branch on top of what was tried."""

    branch: str


@dataclass(frozen=True, slots=True)
class Check:
    """Run the check on the accepted branches and the first `count` tried ones."""

    count: int


@dataclass(frozen=True, slots=True)
class Restart:
    """Some are decided: go back to the accepted branches, and go on with the rest in `state`."""

    state: QueueState


@dataclass(frozen=True, slots=True)
class Finish:
    """All are decided."""

    state: QueueState


Step = Merge | Check | Restart | Finish


def next_step(state: QueueState) -> Step:
    """What to do now."""
    met = len(state.tried) + len(state.conflicts)
    if met < len(state.waiting):
        return Merge(state.waiting[met])
    if state.red and state.red == state.green + 1:
        return Restart(_without_red(state))
    if state.red:
        return Check((state.green + state.red) // 2)
    if state.green < len(state.tried):
        return Check(len(state.tried))
    done = replace(state, accepted=state.accepted + state.tried, given_back=state.given_back + state.conflicts)
    return Finish(replace(done, waiting=(), tried=(), conflicts=(), green=0))


def merged(state: QueueState, branch: str, conflict: str | None) -> QueueState:
    """After a merge; `conflict`: what is in the way, None: it is merged."""
    if conflict is None:
        return replace(state, tried=(*state.tried, branch))
    return replace(state, conflicts=(*state.conflicts, GivenBack(branch, "conflict", conflict)))


def checked(state: QueueState, count: int, *, green: bool, output: str = "") -> QueueState:
    """After a check of the first `count` tried branches."""
    return replace(state, green=count) if green else replace(state, red=count, output=output)


def _without_red(state: QueueState) -> QueueState:
    """The branches before the red one are accepted, and those behind it wait again."""
    red = state.tried[state.green]
    place = state.waiting.index(red)
    before = set(state.waiting[:place])
    final = tuple(one for one in state.conflicts if one.branch in before)
    return QueueState(
        state.waiting[place + 1 :],
        state.accepted + state.tried[: state.green],
        (*state.given_back, *final, GivenBack(red, "red", state.output)),
    )
