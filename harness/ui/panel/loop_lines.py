"""What the panel says of loops: what repeats, how far the ladder was climbed, and what a person can do."""

from collections.abc import Sequence

from textual.content import Content

from harness.events import Intervened, Rung
from harness.session import RUNGS, described
from harness.ui.lines.loops import ANSWERS, in_circles
from harness.ui.panel.layout import QUIET, TROUBLE, Lines, flat, flowing, headed, labelled, wrapped
from harness.ui.panel.loop_fold import Circle, Circling
from harness.ui.panel.state import Panel

MOST_NEXT_STEPS = 3
MOST_LINES = 3
"""Of one loop's description."""


def loops(panel: Panel, width: int) -> Sequence[Lines]:
    """The loops of the turn, those that are under way first."""
    known = panel.circling
    under_way = known.under_way
    left = [_left(circle) for circle in known.circles if circle.left is not None]
    if not under_way:
        return (left, left[-1:], []) if left else ()
    full = [line for circle in under_way for line in _circle(known, circle, width)]
    heads = [_head(circle) for circle in under_way]
    steps = _next_steps(known, width)
    return ([*full, *left, *steps], [*full, *steps], [*heads, *steps], heads[-1:])


def _circle(known: Circling, circle: Circle, width: int) -> Lines:
    lines = headed("loop", _said(circle), width, most=MOST_LINES, style=_style(circle))
    rungs = [one for one in known.rungs(circle.loop.signature) if one.rung is not Rung.STOP]  # told in the model block
    lines += flowing(map(_rung, rungs), width, gap=" · ")
    if circle.answer is not None:
        lines += wrapped(ANSWERS[circle.answer], width)
    return lines


def _head(circle: Circle) -> Content:
    return labelled("loop", Content.styled(flat(_said(circle)), _style(circle)))


def _said(circle: Circle) -> str:
    return f"{in_circles(circle.loop, relapse=circle.relapse)}: {described(circle.loop)}"


def _style(circle: Circle) -> str:
    return TROUBLE if circle.loop.weak else f"bold {TROUBLE}"


def _rung(one: Intervened) -> Content:
    name = RUNGS[one.rung]
    return Content.styled(f"{name} {one.number} of {one.quota}" if one.applied else f"{name} not possible", QUIET)


def _left(circle: Circle) -> Content:
    freed_by = circle.left.freed_by if circle.left is not None else None
    how = f"✓ left after: {RUNGS[freed_by]}" if freed_by else "over"
    return labelled("loop", Content.styled(f"{how} · {flat(circle.loop.summary)}", QUIET))


def _next_steps(known: Circling, width: int) -> Lines:
    steps = known.stuck.next_steps[:MOST_NEXT_STEPS] if known.stuck is not None else ()
    return [line for text in steps for line in wrapped(f"· {text}", width, most=3, hang=2)]
