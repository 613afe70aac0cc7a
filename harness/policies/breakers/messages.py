"""Decisions in words: for the person in one line, for the model as the answer to a call that was not run."""

from collections.abc import Sequence

from harness.events import DispatchReason, HealthRow, Rank, Route
from harness.policies.breakers.decisions import Decision, Pause, Probe, Skip

RUNNING = frozenset({DispatchReason.HEALTHY, DispatchReason.DEGRADED})


def explained(decision: Decision, row: HealthRow | None, why: str = "") -> str:
    """The decision in one line for a person; empty for a call as usual.

    Args:
        row: the tool's line of the table; None for a tool that does not exist.
        why: what a check before the call said.
    """
    tool = decision.ticket.tool
    match decision:
        case Probe(reason=DispatchReason.CANARY):
            return f"{tool} is tried for the whole group"
        case Probe():
            return f"{tool} is tried once, to see whether it works again"
        case Pause() | Skip():
            return because(decision.reason, tool, row, why)
        case _:
            return f"{tool} is called with care: {why or 'its check is not content'}" if _degraded(decision) else ""


def because(reason: DispatchReason, tool: str, row: HealthRow | None, why: str = "") -> str:
    """Why a tool is not called, as a clause that goes on from its name."""
    match reason:
        case DispatchReason.OPEN | DispatchReason.DEPENDENCY:
            held = " and waits for what it depends on" if reason is DispatchReason.DEPENDENCY else ""
            return f"{_failures(row)}{held}{_until(row)}"
        case DispatchReason.PROBE_OUT:
            return "another call is trying whether it works again"
        case DispatchReason.SYSTEMIC:
            return f"it failed together with other tools{_noted(row)}{_until(row)}"
        case DispatchReason.UNCONFIRMED:
            return f"it failed together with other tools{_noted(row)}, and a person has to /confirm that this is over"
        case DispatchReason.RECOVERING:
            return "it failed together with other tools, which are being tried one after the other"
        case DispatchReason.ISOLATED:
            return "a person has switched it off"
        case DispatchReason.UNAVAILABLE:
            return f"its check says that it cannot work now{f' ({why})' if why else ''}"
        case DispatchReason.UNKNOWN_TOOL:
            return f"there is no tool called {tool}"
        case DispatchReason.BUDGET_SPENT:
            return "the failure budget of this turn is used up"
        case DispatchReason.NOTHING_LEFT:
            return "every sub-task that is left needs a tool that does not work"
        case _:
            return reason.value.replace("_", " ")


def skipped(decision: Skip, row: HealthRow | None, why: str = "") -> str:
    """What the model is told instead of a result: why, the ways round with what each loses, and what not to do."""
    tool = decision.ticket.tool
    lines = [f"{tool} was not run: {because(decision.reason, tool, row, why)}.", "Ways round, best first:"]
    lines += [f"{number}. {in_words(route)}" for number, route in enumerate(decision.routes, 1)]
    if decision.exhausted:
        lines.append("No other tool can take its place now.")
    lines.append(
        f"Say in your answer what was done without {tool} and what is lost by that. Do not ask for it at once."
    )
    return "\n".join(lines)


def paused(decision: Pause) -> str:
    """What the model is told when the turn pauses."""
    return f"Not run: the turn pauses here, because {because(decision.reason, decision.ticket.tool, None)}."


def in_words(route: Route) -> str:
    """A way round in one line."""
    match route.rank:
        case Rank.MANUAL:
            return f"by hand: {route.method}"
        case Rank.SCOPE:
            return f"leave it out: {route.method}"
        case _:
            return f"{route.tool}: {route.method} (loses: {route.degradation})"


def best_of(routes: Sequence[Route]) -> str:
    """The best way round in a few words, for the person; empty where there is none."""
    return f"{routes[0].tool or 'by hand'}; loses: {routes[0].degradation}" if routes else ""


def _degraded(decision: Decision) -> bool:
    return decision.reason is DispatchReason.DEGRADED


def _failures(row: HealthRow | None) -> str:
    if row is None or not row.failures:
        return "it was opened by hand"
    times = "once" if row.failures == 1 else f"{row.failures} times in a row"
    return f"it failed {times}" + (f" ({row.message})" if row.message else "")


def _noted(row: HealthRow | None) -> str:
    cause = row.note.partition(": ")[2] if row else ""
    return f" ({cause})" if cause else ""


def _until(row: HealthRow | None) -> str:
    return f"; it is tried again from step {row.probe_at} on" if row and row.probe_at is not None else ""
