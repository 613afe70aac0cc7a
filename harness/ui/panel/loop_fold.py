"""The loops of the turn and what was done about each, folded from events alone.

How far the ladder of a loop was climbed holds for the whole session, so a loop that comes back, in this turn or in
a later one, shows the rungs that were taken for it before.
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
    SessionResumed,
    SessionStarted,
    StuckReported,
    TransitionCode,
    TurnEnded,
    TurnStarted,
)

KEPT_RUNGS = 200
"""Interventions of a session that are remembered; of each loop and rung only the last."""
KEPT_LOOPS = 20
"""Loops of one turn that are told of."""


@dataclass(frozen=True, slots=True)
class Circle:
    """A loop of this turn."""

    loop: Loop
    relapse: bool = False
    answer: LoopChoice | None = None
    """What the person said of it, since it was found last."""
    left: LoopLeft | None = None
    """None: it is under way."""


@dataclass(frozen=True, slots=True)
class Circling:
    """What the panel knows of loops."""

    circles: tuple[Circle, ...] = ()
    """Of this turn, in the order in which they were found last; until the next prompt, if they did not end well."""
    taken: tuple[Intervened, ...] = ()
    """The last intervention of each rung for each loop of the session, oldest first."""
    stuck: StuckReported | None = None
    """The report, from the end in a loop to the next turn."""

    @property
    def under_way(self) -> tuple[Circle, ...]:
        """The loops that were not left."""
        return tuple(circle for circle in self.circles if circle.left is None)

    def rungs(self, signature: str) -> tuple[Intervened, ...]:
        """How far the ladder of a loop was climbed."""
        return tuple(one for one in self.taken if one.signature == signature)


def after(known: Circling, event: Event) -> Circling:
    """What is known after an event; the same value where it says nothing of loops."""
    match event:
        case SessionStarted():
            return Circling()
        case TurnStarted():
            return Circling(taken=known.taken) if known.circles or known.stuck else known
        case LoopFound(loop=loop, relapse=relapse):
            others = [circle for circle in known.circles if circle.loop.signature != loop.signature]
            return replace(known, circles=(*others, Circle(loop, relapse))[-KEPT_LOOPS:])
        case LoopAnswered(signature=signature, choice=choice):
            return replace(known, circles=_changed(known, signature, lambda one: replace(one, answer=choice)))
        case LoopLeft(signature=signature):
            return replace(known, circles=_changed(known, signature, lambda one: replace(one, left=event)))
        case Intervened(signature=signature, rung=rung):
            rungs = [one for one in known.taken if (one.signature, one.rung) != (signature, rung)]
            return replace(known, taken=(*rungs, event)[-KEPT_RUNGS:])
        case LoopAsked(loop=loop):
            return _as_long_as(known, loop)
        case StuckReported(loop=loop):
            return replace(_as_long_as(known, loop), stuck=event)
        case TurnEnded(code=TransitionCode.COMPLETED):
            return replace(known, circles=()) if known.circles else known
        case TurnEnded() | SessionResumed():
            return replace(known, circles=known.under_way) if known.circles else known
        case _:
            return known


def _as_long_as(known: Circling, loop: Loop) -> Circling:
    """A loop that is spoken of may have gone on since it was found."""
    return replace(known, circles=_changed(known, loop.signature, lambda one: replace(one, loop=loop)))


def _changed(known: Circling, signature: str, change: Callable[[Circle], Circle]) -> tuple[Circle, ...]:
    return tuple(change(one) if one.loop.signature == signature else one for one in known.circles)
