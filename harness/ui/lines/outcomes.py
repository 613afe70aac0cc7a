"""How calls and turns ended, in words."""

from collections.abc import Mapping
from types import MappingProxyType

from harness.events import ToolOutcome, TransitionCode, TurnEnded
from harness.ui.lines.events import priced, seconds
from harness.ui.lines.line import Line, Tone

OUTCOMES: Mapping[ToolOutcome, tuple[str, str, Tone]] = MappingProxyType(
    {
        ToolOutcome.OK: ("✓", "ok", Tone.QUIET),
        ToolOutcome.ERROR: ("✗", "failed", Tone.TROUBLE),
        ToolOutcome.BROKEN: ("✗", "broke", Tone.BAD),
        ToolOutcome.INVALID: ("✗", "not run", Tone.TROUBLE),
        ToolOutcome.DENIED: ("○", "not allowed", Tone.TROUBLE),
        ToolOutcome.CANCELLED: ("○", "interrupted", Tone.TROUBLE),
        ToolOutcome.SKIPPED: ("○", "skipped", Tone.TROUBLE),
    }
)
"""Mark, word and tone of each way in which a call ends."""
STOPPED = frozenset({TransitionCode.ABORTED_STREAMING, TransitionCode.ABORTED_TOOLS})


def ending_line(end: TurnEnded) -> Line:
    """The end of a turn in one line, with what it took."""
    count = f"{end.requests} request" + ("" if end.requests == 1 else "s")
    cost = f", {priced(end.cost_usd, end.unpriced)}" if end.cost_usd or end.unpriced else ""
    reckoning = f"{seconds(end.duration_s)}, {count}{cost}"
    if end.code is TransitionCode.COMPLETED:
        return Line("·", reckoning)
    if end.code in STOPPED:
        return Line("○", f"interrupted; what had arrived is kept ({reckoning})", Tone.TROUBLE)
    if end.code is TransitionCode.FAILURE_BUDGET_PAUSED:
        return Line("‖", f"{end.reason} ({reckoning})", Tone.TROUBLE)
    if end.code is TransitionCode.LOOP_STOPPED:
        return Line("⟳", f"{end.reason} ({reckoning})", Tone.TROUBLE)
    return Line("✗", f"{end.reason} ({end.code}; {reckoning})", Tone.BAD)
