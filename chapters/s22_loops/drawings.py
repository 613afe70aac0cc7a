"""The drawings of the chapter, made from the thresholds, the rungs and the quotas that the program uses."""

from collections.abc import Sequence

from harness.events import Rung
from harness.policies.loops.limits import QUOTAS, LoopLimits

POLICY = LoopLimits()
NUMBERS = POLICY.thresholds
Step = tuple[str, str, str]
"""A call, its result and its symbol."""

LOG = tuple(("read log", f"{lines} line{'s' if lines > 1 else ''}", symbol) for lines, symbol in enumerate("ABC", 1))
SAME: Step = ("glob x", "nothing", "D")
FAILING: Step = ("run x", "no such file", "E")
CYCLE: tuple[Step, ...] = (("test", "red", "F"), ("edit", "done", "G"))

WORDS: tuple[tuple[Sequence[Step], int], ...] = (
    (LOG, 1),
    ((SAME,), NUMBERS.copies),
    ((FAILING,), NUMBERS.copies_failing),
    (CYCLE, NUMBERS.copies_cycle),
)
"""Each word, and how often it comes: as often as makes it a loop, where it repeats at all."""

RUNGS = {
    Rung.RETRY: "make the failing call once more",
    Rung.NUDGE: "point out the repetition to the model",
    Rung.EXPLORE: "point to another part of the plan",
    Rung.SUBSTITUTE: "let another tool take its place",
    Rung.ROLLBACK: "go back to before the loop",
    Rung.BREAKER: "open the breaker of the failing tool",
    Rung.HUMAN: "ask you",
    Rung.STOP: "end the turn, with a report",
}


def rows() -> str:
    """Steps as symbols, with what each row is found to be at its last step."""
    parts = []
    for word, copies in WORDS:
        steps = [*word] * copies
        row = " ".join(symbol for *_, symbol in steps)
        shown = " ".join(symbol for *_, symbol in word)
        found = f'"{shown}" {copies} times: a loop' if copies > 1 else "nothing repeats"
        lines = [f"   {f'{call:<8} → {result}':<26}{symbol}" for call, result, symbol in steps]
        lines[-1] += f"      {row}: {found}"
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def ladder() -> str:
    """The rungs from the mildest on, with how often each may be taken for one loop."""
    return "\n".join(f"   {rung.value:<12}{RUNGS[rung]:<40}{_quota(rung)}" for rung in Rung).rstrip()


def _quota(rung: Rung) -> str:
    if rung not in QUOTAS:
        return "the end"
    quota = POLICY.quota(rung)
    return "once" if quota == 1 else f"{quota} times"
