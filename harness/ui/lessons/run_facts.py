"""What a run has to say of the wire and of the panel, in a line each, and the wire in full."""

import json
from collections.abc import Iterable

from harness.events import BreakerState, Event
from harness.lessons import Exchanged, Moment
from harness.ui.lines.events import dollars, priced
from harness.ui.lines.line import Line, Tone
from harness.ui.panel.fold import PanelFold
from harness.ui.panel.state import Panel

SAID = 60
"""Characters of a reply that are quoted in a line."""
FIRST = ("model", "max_tokens", "messages")
"""Of a request these come first: what a learner looks for stands above the long descriptions of tools."""
MOST_CHARACTERS = 600
"""Of a single text of a request in lines."""


def exchanged_line(one: Exchanged) -> Line:
    """A request and its answer."""
    sent = f"{_several(one.messages, 'message')}, {_several(one.tools, 'tool')}, at most {one.max_tokens:,} tokens"
    said = " ".join(one.text.split())
    quoted = f'"{said[:SAID]}{"…" if len(said) > SAID else ""}"' if said else ""
    came = ", ".join(part for part in (one.answer, one.stop_reason, one.calls, quoted) if part)
    return Line("⇄", f"request {one.number}: {sent} → {came}", Tone.QUIET if one.answer == "200" else Tone.TROUBLE)


def panel_of(moments: Iterable[Moment]) -> Panel:
    """The panel after these moments."""
    fold = PanelFold()
    for moment in moments:
        if isinstance(moment.fact, Event):
            fold.see(moment.fact, moment.at)
    return fold.now


def panel_line(panel: Panel) -> Line:
    """The panel, as far as it fits a line: what a screen would show beside the conversation."""
    facts = [f"turn {panel.turn}", f"step {panel.step}"] if panel.turn else ["nothing yet"]
    if panel.window:
        facts.append(f"context {panel.context_tokens:,} of {panel.window:,} tokens")
    if panel.spend.requests:
        facts.append(
            f"{_several(panel.spend.requests, 'request')}, {priced(panel.spend.cost_usd, panel.spend.unpriced)}"
        )
    if panel.spend.retry_cost_usd:
        facts.append(f"of it {dollars(panel.spend.retry_cost_usd)} on retries")
    facts += [f"{row.tool} {row.state.value}" for row in panel.rows if row.state is not BreakerState.CLOSED]
    if panel.consumed:
        facts.append(f"failures {panel.consumed} of {panel.budget}")
    return Line("▤", f"panel: {' · '.join(facts)}")


def sent_text(one: Exchanged, most: int | None = None) -> str:
    """The body of a request as JSON; `most` characters of each text in it, None: all."""
    ordered = {name: one.sent[name] for name in FIRST if name in one.sent} | dict(one.sent)
    return json.dumps(_cut(ordered, most), indent=2, ensure_ascii=False)


def came_text(one: Exchanged, most: int | None = None) -> str:
    """The content of the reply as JSON."""
    reply = {"answer": one.answer, "stop_reason": one.stop_reason, "content": list(one.came)}
    return json.dumps(_cut(reply, most), indent=2, ensure_ascii=False)


def _cut(value: object, most: int | None) -> object:
    match value:
        case str() if most is not None and len(value) > most:
            return f"{value[:most]}… ({len(value) - most:,} more characters)"
        case dict():
            return {name: _cut(part, most) for name, part in value.items()}
        case list() | tuple():
            return [_cut(part, most) for part in value]
        case _:
            return value


def _several(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"
