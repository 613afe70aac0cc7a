"""The timeline: one mark for each step, told apart by its glyph and not by colour alone."""

from collections.abc import Sequence
from dataclasses import dataclass

from textual.content import Content

from harness.events import TransitionCode as Code
from harness.ui.panel.layout import BAD, GOOD, QUIET, TROUBLE
from harness.ui.panel.state import Mark


@dataclass(frozen=True, slots=True)
class Sign:
    """How a step looks."""

    glyph: str
    """One cell wide."""
    style: str
    words: str


MORE_FROM = 3
"""Cells from which there is room to say that there are more marks."""
GOES_ON = Sign("∙", "", "goes on")
CALM = Sign("·", QUIET, "tools ran")
DONE = Sign("●", GOOD, "answered")
RETRIED = Sign("↻", TROUBLE, "retried")
SWITCHED = Sign("→", TROUBLE, "asked another model")
COMPACTED = Sign("✂", TROUBLE, "compacted")
TOOL_FAILED = Sign("✗", TROUBLE, "a tool failed")
OPENED = Sign("⊘", BAD, "a breaker opened")
SKIPPED = Sign("○", TROUBLE, "a tool was skipped")
ESCALATED = Sign("▲", TROUBLE, "asked for a longer answer")
CONTINUED = Sign("…", TROUBLE, "asked to go on")
PAUSED = Sign("‖", BAD, "paused")
CIRCLED = Sign("⟳", BAD, "stopped in a loop")
LOOPED = Sign("∞", TROUBLE, "went in circles")
STOPPED = Sign("■", TROUBLE, "interrupted")
LIMITED = Sign("▪", TROUBLE, "stopped by a limit")
PROBED = Sign("◌", TROUBLE, "a tool was tried again")
FAILED = Sign("╳", BAD, "failed")

BY_CODE: dict[Code, Sign] = {
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
    Code.LOOP_STOPPED: CIRCLED,
    Code.ABORTED_STREAMING: STOPPED,
    Code.ABORTED_TOOLS: STOPPED,
    Code.MAX_TURNS: LIMITED,
    Code.WAIT_LIMIT: LIMITED,
    Code.MAX_OUTPUT_TOKENS_EXHAUSTED: LIMITED,
    Code.BUDGET_EXHAUSTED: LIMITED,
    Code.BLOCKING_LIMIT: LIMITED,
}
"""The sign of a code by itself; every other code is a turn that failed."""


def sign_of(mark: Mark) -> Sign:
    """The sign of a step: its end where that is out of the ordinary, else the worst that happened in it."""
    by_code = GOES_ON if mark.code is None else BY_CODE.get(mark.code, FAILED)
    if by_code not in (GOES_ON, CALM, DONE):
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


def timeline(marks: Sequence[Mark], width: int, shown_step: int | None = None) -> Content:
    """The marks in `width` cells: the newest ones, or those around the step that is shown, which stands out.

    There is a space between them where they all fit; else those that are left out are told of by ‹ and ›.
    """
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


def _shown(mark: Mark, shown_step: int | None) -> Content:
    sign = sign_of(mark)
    return Content.styled(sign.glyph, f"{sign.style} reverse".strip() if mark.step == shown_step else sign.style)


def next_incident(marks: Sequence[Mark], step: int, *, backwards: bool = False) -> int | None:
    """The nearest step after `step`, or before it, in which something happened that a calm step does not have."""
    steps = [mark.step for mark in marks if mark.incident or sign_of(mark) not in (CALM, DONE, GOES_ON)]
    if backwards:
        return max((one for one in steps if one < step), default=None)
    return min((one for one in steps if one > step), default=None)
