"""What the status line says of a session."""

from collections.abc import Iterator

from harness.session import Session
from harness.settings.fields import PRACTICE_MODEL
from harness.ui.app.status import Status
from harness.ui.lines.events import dollars, priced
from harness.ui.lines.plan import how_far, in_progress, is_open
from harness.ui.panel.layout import cell, flat
from harness.ui.panel.state import Panel

MODES = {"ask": "asks first", "edits": "edits freely", "deny": "read only", "yolo": "asks nothing"}
"""Permission modes in two words."""
PAST = (("←→", "steps"), ("Esc", "back to now"), ("F3", "full"))
WIDEST_PART = 40
"""Columns of the part of a plan that is worked on."""
ALWAYS = (("F2", "panel"), ("F3", "full"), ("?", "keys"))


def status_of(session: Session, panel: Panel, *, running: bool, past: bool, waiting: int, warning: str) -> Status:
    """The line.

    Args:
        session: the session that is open.
        panel: what is so now.
        running: a turn runs.
        past: the panel shows a moment of the past.
        waiting: prompts that wait for their turn.
        warning: said instead of the keys; empty: nothing is.
    """
    keys = PAST if past else (("Esc", "stop"), *ALWAYS) if running else ALWAYS
    facts = (*_facts(session, panel, running=running), *([f"{waiting} waiting"] if waiting else []), *_plan(panel))
    return Status(facts, warning, keys)


def _plan(panel: Panel) -> Iterator[str]:
    """How far an open plan is, and the part that is worked on; where there is no room, the former or nothing."""
    if is_open(panel.plan):
        yield f"plan {how_far(panel.plan)}"
        if now := in_progress(panel.plan):
            yield cell(flat(now), WIDEST_PART).rstrip()


def _facts(session: Session, panel: Panel, *, running: bool) -> Iterator[str]:
    model = session.model
    if session.settings.practice:
        model = "practice model" if model == PRACTICE_MODEL else f"{model} (practice)"
    fallback = running and panel.model.active not in ("", panel.model.chosen)
    yield f"{panel.model.active} instead of {model}" if fallback else model
    if session.effort is not None and (session.efforts is None or session.effort in session.efforts):
        yield session.effort
    yield MODES.get(session.permission_mode, session.permission_mode)
    if panel.window:
        yield f"{panel.context_tokens / panel.window:.0%}"
    spend = panel.spend
    if spend.cost_usd or spend.unpriced or not session.settings.practice:
        retries = f" ({dollars(spend.retry_cost_usd)} on retries)" if spend.retry_cost_usd else ""
        yield f"{priced(spend.cost_usd, spend.unpriced)}{retries}"
    elif wasted := spend.retry_usage.prompt + spend.retry_usage.output:
        yield f"{wasted:,} tokens on retries"
