"""Loops and interventions, folded from events.

The rungs tried for a loop are remembered for the whole session, so a loop that returns in a later turn shows them.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from harness.events import (
    Event,
    Intervened,
    Loop,
    LoopAnswered,
    LoopAsked,
    LoopChoice,
    LoopFound,
    LoopLeft,
    MessageAdded,
    Origin,
    SessionResumed,
    SessionStarted,
    StuckReported,
    TransitionCode,
    TurnEnded,
    TurnStarted,
)

KEPT_RUNGS = 200
"""Interventions remembered per session; of each loop and rung only the last."""
KEPT_LOOPS = 20
"""Loops shown per turn."""


@dataclass(frozen=True, slots=True)
class LoopView:
    """A loop of this turn."""

    loop: Loop
    relapse: bool = False
    answer: LoopChoice | None = None
    """The answer of the user since it was last found."""
    left: LoopLeft | None = None
    """None: it continues."""


@dataclass(frozen=True, slots=True)
class LoopsView:
    """The loops of a session."""

    loops: tuple[LoopView, ...] = ()
    """Of this turn, most recently found last. Those that were not left remain until the next turn."""
    interventions: tuple[Intervened, ...] = ()
    """The last intervention of each rung for each loop of the session, oldest first."""
    stuck: StuckReported | None = None
    """The report of a turn that ended in a loop, until the next turn."""

    @property
    def current(self) -> tuple[LoopView, ...]:
        """The loops that continue."""
        return tuple(one for one in self.loops if one.left is None)

    def rungs(self, signature: str) -> tuple[Intervened, ...]:
        """The rungs tried for a loop."""
        return tuple(one for one in self.interventions if one.signature == signature)


def after(known: LoopsView, event: Event) -> LoopsView:
    """The loops after an event; the same object if the event is not about loops."""
    match event:
        case SessionStarted():
            return LoopsView()
        case TurnStarted() | MessageAdded(origin=Origin.STEERING):
            return LoopsView(interventions=known.interventions) if known.loops or known.stuck else known
        case LoopFound(loop=loop, relapse=relapse):
            others = [one for one in known.loops if one.loop.signature != loop.signature]
            return replace(known, loops=(*others, LoopView(loop, relapse))[-KEPT_LOOPS:])
        case LoopAnswered(signature=signature, choice=choice):
            return replace(known, loops=_changed(known, signature, lambda one: replace(one, answer=choice)))
        case LoopLeft(signature=signature):
            return replace(known, loops=_changed(known, signature, lambda one: replace(one, left=event)))
        case Intervened(signature=signature, rung=rung):
            rungs = [one for one in known.interventions if (one.signature, one.rung) != (signature, rung)]
            return replace(known, interventions=(*rungs, event)[-KEPT_RUNGS:])
        case LoopAsked(loop=loop):
            return _grown(known, loop)
        case StuckReported(loop=loop):
            return replace(_grown(known, loop), stuck=event)
        case TurnEnded(code=TransitionCode.COMPLETED):
            return replace(known, loops=()) if known.loops else known
        case TurnEnded() | SessionResumed():
            return replace(known, loops=known.current) if known.loops else known
        case _:
            return known


def _grown(known: LoopsView, loop: Loop) -> LoopsView:
    """A loop may have grown since it was found."""
    return replace(known, loops=_changed(known, loop.signature, lambda one: replace(one, loop=loop)))


def _changed(known: LoopsView, signature: str, change: Callable[[LoopView], LoopView]) -> tuple[LoopView, ...]:
    return tuple(change(one) if one.loop.signature == signature else one for one in known.loops)
