"""The facts of a session for the status line, the line above the prompt, and the title of the terminal."""

from collections.abc import Iterator, Sequence
from math import ceil

from harness.session import SandboxLevel, Session
from harness.settings.fields import PRACTICE_MODEL
from harness.ui.app.status_line import Status
from harness.ui.folds.model import Phase
from harness.ui.folds.work import how_far, in_progress, is_open
from harness.ui.lines.line import dollars, priced
from harness.ui.lines.queue import joins_after
from harness.ui.panel.layout import cell, count, flat
from harness.ui.panel.model_lines import ASKS, retry_facts, running_tools, what_failed
from harness.ui.panel.state import Panel

MODES = {"ask": "asks first", "edits": "edits freely", "deny": "read only", "plan": "plan mode", "yolo": "asks nothing"}
"""Names of the permission modes."""
HELD = {SandboxLevel.FILES: "files only", SandboxLevel.NONE: "no sandbox"}
"""What holds the commands of the model, where that is not the full sandbox."""
PAST = (("←→", "steps"), ("Esc", "back to now"), ("F3", "full"))
WIDEST_PART = 40
"""Columns for the current part of the plan, or for what a tool does."""
CHARACTERS_PER_TOKEN = 4
"""About, in English text; the exact number comes with the end of a reply."""
STOP = ("Esc", "stop")
ALWAYS = (("F2", "panel"), ("F3", "full"), ("?", "keys"))
RUNNING = (*ALWAYS[:2], ("F1", "keys"))
"""While a turn runs, a letter is the beginning of the next prompt."""


def status_of(session: Session, panel: Panel, *, running: bool, past: bool, warning: str) -> Status:
    """The status of a session.

    Args:
        session: the open session.
        panel: its current state.
        running: a turn is running.
        past: the panel shows an earlier step.
        warning: shown instead of the keys.
    """
    keys = PAST if past else RUNNING if running else ALWAYS
    facts = (*_facts(session, panel, running=running), *_plan(panel))
    return Status(facts, warning, keys, main=_mode(session))


def _plan(panel: Panel) -> Iterator[str]:
    if is_open(panel.plan):
        yield f"todo {how_far(panel.plan)}"
        if now := in_progress(panel.plan):
            yield cell(flat(now), WIDEST_PART).rstrip()


def _mode(session: Session) -> str:
    return MODES.get(session.permissions.mode, session.permissions.mode)


def _facts(session: Session, panel: Panel, *, running: bool) -> Iterator[str]:
    model = session.models.current
    if session.settings.practice:
        model = "practice model" if model == PRACTICE_MODEL else f"{model} (practice)"
    fallback = running and panel.model.active not in ("", panel.model.chosen)
    yield f"{panel.model.active} instead of {model}" if fallback else model
    if session.models.effort is not None and (
        session.models.efforts is None or session.models.effort in session.models.efforts
    ):
        yield session.models.effort
    yield _mode(session)
    if panel.window:
        yield f"{panel.context_tokens / panel.window * 100:.0f} %"
    if held := HELD.get(session.sandbox.level):
        yield held
    spend = panel.spend
    if spend.cost_usd or spend.unpriced or not session.settings.practice:
        retries = f" ({dollars(spend.retry_cost_usd)} on retries)" if spend.retry_cost_usd else ""
        yield f"{priced(spend.cost_usd, spend.unpriced)}{retries}"
    elif wasted := spend.retry_usage.prompt + spend.retry_usage.output:
        yield f"{wasted:,} tokens on retries"


def activity(panel: Panel, now: float, keys: Sequence[tuple[str, str]], *, asks: bool = False) -> Status:
    """What runs now: its name, for how long, and the tokens of the reply so far.

    Args:
        panel: the state now.
        now: Unix time.
        keys: what can be pressed; by default Esc, which stops.
        asks: a paused turn waits for the user's answer.
    """
    view = panel.model
    lasted = [f"{int(now - view.since):,} s"] if now - view.since >= 1 else []
    match view.phase:
        case phase if asks or phase in ASKS:
            return Status(("waiting for your answer",))
        case Phase.WAITING if view.retry is not None:
            facts = [*retry_facts(view, now)]
        case Phase.COMPACTING:
            facts = ["compacting", *lasted]
        case Phase.TOOLS if panel.running:
            facts = [*_running(panel), *lasted]
        case Phase.ASKING:
            facts = [f"asking {flat(view.active)}", *lasted, *_silence(panel)]
        case Phase.THINKING | Phase.ANSWERING:
            tokens = ceil(view.streamed_characters / CHARACTERS_PER_TOKEN)
            facts = [view.phase.value, *lasted, f"about {count(tokens)} tokens"]
        case _:
            facts = ["working"]
    return Status(tuple(facts), "", tuple(keys) or (STOP,), shortens=True)


def joins(panel: Panel, now: float, *, running: bool) -> str:
    """Where the texts join that the user gave to the turn; `running`: one runs."""
    view = panel.model
    match view.phase:
        case _ if not running:
            return "joins your next prompt"
        case phase if phase in ASKS:
            return "joins after your answer"
        case Phase.WAITING:
            return "joins the next try"
        case Phase.COMPACTING:
            return "joins after the compaction"
        case Phase.TOOLS if panel.running:
            minutes, seconds = divmod(int(now - view.since), 60)
            return f"{joins_after(panel.running)}, {minutes}:{seconds:02}"
        case Phase.ASKING | Phase.THINKING | Phase.ANSWERING:
            return "joins after this reply"
        case _:
            return "joins the next request"


def _running(panel: Panel) -> Sequence[str]:
    first, *others = panel.running
    if others:
        return f"running {running_tools(panel)}", f"{len(panel.running):,} calls"
    summary = cell(flat(first.summary), WIDEST_PART).rstrip()
    return (f"running {flat(first.tool)}" + (f": {summary}" if summary else ""),)


def _silence(panel: Panel) -> Iterator[str]:
    if (silence := panel.model.silence) is not None:
        yield f"silent for {silence.silent_s:.0f} s"


def title(panel: Panel, name: str, *, running: bool, asks: bool = False) -> str:
    """The title of the terminal: what runs now, or `name`."""
    if not running:
        return f"harness · {name}"
    match panel.model.phase:
        case phase if asks or phase in ASKS:
            return "harness · asks you"
        case Phase.WAITING:
            return f"harness · waits ({what_failed(panel.model)})"
        case Phase.TOOLS if panel.running:
            return f"harness · running {panel.running[0].tool}"
        case Phase.IDLE | Phase.DECIDING | Phase.TOOLS:
            return "harness · working"
        case phase:
            return f"harness · {phase.value}"
