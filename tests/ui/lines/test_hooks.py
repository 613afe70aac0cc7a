"""What a person sees of hooks: what they changed, and each failure once."""

import io

import pytest

from harness.events import Event, HookFailed, HookOutcome, HookPoint, HookRan
from harness.ui.lines.hooks import hook_line
from harness.ui.lines.line import Tone
from harness.ui.plain.plain import Plain

POINT = HookPoint.BEFORE_TOOL


def shown(event: Event) -> str:
    out = io.StringIO()
    Plain(out).show(event)
    return out.getvalue()


def test_a_hook_that_lets_everything_pass_is_silent() -> None:
    assert shown(HookRan(POINT, "guard", HookOutcome.PASSED, 0.1)) == ""


@pytest.mark.parametrize("outcome", [outcome for outcome in HookOutcome if outcome is not HookOutcome.PASSED])
def test_whatever_a_hook_changed_is_one_quiet_line(outcome: HookOutcome) -> None:
    event = HookRan(POINT, "guard", outcome, 0.1, "not\x1b[2Jhere")
    text = shown(event)
    assert text.startswith("· hook guard (before tool) ")
    assert text.count("\n") == 1
    assert "\x1b" not in text
    line = hook_line(event)
    assert line is not None
    assert (line.tone is Tone.TROUBLE) is (outcome is HookOutcome.STOPPED)


def test_a_failure_is_told_once() -> None:
    first = HookFailed(POINT, "guard", "it ended with exit code 1", 0.1, required=False, times=1)
    assert (
        shown(first) == "! hook guard (before tool) failed: it ended with exit code 1 (the turn goes on; told once)\n"
    )
    assert shown(HookFailed(POINT, "guard", "again", 0.1, required=False, times=2)) == ""
    assert shown(HookFailed(POINT, "guard", "interrupted", 0.1, required=False, times=0)) == ""


def test_the_failure_of_a_required_hook_says_what_follows() -> None:
    assert "counts as a no" in shown(HookFailed(POINT, "guard", "gone", 0.1, required=True, times=1))
