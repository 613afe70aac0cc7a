"""The turn on the panel: loops, failure budget, pause, deferred sub-tasks and plan."""

from collections.abc import Sequence

from textual.content import Content

from harness.base.external_text import counted
from harness.events import FailureCharged, Intervened, Rung
from harness.policies.breakers.failure_budget import budget_used
from harness.session import RUNGS, described
from harness.ui.folds.loops import LoopsView, LoopView
from harness.ui.folds.work import how_far, in_progress
from harness.ui.lines.events import ANSWERS
from harness.ui.panel.layout import (
    BAD,
    QUIET,
    TROUBLE,
    Lines,
    bar,
    flat,
    flowing,
    headed,
    labelled,
    wrapped,
)
from harness.ui.panel.state import Panel

MOST_NEXT_STEPS = 3
MOST_LOOP_LINES = 4
"""Lines of the description of a loop."""
MOST_FAILURES = 4
MOST_DEFERRED = 3
FAILURES = "failures "
"""A label that is longer than the column of labels."""
MOST_CELLS = 12
"""Cells of the budget bar; a larger budget is drawn to scale."""


def loops(panel: Panel, width: int) -> Sequence[Lines]:
    """The loops of the turn, current ones first."""
    known = panel.loops
    current = known.current
    left = [_left(one) for one in known.loops if one.left is not None]
    if not current:
        return (left, left[-1:], []) if left else ()
    full = [line for one in current for line in _loop(known, one, width)]
    heads = [_head(one) for one in current]
    steps = _next_steps(known, width)
    return ([*full, *left, *steps], [*full, *steps], [*heads, *steps], heads[-1:])


def _loop(known: LoopsView, one: LoopView, width: int) -> Lines:
    lines = headed("loop", _text(one), width, most=MOST_LOOP_LINES, style=_style(one))
    tried = [rung for rung in known.rungs(one.loop.signature) if rung.rung is not Rung.STOP]  # in the model block
    if tried:
        first, *others = map(_rung, tried)
        lines += flowing([Content.assemble(("tried: ", QUIET), first), *others], width, gap=" · ")
    if one.answer is not None:
        lines += wrapped(ANSWERS[one.answer], width)
    return lines


def _head(one: LoopView) -> Content:
    return labelled("loop", Content.styled(flat(_text(one)), _style(one)))


def _text(one: LoopView) -> str:
    words = " ".join(("possible",) * one.loop.weak + ("again",) * one.relapse)
    return f"{words}: {described(one.loop)}" if words else described(one.loop)


def _style(one: LoopView) -> str:
    return TROUBLE if one.loop.weak else f"bold {TROUBLE}"


def _rung(one: Intervened) -> Content:
    name = RUNGS[one.rung]
    return Content.styled(f"{name} {one.number} of {one.quota}" if one.applied else f"{name} not possible", QUIET)


def _left(one: LoopView) -> Content:
    freed_by = one.left.freed_by if one.left is not None else None
    how = f"✓ left after: {RUNGS[freed_by]}" if freed_by else "over"
    return labelled("loop", Content.styled(f"{how} · {flat(one.loop.summary)}", QUIET))


def _next_steps(known: LoopsView, width: int) -> Lines:
    steps = known.stuck.next_steps[:MOST_NEXT_STEPS] if known.stuck is not None else ()
    return [line for text in steps for line in wrapped(f"· {text}", width, most=3, hang=2)]


def budget(panel: Panel, width: int) -> Sequence[Lines]:
    """The used failure budget of the turn, and its charges."""
    used, of = panel.consumed, panel.budget
    if not of:
        return ()
    if not used:
        return ([Content.styled(f"{FAILURES}{bar(0, min(of, MOST_CELLS))} {budget_used(0, of)}", QUIET)], [])
    left = max(0, of - used)
    style = BAD if left <= 1 else TROUBLE
    what, separator = "one more pauses the turn" if left == 1 else "then the turn pauses and asks you", ", "
    if panel.ended is not None and left > 0:
        what, separator, style = "in the last turn", " ", QUIET
    amount = f"{bar(used / of, min(of, MOST_CELLS))} {budget_used(used, of)}"
    first = f"{amount} · used up" if left == 0 else f"{amount}{separator}{what}"
    head = [Content.assemble((FAILURES, QUIET), (first, style))]
    if head[0].cell_length > width:
        head = [Content.assemble((FAILURES, QUIET), (amount, style)), *wrapped(what, width, style=style)]
    listed = [_charged(failure) for failure in panel.failures[-MOST_FAILURES:]]
    return ([*head, *listed], [*head, *listed[-1:]], head)


def _charged(failure: FailureCharged) -> Content:
    what = flat(failure.failure.message) if failure.cost else "the same cause, not counted again"
    return labelled(f"step {failure.step}", Content.styled(f"{flat(failure.tool)}: {what}", QUIET))


def paused(panel: Panel, width: int) -> Sequence[Lines]:
    """Why the turn paused, and what the user can do."""
    report = panel.paused
    if report is None:
        return ()
    head, *rest = headed("paused", report.reason or "the user asked", width, style=f"bold {TROUBLE}")
    counts = ((report.completed, "done"), (report.failed, "failed"), (report.not_attempted, "not begun"))
    work = flowing((Content(f"{len(items)} {word}") for items, word in counts if items), width, gap=", ")
    steps = [line for text in report.next_steps[:MOST_NEXT_STEPS] for line in _item(text, width)]
    brief = labelled("paused", Content.styled(flat(report.reason), f"bold {TROUBLE}"))
    return ([head, *rest, *work, *steps], [head, *rest, *steps], [brief])


def deferred(panel: Panel, width: int) -> Sequence[Lines]:
    """Deferred sub-tasks, or the progress of the checklist in one line."""
    if panel.deferred:
        text = f"{counted(len(panel.deferred), 'sub-task')} deferred"
        head = labelled("later", Content.styled(text, TROUBLE))
        full = [head]
        for entry in panel.deferred[:MOST_DEFERRED]:
            full += _item(f"{entry.item.text}: {entry.reason}; needs {entry.unblock}", width)
        return (full, [head], [])
    if not panel.plan:
        return ()
    now = in_progress(panel.plan)
    text = f"{how_far(panel.plan)} done{f' · {flat(now)}' if now else ''}"
    return (headed("todo", text, width, most=1, style=QUIET), [])


def _item(text: str, width: int) -> Lines:
    return wrapped(f"· {text}", width, most=3, hang=2)
