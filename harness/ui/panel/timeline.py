"""The timeline: one sign per step, distinguished by its glyph and not by colour alone."""

from collections.abc import Sequence
from dataclasses import dataclass

from textual.content import Content

from harness.events import TransitionCode as Code
from harness.ui.panel.layout import BAD, GOOD, QUIET, TROUBLE
from harness.ui.panel.state import StepMark


@dataclass(frozen=True, slots=True)
class StepSign:
    """The appearance of a step."""

    glyph: str
    """One cell wide."""
    style: str
    meaning: str


MORE_FROM = 3
"""Cells needed to show that there are more steps."""
RUNNING = StepSign("∙", "", "running")
CALM = StepSign("·", QUIET, "tools ran")
DONE = StepSign("●", GOOD, "answered")
RETRIED = StepSign("↻", TROUBLE, "retried")
SWITCHED = StepSign("→", TROUBLE, "asked another model")
COMPACTED = StepSign("✂", TROUBLE, "compacted")
TOOL_FAILED = StepSign("✗", TROUBLE, "a tool failed")
OPENED = StepSign("⊘", BAD, "a tool was paused")
SKIPPED = StepSign("○", TROUBLE, "a tool was skipped")
ESCALATED = StepSign("▲", TROUBLE, "asked for a longer answer")
CONTINUED = StepSign("…", TROUBLE, "asked to continue")
PAUSED = StepSign("‖", BAD, "the turn was paused")
LOOP_STOPPED = StepSign("⟳", BAD, "stopped in a loop")
LOOPED = StepSign("∞", TROUBLE, "a loop")
STOPPED = StepSign("■", TROUBLE, "interrupted")
LIMITED = StepSign("▪", TROUBLE, "stopped by a limit")
PROBED = StepSign("◌", TROUBLE, "a tool was tried again")
FAILED = StepSign("╳", BAD, "failed")

BY_CODE: dict[Code, StepSign] = {
    Code.COMPLETED: DONE,
    Code.NEXT_TURN: CALM,
    Code.MAX_OUTPUT_TOKENS_ESCALATE: ESCALATED,
    Code.MAX_OUTPUT_TOKENS_EFFORT: ESCALATED,
    Code.MAX_OUTPUT_TOKENS_RECOVERY: CONTINUED,
    Code.TOKEN_BUDGET_CONTINUATION: CONTINUED,
    Code.STOP_HOOK_BLOCKING: CONTINUED,
    Code.REFUSAL_FALLBACK: SWITCHED,
    Code.REACTIVE_COMPACT_RETRY: COMPACTED,
    Code.COLLAPSE_DRAIN_RETRY: COMPACTED,
    Code.FAILURE_BUDGET_PAUSED: PAUSED,
    Code.LOOP_STOPPED: LOOP_STOPPED,
    Code.ABORTED_STREAMING: STOPPED,
    Code.ABORTED_TOOLS: STOPPED,
    Code.MAX_TURNS: LIMITED,
    Code.WAIT_LIMIT: LIMITED,
    Code.MAX_OUTPUT_TOKENS_EXHAUSTED: LIMITED,
    Code.BUDGET_EXHAUSTED: LIMITED,
    Code.BLOCKING_LIMIT: LIMITED,
}
"""Every other code is a failed turn."""


def sign_of(mark: StepMark) -> StepSign:
    """The sign of a step: its end if that is unusual, else the worst incident in it."""
    by_code = RUNNING if mark.code is None else BY_CODE.get(mark.code, FAILED)
    if by_code not in (RUNNING, CALM, DONE):
        return by_code
    incidents = (
        (mark.opened, OPENED),
        (mark.loops, LOOPED),
        (mark.tool_failures, TOOL_FAILED),
        (mark.probes, PROBED),
        (mark.skipped, SKIPPED),
        (mark.switched, SWITCHED),
        (mark.retries or mark.faults, RETRIED),
        (mark.compacted, COMPACTED),
    )
    return next((sign for happened, sign in incidents if happened), by_code)


def timeline(marks: Sequence[StepMark], width: int, shown_step: int | None = None, *, quiet: bool = False) -> Content:
    """The steps in `width` cells: the newest ones, or those around the step that is shown, which is highlighted.

    If they all fit they are spaced; otherwise ‹ and › show that there are more. `quiet`: without colours.
    """
    if quiet:
        return Content.styled(timeline(marks, width, shown_step).plain, QUIET)
    if width < 1 or not marks:
        return Content("")
    if 2 * len(marks) - 1 <= width:
        return Content(" ").join(_shown(mark, shown_step) for mark in marks)
    if len(marks) <= width:
        return Content("").join(_shown(mark, shown_step) for mark in marks)
    room = max(1, width - 2)
    last = len(marks) - 1
    place = next((number for number, mark in enumerate(marks) if mark.step == shown_step), last)
    first = max(0, min(place - room // 2, len(marks) - room))
    seen = [_shown(mark, shown_step) for mark in marks[first : first + room]]
    if width < MORE_FROM:
        return Content("").join(seen)
    before = "‹" if first else " "
    after = "›" if first + room < len(marks) else ""
    return Content.assemble((before, QUIET), *seen, (after, QUIET))


def _shown(mark: StepMark, shown_step: int | None) -> Content:
    sign = sign_of(mark)
    return Content.styled(sign.glyph, f"{sign.style} reverse".strip() if mark.step == shown_step else sign.style)


def next_incident(marks: Sequence[StepMark], step: int, *, backwards: bool = False) -> int | None:
    """The nearest step after `step`, or before it, with an incident."""
    steps = [mark.step for mark in marks if mark.incident or sign_of(mark) not in (CALM, DONE, RUNNING)]
    if backwards:
        return max((one for one in steps if one < step), default=None)
    return min((one for one in steps if one > step), default=None)
