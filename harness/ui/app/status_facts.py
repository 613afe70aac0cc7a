"""The facts of a session for the status line."""

from collections.abc import Iterator

from harness.session import Session
from harness.settings.fields import PRACTICE_MODEL
from harness.ui.app.status import Status
from harness.ui.lines.line import dollars, priced
from harness.ui.lines.reports import how_far, in_progress, is_open
from harness.ui.panel.layout import cell, flat
from harness.ui.panel.state import Panel

MODES = {"ask": "asks first", "edits": "edits freely", "deny": "read only", "yolo": "asks nothing"}
"""Names of the permission modes."""
PAST = (("←→", "steps"), ("Esc", "back to now"), ("F3", "full"))
WIDEST_PART = 40
"""Columns for the current part of the plan."""
ALWAYS = (("F2", "panel"), ("F3", "full"), ("?", "keys"))


def status_of(session: Session, panel: Panel, *, running: bool, past: bool, warning: str) -> Status:
    """The status of a session.

    Args:
        session: the open session.
        panel: its current state.
        running: a turn is running.
        past: the panel shows an earlier step.
        warning: shown instead of the keys.
    """
    keys = PAST if past else (("Esc", "stop"), *ALWAYS) if running else ALWAYS
    facts = (*_facts(session, panel, running=running), *_plan(panel))
    return Status(facts, warning, keys)


def _plan(panel: Panel) -> Iterator[str]:
    if is_open(panel.plan):
        yield f"plan {how_far(panel.plan)}"
        if now := in_progress(panel.plan):
            yield cell(flat(now), WIDEST_PART).rstrip()


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
    yield MODES.get(session.permissions.mode, session.permissions.mode)
    if panel.window:
        yield f"{panel.context_tokens / panel.window:.0%}"
    spend = panel.spend
    if spend.cost_usd or spend.unpriced or not session.settings.practice:
        retries = f" ({dollars(spend.retry_cost_usd)} on retries)" if spend.retry_cost_usd else ""
        yield f"{priced(spend.cost_usd, spend.unpriced)}{retries}"
    elif wasted := spend.retry_usage.prompt + spend.retry_usage.output:
        yield f"{wasted:,} tokens on retries"
