"""The panel as text: sections in a fixed order, each as long as there is room for it.

A section gives its lines in several lengths, the fullest first, the shortest perhaps empty. Where they do not all
fit, the least urgent ones are told shorter first. When all is well nothing has a colour: it is kept for what needs a
decision.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from textual.content import Content

from harness.ui.panel import model_lines, tool_lines
from harness.ui.panel.layout import Lines, labelled, one_line
from harness.ui.panel.state import Panel, Phase
from harness.ui.panel.timeline import sign_of, timeline

Actions = Sequence[tuple[str, str]]
"""Keys and what they do now."""


@dataclass(frozen=True, slots=True)
class Request:
    """What is to be drawn, and where."""

    panel: Panel
    width: int
    now: float
    """Unix time that countdowns go by."""
    shown_step: int | None
    actions: Actions


Section = Callable[[Request], Sequence[Lines]]
"""The lines of a section in all its lengths; no lengths at all: it has nothing to say."""


def panel_content(
    panel: Panel,
    width: int,
    height: int,
    now: float,
    *,
    shown_step: int | None = None,
    actions: Actions = (),
) -> Content:
    """The panel in at most `height` lines of at most `width` cells.

    Args:
        panel: what to show.
        width: columns.
        height: rows.
        now: Unix time; countdowns are derived from it.
        shown_step: the step of the past that this is; None: the present.
        actions: keys and what they do now.
    """
    request = Request(panel, width, now, shown_step, actions)
    return Content("\n").join([one_line(line, width) for line in _fitted(request, height)])


def is_calm(panel: Panel) -> bool:
    """Whether nothing on the panel needs a look."""
    busy = panel.model.phase in (Phase.WAITING, Phase.OFFERED, Phase.COMPACTING, Phase.PERMISSION)
    model = panel.model
    told = (model.silence, model.cap, model.switched, model.compacted, model.continuations, panel.paused)
    tools = any(tool_lines.troubled(row) for row in (*panel.rows, *panel.endpoints))
    return not (busy or any(told) or tools or panel.consumed or panel.cascades or panel.more)


def _fitted(request: Request, height: int) -> Lines:
    lengths = {name: list(section(request)) for name, section in SECTIONS}
    chosen = {name: 0 for name, options in lengths.items() if options}

    def lines(*, gaps: bool) -> Lines:
        blocks = [(name, lengths[name][number]) for name, number in chosen.items()]
        found: Lines = []
        for name, block in blocks:
            if gaps and found and block and name in AFTER_A_GAP:
                found = [*found, Content("")]
            found = [*found, *block]
        return found

    if len(found := lines(gaps=True)) <= height:
        return found
    for _ in range(max(map(len, lengths.values()), default=0)):
        for name in SHORTENED_FIRST:
            if len(found := lines(gaps=False)) <= height:
                return found
            if name in chosen and chosen[name] + 1 < len(lengths[name]):
                chosen[name] += 1
    found = lines(gaps=False)
    if len(found) <= height:
        return found
    urgent = [line for name in reversed(SHORTENED_FIRST) if name in chosen for line in lengths[name][chosen[name]]]
    return urgent[:height]


# ── the sections that are not the model's or the tools' ─────────────────────────────────────────


def _past(request: Request) -> Sequence[Lines]:
    if request.shown_step is None:
        return ()
    panel = request.panel
    words = sign_of(panel.marks[-1]).words if panel.marks else ""
    return ([Content.styled(f"◂ as it was after step {request.shown_step}: {words}", "$text-accent bold")],)


def _steps(request: Request) -> Sequence[Lines]:
    panel = request.panel
    if not panel.marks:
        return ()
    room = max(1, request.width - 8)
    return ([labelled("steps", timeline(panel.marks, room, request.shown_step))], [])


def _more(request: Request) -> Sequence[Lines]:
    blocks = [(title, lines) for title, lines in request.panel.more if lines]
    if not blocks:
        return ()
    full = [
        labelled("" if number else title, Content(str(line)))
        for title, lines in blocks
        for number, line in enumerate(lines)
    ]
    short = [labelled(title, Content(str(lines[-1]))) for title, lines in blocks]
    return (full, short, [])


SECTIONS: Sequence[tuple[str, Section]] = (
    ("past", _past),
    ("model", lambda r: model_lines.model(r.panel, r.width, r.now, r.actions)),
    ("events", lambda r: model_lines.events(r.panel, r.width)),
    ("context", lambda r: model_lines.context(r.panel, r.width)),
    ("spent", lambda r: model_lines.spent(r.panel)),
    ("table", lambda r: tool_lines.table(r.panel, r.width)),
    ("cause", lambda r: tool_lines.causes(r.panel, r.width)),
    ("budget", lambda r: tool_lines.budget(r.panel, r.width)),
    ("paused", lambda r: tool_lines.paused(r.panel, r.width)),
    ("later", lambda r: tool_lines.deferred(r.panel, r.width)),
    ("more", _more),
    ("steps", _steps),
)
"""In the order in which they stand. A room that reports later adds a section here, or lines to `Panel.more`."""
SHORTENED_FIRST = (
    "more",
    "later",
    "spent",
    "context",
    "table",
    "budget",
    "events",
    "paused",
    "steps",
    "cause",
    "past",
    "model",
)
"""The least urgent section first."""
AFTER_A_GAP = frozenset({"table", "cause", "budget", "paused", "later", "steps"})
"""Sections that stand apart where there is room."""
