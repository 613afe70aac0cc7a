"""Events of the escape mechanism in one line each."""

from collections.abc import Sequence

from harness.events import (
    CheckpointMade,
    EscapeSet,
    Event,
    Intervened,
    Loop,
    LoopAnswered,
    LoopAsked,
    LoopChoice,
    LoopFound,
    LoopLeft,
    RolledBack,
    Rung,
)
from harness.session import RUNGS, described
from harness.ui.lines.line import Line, Tone
from harness.ui.lines.loop_names import PROJECTIONS

MOST_PATHS = 5
"""Files that are named; of more the number is told."""
TOLD_BY_OTHERS = (Rung.ROLLBACK, Rung.HUMAN, Rung.STOP)
"""Rungs beside which an event of their own says more: what was taken back, the question, the report."""


def escape_line(event: Event) -> Line | None:
    """What to print for an event of the escape mechanism; None for one that says nothing to a person."""
    match event:
        case LoopFound(loop=loop, relapse=relapse):
            return Line("⟳", f"{in_circles(loop, relapse=relapse)}: {described(loop)}", Tone.TROUBLE)
        case Intervened(applied=False):
            return Line("○", f"{_step(event)} is not possible: {event.detail}")
        case Intervened(rung=rung) if rung not in TOLD_BY_OTHERS:
            return Line("↳", f"{_step(event)}: {event.detail}", Tone.TROUBLE)
        case LoopAsked(loop=loop):
            return Line("?", f"what to do about {described(loop)}", Tone.TROUBLE)
        case LoopAnswered(choice=choice):
            return Line("·", ANSWERS[choice])
        case LoopLeft(projection=projection, freed_by=freed_by):
            what = PROJECTIONS[projection]
            if freed_by is None:
                return Line("·", f"that circle is over ({what})")
            return Line("✓", f"out of the circle ({what}), after: {RUNGS[freed_by]}")
        case RolledBack():
            return Line("↩", _rolled_back(event), Tone.TROUBLE)
        case EscapeSet(enabled=False):
            return Line("→", "loops are told of, and nothing is done about them")
        case EscapeSet(changed=changed) if changed:
            return Line("→", f"watching for loops with other numbers than shipped: {', '.join(changed)}")
        case _:
            return None


class LeftOut:
    """Remembers what was said of files that no checkpoint holds, so that it is said once."""

    def __init__(self) -> None:
        self._told: frozenset[str] = frozenset()

    def line(self, event: CheckpointMade) -> Line | None:
        """What is not kept and was not told of before; None for nothing."""
        news = [reason for reason in event.left_out if reason not in self._told]
        self._told |= frozenset(news)
        return Line("·", f"a rollback cannot bring back: {'; '.join(news)}") if news else None


ANSWERS = {
    LoopChoice.CONTINUE: "you let it go on",
    LoopChoice.OFF: "you want nothing to be done about loops in this session",
    LoopChoice.ROLL_BACK: "you send it back to before the loop",
    LoopChoice.STOP: "you stop it",
}


def in_circles(loop: Loop, *, relapse: bool) -> str:
    """How sure it is that this is a loop, and whether it is one that was left before."""
    return f"{'perhaps ' if loop.weak else ''}in circles{' again' if relapse else ''}"


def _step(event: Intervened) -> str:
    of = f" {event.number} of {event.quota}" if event.quota > 1 else ""
    return f"{RUNGS[event.rung]}{of}"


def _rolled_back(event: RolledBack) -> str:
    said = []
    if event.why == "loop":
        said.append(f"rolled back to the end of step {event.step}: the model does not see what came after it")
    if event.files_restored:
        said.append(f"{_THEN[event.why].format(turn=event.turn)}: {_listed(event.files_restored)}")
    else:
        said.append("files stay as they are")
    if event.not_undone:
        said.append(f"not undone: {_listed(event.not_undone)}")
    if event.why == "rewind" and event.files_restored:
        said.append("/rewind undo lets them be as they were before this")
    return "; ".join(said)


_THEN = {
    "loop": "as they were then",
    "rewind": "as they were before turn {turn}",
    "undo": "as they were before they were taken back",
}


def _listed(names: Sequence[str]) -> str:
    more = len(names) - MOST_PATHS
    return ", ".join(names[:MOST_PATHS]) + (f" and {more:,} more" if more > 0 else "")
