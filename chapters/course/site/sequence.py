"""The sequence diagram of a run, drawn from its recorded facts."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from html import escape

from chapters.course import Language, LocalizedText, Moment, WireExchange
from harness.base.external_text import visible
from harness.events import PermissionAsked, ToolEnded, ToolOutcome, TurnEnded, TurnStarted


class Lane(Enum):
    """A participant, with the middle of its lane in pixels."""

    USER = 110
    AGENT = 330
    MODEL = 590
    TOOLS = 830


NAMES: Mapping[Lane, LocalizedText] = {
    Lane.USER: LocalizedText("you", "あなた"),
    Lane.AGENT: LocalizedText("agent", "エージェント"),
    Lane.MODEL: LocalizedText("model", "モデル"),
    Lane.TOOLS: LocalizedText("tools", "ツール"),
}
WIDTH, ROW, HEAD = 960, 24, 30
LONGEST = 34
"""Characters of a label."""


@dataclass(frozen=True, slots=True)
class Arrow:
    """One row of the diagram."""

    start: Lane
    end: Lane
    """The lane of `start` for something that happens inside the agent."""
    label: str
    failed: bool = False
    returns: bool = False
    """Whether the reply is part of the row."""
    step: int = 0
    """Number of the step of the chapter that stops here; 0: none."""


def arrows_of(moments: Iterable[Moment], steps: Mapping[int, int]) -> tuple[Arrow, ...]:
    """The rows of a run.

    Args:
        moments: recorded, oldest first.
        steps: numbers of steps by the number of their moment. Other facts appear in the diagram only with a step.
    """
    arrows: list[Arrow] = []
    for moment in moments:
        step = 0 if moment.number is None else steps.get(moment.number, 0)
        match moment.fact:
            case TurnStarted(prompt=prompt):
                arrows.append(Arrow(Lane.USER, Lane.AGENT, prompt, step=step))
            case WireExchange() as one:
                failed = one.answer != "200"
                came = one.answer if failed else one.calls or one.stop_reason
                arrows.append(Arrow(Lane.AGENT, Lane.MODEL, f"{one.number} → {came}", failed, returns=True, step=step))
            case ToolEnded(tool=tool, outcome=outcome):
                failed = outcome is not ToolOutcome.OK
                arrows.append(Arrow(Lane.AGENT, Lane.TOOLS, f"{tool}: {outcome}", failed, returns=True, step=step))
            case PermissionAsked(tool=tool):
                arrows.append(Arrow(Lane.AGENT, Lane.USER, f"{tool}?", step=step))
            case TurnEnded(code=code, answer=answer):
                arrows.append(Arrow(Lane.AGENT, Lane.USER, answer or code, failed=not answer, step=step))
            case fact if step:
                arrows.append(Arrow(Lane.AGENT, Lane.AGENT, type(fact).__name__, step=step))
    return tuple(arrows)


def sequence_svg(arrows: Iterable[Arrow], language: Language, title: str) -> str:
    """The diagram as SVG to be placed in a page, with links to the steps; the page has its style."""
    rows = tuple(arrows)
    height = HEAD + ROW * len(rows) + 8
    lanes = "".join(
        f'<line class="lane" x1="{lane.value}" x2="{lane.value}" y1="{HEAD - 6}" y2="{height}"/>'
        f'<text class="name" x="{lane.value}" y="16" text-anchor="middle">{NAMES[lane].into(language)}</text>'
        for lane in Lane
    )
    drawn = "\n".join(_row(one, HEAD + ROW * number + ROW // 2) for number, one in enumerate(rows))
    return (
        f'<svg class="sequence" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="group" '
        f'aria-label="{escape(title)}">\n{lanes}\n{drawn}\n</svg>'
    )


def _row(one: Arrow, y: int) -> str:
    kind = "arrow failed" if one.failed else "arrow"
    label = " ".join(visible(one.label).split())
    text = escape(label if len(label) <= LONGEST else f"{label[: LONGEST - 1]}…")
    start, end = one.start.value, one.end.value
    if start == end:
        drawn = f'<circle cx="{start}" cy="{y}" r="4"/><text x="{start + 10}" y="{y + 4}">{text}</text>'
    else:
        way = 1 if end > start else -1
        heads = _head(end, y, way) + (_head(start, y, -way) if one.returns else "")
        middle = (start + end) // 2 if one.end is not Lane.TOOLS else (Lane.MODEL.value + end) // 2
        drawn = (
            f'<line x1="{start}" x2="{end}" y1="{y + 5}" y2="{y + 5}"/>{heads}'
            f'<text x="{middle}" y="{y}" text-anchor="middle">{text}</text>'
        )
    if not one.step:
        return f'<g class="{kind}">{drawn}</g>'
    mark = (
        f'<rect class="mark" x="2" y="{y - 9}" width="26" height="18" rx="9"/>'
        f'<text class="number" x="15" y="{y + 4}" text-anchor="middle">{one.step}</text>'
    )
    return f'<a href="#step-{one.step}" class="to-step"><g class="{kind}">{drawn}</g>{mark}</a>'


def _head(x: int, y: int, way: int) -> str:
    return f'<path d="M{x} {y + 5}l{-7 * way} -4v8z"/>'
