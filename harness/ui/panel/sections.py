"""The panel as text: sections in a fixed order, each as long as there is room.

A section offers its lines in several lengths, the fullest first, the shortest perhaps empty. If they do not all fit,
the least urgent sections are shortened first. Colour is reserved for what needs a decision.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from textual.content import Content

from harness.events import BreakerState
from harness.ui.folds.model import Phase
from harness.ui.panel import breaker_lines, model_lines, team_lines, turn_lines, work_lines
from harness.ui.panel.layout import LABEL, QUIET, Lines, flowing, labelled, one_line
from harness.ui.panel.state import Panel
from harness.ui.panel.timeline import sign_of, timeline

Actions = Sequence[tuple[str, str]]
"""Keys and what they do now."""


@dataclass(frozen=True, slots=True)
class PanelDrawing:
    """What to draw, and where."""

    panel: Panel
    width: int
    now: float
    """Unix time, for countdowns."""
    shown_step: int | None
    actions: Actions
    expanded: bool
    """All tools, with technical words, and the meaning of the signs."""


Section = Callable[[PanelDrawing], Sequence[Lines]]
"""The lines of a section in all its lengths; empty if it has nothing to show."""


def panel_rows(
    panel: Panel,
    width: int,
    height: int,
    now: float,
    *,
    shown_step: int | None = None,
    actions: Actions = (),
    expanded: bool = False,
) -> Lines:
    """The panel in at most `height` lines of at most `width` cells.

    Args:
        now: Unix time, for countdowns.
        shown_step: the past step that is shown; None: the present.
        actions: keys and what they do now.
        expanded: list all tools, and explain words and signs.
    """
    request = PanelDrawing(panel, width, now, shown_step, actions, expanded)
    return [one_line(line, width) for line in _fitted(request, height)]


def calm_rows(panel: Panel, width: int) -> Lines:
    """The panel in two lines where nothing needs attention: the tools, and the failure budget; empty before both are
    known."""
    if not panel.rows:
        return []
    (budget, *_) = turn_lines.budget(panel, width) or ([],)
    return [one_line(line, width) for line in (labelled("tools", breaker_lines.summary(panel)), *budget)]


def is_calm(panel: Panel) -> bool:
    """Whether nothing on the panel needs attention. A question of the model stands on the screen itself."""
    reasons = (
        panel.model.phase in model_lines.PRESSING and panel.model.phase is not Phase.QUESTION,
        panel.model.compacting,
        panel.model.silence,
        panel.ended is not None and panel.ended.code not in model_lines.WELL,
        model_lines.events(panel, LABEL),
        any(breaker_lines.troubled(row) for row in (*panel.rows, *panel.endpoints)),
        panel.consumed,
        panel.cascades,
        panel.paused,
        panel.loops.current,
        work_lines.needs_a_look(panel.work),
        team_lines.needs_a_look(panel.team),
    )
    return not any(reasons)


def _fitted(request: PanelDrawing, height: int) -> Lines:
    lengths = {name: options for name, section in SECTIONS if (options := section(request))}
    chosen = {name: options[0] for name, options in lengths.items()}
    if len(found := _stacked(chosen, gaps=True)) <= height:
        return found
    left = {name: list(options[1:]) for name, options in lengths.items()}
    for name in SHORTENED:
        if len(_stacked(chosen)) <= height:
            return _stacked(_filled(chosen, lengths, height))
        if left.get(name):
            chosen[name] = left[name].pop(0)
    if len(_stacked(chosen)) <= height:
        return _stacked(_filled(chosen, lengths, height))
    return [line for name in _by_urgency(request.panel) for line in chosen.get(name, [])][: max(0, height)]


def _filled(chosen: Mapping[str, Lines], lengths: Mapping[str, Sequence[Lines]], height: int) -> Mapping[str, Lines]:
    """Give surplus lines back to the most urgent sections."""
    filled = dict(chosen)
    for name in dict.fromkeys(reversed(SHORTENED)):
        for option in lengths.get(name, ()):
            if len(_stacked(filled | {name: option})) <= height:
                filled[name] = option
                break
    return filled


def _stacked(blocks: Mapping[str, Lines], *, gaps: bool = False) -> Lines:
    found: Lines = []
    for name, block in blocks.items():
        if gaps and found and block and name in AFTER_A_GAP:
            found.append(Content(""))
        found += block
    return found


def _by_urgency(panel: Panel) -> Sequence[str]:
    """The sections, most urgent first: the model, unless only other sections need attention."""
    usual = tuple(dict.fromkeys(reversed(SHORTENED)))
    if panel.model.phase in model_lines.PRESSING:
        return usual
    worse = [
        name
        for name, troubled in (
            ("paused", panel.paused is not None),
            ("loop", bool(panel.loops.current)),
            ("agents", any(one.ended is None or one.failed for one in panel.work.unnamed)),
            ("team", team_lines.needs_a_look(panel.team)),
            ("cause", bool(panel.cascades)),
            ("table", any(row.state is not BreakerState.CLOSED for row in panel.rows)),
        )
        if troubled
    ]
    return (*worse, *(name for name in usual if name not in worse))


# ── the past step and the timeline ──────────────────────────────────────────────────────────────


def _past(request: PanelDrawing) -> Sequence[Lines]:
    if request.shown_step is None:
        return ()
    marks = request.panel.marks
    shown = next((mark for mark in marks if mark.step == request.shown_step), None)
    of = f" of {marks[-1].step}" if marks else ""
    what = f" · {sign_of(shown).meaning}" if shown else ""
    return ([Content.styled(f"◂ step {request.shown_step}{of}{what}", "bold $text-accent")],)


def _steps(request: PanelDrawing) -> Sequence[Lines]:
    marks = request.panel.marks
    if not marks:
        return ()
    quiet = request.shown_step is None and is_calm(request.panel)
    return ([labelled("steps", timeline(marks, max(1, request.width - LABEL), request.shown_step, quiet=quiet))], [])


def _legend(request: PanelDrawing) -> Sequence[Lines]:
    if not request.expanded:
        return ()
    signs = dict.fromkeys(sign_of(mark) for mark in request.panel.marks)
    used = [Content.styled(f"{sign.glyph} {sign.meaning}", QUIET) for sign in signs]
    return (flowing(used, request.width), [])


SECTIONS: Sequence[tuple[str, Section]] = (
    ("past", _past),
    ("model", lambda r: model_lines.model(r.panel, r.width, r.now, r.actions)),
    ("events", lambda r: model_lines.events(r.panel, r.width)),
    ("models", lambda r: breaker_lines.models(r.panel, r.width)),
    ("context", lambda r: model_lines.context(r.panel, r.width)),
    ("spent", lambda r: model_lines.spent(r.panel, r.width)),
    ("table", lambda r: breaker_lines.table(r.panel, r.width, r.now, expanded=r.expanded)),
    ("cause", lambda r: breaker_lines.causes(r.panel, r.width)),
    ("loop", lambda r: turn_lines.loops(r.panel, r.width)),
    ("board", lambda r: work_lines.board(r.panel, r.width)),
    ("team", lambda r: team_lines.team(r.panel, r.width, r.now, expanded=r.expanded)),
    ("agents", lambda r: work_lines.agents(r.panel.work, r.width, r.now)),
    ("admission", lambda r: work_lines.admission(r.panel.work, r.width)),
    ("background", lambda r: work_lines.commands(r.panel.work, r.width, r.now)),
    ("budget", lambda r: turn_lines.budget(r.panel, r.width)),
    ("paused", lambda r: turn_lines.paused(r.panel, r.width)),
    ("later", lambda r: turn_lines.deferred(r.panel, r.width)),
    ("steps", _steps),
    ("legend", _legend),
)
"""In the order of display."""
SHORTENED = (
    *(
        "legend",
        "later",
        "board",
        "team",
        "agents",
        "spent",
        "context",
        "table",
        "table",
        "budget",
        "loop",
        "later",
        "table",
    ),
    *("background", "board", "team", "agents", "admission", "background"),
    *(
        "paused",
        "budget",
        "models",
        "events",
        "model",
        "table",
        "steps",
        "team",
        "agents",
        "loop",
        "cause",
        "events",
        "loop",
        "paused",
    ),
    *("table", "past", "model", "model"),
)
"""Sections to shorten by one length, in this order, until all fit; least urgent first."""
AFTER_A_GAP = frozenset(
    {"table", "cause", "loop", "board", "team", "agents", "background", "budget", "paused", "later", "steps", "legend"}
)
"""Sections with a blank line above them if there is room."""
