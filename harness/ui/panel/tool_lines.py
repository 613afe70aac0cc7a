"""What the panel says of the work: common causes, failure budget, pause, deferred sub-tasks."""

from collections.abc import Sequence

from textual.content import Content

from harness.events import CascadeChanged, CascadePhase, FailureCharged
from harness.ui.lines.plan import how_far, in_progress
from harness.ui.panel.layout import BAD, QUIET, TROUBLE, Lines, bar, flat, headed, labelled, plural, wrapped
from harness.ui.panel.state import Panel

MOST_FAILURES = 4
MOST_NEXT_STEPS = 3
MOST_DEFERRED = 3
MOST_CELLS = 12
"""Cells of the budget bar; a larger budget is drawn to scale."""


def causes(panel: Panel, width: int) -> Sequence[Lines]:
    """Tools that fail from one cause."""
    if not panel.cascades:
        return ()
    full = [line for group in panel.cascades for line in _cause(group, width)]
    return (full, [_cause(group, width)[0] for group in panel.cascades])


def _cause(group: CascadeChanged, width: int) -> Lines:
    tools = ", ".join(flat(tool) for tool in group.tools)
    root = flat(group.root)
    match group.phase:
        case CascadePhase.SUSPECTED:
            head, what, style = f"perhaps one: {root}", f"{tools} fail in the same way", TROUBLE
        case CascadePhase.SYSTEMIC if group.probe_at is None:
            head, what, style = root, f"{tools} failed together; /confirm when it is over", f"bold {BAD}"
        case CascadePhase.SYSTEMIC:
            head, style = root, f"bold {BAD}"
            what = f"{tools} failed together; one of them is tried from step {group.probe_at} on"
        case _:
            head, what, style = f"over, it seems: {root}", f"still to be tried: {tools}", TROUBLE
    return [labelled("cause", Content.styled(head, style)), *wrapped(what, width, most=3)]


def budget(panel: Panel, width: int) -> Sequence[Lines]:
    """The failure budget of the turn, and what was charged to it."""
    if not panel.budget:
        return ()
    used, of = panel.consumed, panel.budget
    left = of - used
    words = " · used up" if left <= 0 else " · one more pauses the turn" if left == 1 and used else ""
    style = (BAD if left <= 1 else TROUBLE) if used else QUIET
    text = f"{bar(used / of, min(of, MOST_CELLS))} {used} of {of}"
    head = labelled("budget", Content.styled(text + words, style))
    if not used:
        return ([head], [])
    listed = [_charged(failure) for failure in panel.failures[-MOST_FAILURES:]]
    return ([head, *listed], [head, *listed[-1:]], [head])


def _charged(failure: FailureCharged) -> Content:
    text = f"+{failure.cost} step {failure.step} {flat(failure.tool)}: {flat(failure.failure.message)}"
    return labelled("", Content.styled(text, QUIET))


def paused(panel: Panel, width: int) -> Sequence[Lines]:
    """Why the turn paused, and what a person can do."""
    report = panel.paused
    if report is None:
        return ()
    head, *rest = headed("paused", report.reason or "a person asked", width, style=f"bold {TROUBLE}")
    counts = ((report.completed, "done"), (report.failed, "failed"), (report.not_attempted, "not begun"))
    told = ", ".join(f"{len(items)} {word}" for items, word in counts if items)
    work = [labelled("", told)] if told else []
    steps = [line for text in report.next_steps[:MOST_NEXT_STEPS] for line in _item(text, width)]
    brief = labelled("paused", Content.styled(flat(report.reason), f"bold {TROUBLE}"))
    return ([head, *rest, *work, *steps], [head, *rest, *steps], [brief])


def deferred(panel: Panel, width: int) -> Sequence[Lines]:
    """Sub-tasks that cannot be done now, and how far the plan is."""
    if panel.deferred:
        text = f"{plural(len(panel.deferred), 'sub-task')} deferred"
        head = labelled("later", Content.styled(text, TROUBLE))
        full = [head]
        for entry in panel.deferred[:MOST_DEFERRED]:
            full += _item(f"{entry.item.text}: {entry.reason}; needs {entry.unblock}", width)
        return (full, [head], [])
    if not panel.plan:
        return ()
    now = in_progress(panel.plan)
    head = labelled("plan", Content.styled(f"{how_far(panel.plan)} done", QUIET))
    return ([head, *wrapped(now, width, most=1)], [head], []) if now else ([head], [])


def _item(text: str, width: int) -> Lines:
    return wrapped(f"· {text}", width, most=3, hang=2)
