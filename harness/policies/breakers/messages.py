"""Decisions as text: one line for the user, and the answer to a skipped call for the model."""

from collections.abc import Sequence

from harness.events import Alternative, DispatchReason, HealthRow, Rank
from harness.policies.breakers.decisions import DispatchDecision, PauseTurn, Probe, Skip


def explained(decision: DispatchDecision, row: HealthRow | None, why: str = "") -> str:
    """The decision in one line for the user; empty for a normal call.

    Args:
        row: the tool's row of the table; None for an unknown tool.
        why: the explanation of a check before the call.
    """
    tool = decision.permit.tool
    match decision:
        case Probe(reason=DispatchReason.CANARY):
            return f"{tool} is probed for its whole group"
        case Probe():
            return f"{tool} is probed once to test whether it works again"
        case PauseTurn() | Skip():
            return because(decision.reason, tool, row, why)
        case _ if decision.reason is DispatchReason.DEGRADED:
            return f"{tool} is called with caution: {why or 'its check reports a degraded state'}"
        case _:
            return ""


def because(reason: DispatchReason, tool: str, row: HealthRow | None, why: str = "") -> str:
    """Why a tool is not called, as a clause that follows its name."""
    match reason:
        case DispatchReason.OPEN | DispatchReason.DEPENDENCY:
            held = " and waits for what it depends on" if reason is DispatchReason.DEPENDENCY else ""
            return f"{_failures(row)}{held}{_until(row)}"
        case DispatchReason.PROBE_OUT:
            return "another call is probing it"
        case DispatchReason.SYSTEMIC:
            return f"it failed together with other tools{_noted(row)}{_until(row)}"
        case DispatchReason.UNCONFIRMED:
            return (
                f"it failed together with other tools{_noted(row)}, and a user has to /confirm that the cause is gone"
            )
        case DispatchReason.RECOVERING:
            return "it failed together with other tools, which are probed one after the other"
        case DispatchReason.ISOLATED:
            return "a user has isolated it"
        case DispatchReason.UNAVAILABLE:
            return f"its check reports it as unavailable{f' ({why})' if why else ''}"
        case DispatchReason.UNKNOWN_TOOL:
            return f"there is no tool called {tool}"
        case DispatchReason.BUDGET_SPENT:
            return "the failure budget of this turn is used up"
        case DispatchReason.NOTHING_LEFT:
            return "every remaining sub-task needs a tool that does not work"
        case _:
            return reason.value.replace("_", " ")


def skipped(decision: Skip, row: HealthRow | None, why: str = "") -> str:
    """The tool result of a skipped call: the reason, the alternatives with their losses, and what not to do."""
    tool = decision.permit.tool
    lines = [f"{tool} was not run: {because(decision.reason, tool, row, why)}.", "Alternatives, best first:"]
    lines += [f"{number}. {in_words(route)}" for number, route in enumerate(decision.routes, 1)]
    if decision.exhausted:
        lines.append("No other tool can replace it now.")
    lines.append(
        f"Report in your answer what you did without {tool} and what is missing. Do not call it again at once."
    )
    return "\n".join(lines)


def paused(decision: PauseTurn) -> str:
    """The tool result of a call when the turn pauses."""
    return f"Not run: the turn pauses here, because {because(decision.reason, decision.permit.tool, None)}."


def in_words(route: Alternative) -> str:
    """An alternative in one line."""
    match route.rank:
        case Rank.MANUAL:
            return f"by hand: {route.method}"
        case Rank.SCOPE:
            return f"leave it out: {route.method}"
        case _:
            return f"{route.tool}: {route.method} (loses: {route.degradation})"


def best_of(routes: Sequence[Alternative]) -> str:
    """The best alternative in a few words, for the user; empty: there is none."""
    return f"{routes[0].tool or 'by hand'}; loses: {routes[0].degradation}" if routes else ""


def _failures(row: HealthRow | None) -> str:
    if row is None or not row.failures:
        return "a user opened it"
    times = "once" if row.failures == 1 else f"{row.failures} times in a row"
    return f"it failed {times}" + (f" ({row.message})" if row.message else "")


def _noted(row: HealthRow | None) -> str:
    cause = row.note.partition(": ")[2] if row else ""
    return f" ({cause})" if cause else ""


def _until(row: HealthRow | None) -> str:
    return f"; next probe at step {row.probe_at}" if row and row.probe_at is not None else ""
