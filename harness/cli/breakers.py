"""`harness breakers`: the breakers of a recorded session, at its end or at any step."""

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path

from harness.base.clock import time_of_day
from harness.base.errors import JournalError
from harness.events import (
    Alternative,
    BreakerChanged,
    BreakerCommand,
    BreakerCommanded,
    CascadeChanged,
    Dispatch,
    Dispatched,
    DispatchLimitsSet,
    Event,
    Json,
)
from harness.journal import find, read
from harness.journal.records import require_step, until
from harness.policies.breakers.capabilities import CapabilityMap
from harness.policies.breakers.dispatcher import BreakerReplay
from harness.policies.breakers.failure_budget import budget_used
from harness.policies.breakers.health_table import table_lines
from harness.policies.breakers.registry import BreakerRegistry
from harness.settings.capability_files import load_capabilities


def session_file(name: str, folder: Path) -> Path:
    """The journal for a path, an id, the beginning of one, or "latest". Raises HarnessError."""
    path = Path(name)
    if path.suffix != ".jsonl":
        return find(folder, name)
    if not path.is_file():
        raise JournalError(f"There is no journal {path}; `harness sessions` lists the sessions of this folder.")
    return path


def breaker_lines(path: Path, at: int | None = None) -> Iterator[str]:
    """The breakers, the failure budget and the changes up to step `at`, or to the end. Raises JournalError."""
    registry, log = _replayed(path, at)
    yield f"{path.stem}, {f'at the end of step {at}' if at else f'after step {registry.step}'}"
    yield ""
    yield from table_lines(registry.rows(), registry.step, time_of_day)
    yield f"failure budget: {budget_used(registry.consumed, registry.limits.budget)} used in this turn"
    if log:
        yield ""
        yield from log


def breakers_as_json(path: Path, at: int | None = None) -> Json:
    """The same for programs, without the changes; `error_rate` is null for a tool without calls. Raises
    JournalError."""
    registry, _ = _replayed(path, at)
    tools = [{**asdict(row), "error_rate": row.error_rate} for row in registry.rows()]
    budget = {"used": min(registry.consumed, registry.limits.budget), "of": registry.limits.budget}
    return {"session": path.stem, "step": registry.step, "failure_budget": budget, "tools": tools}


def _replayed(path: Path, at: int | None) -> tuple[BreakerRegistry, list[str]]:
    """The breakers at that step, and the changes until then."""
    records = read(path).records
    tools = tools_in(record.event for record in records)
    if not tools:
        raise JournalError(f"{path.name} contains no breaker decisions.")
    if at is not None:
        require_step(path, records, at)
    registry = BreakerRegistry(tools, recorded_capabilities(tools))
    replay, log = BreakerReplay(registry), []
    for record in until(records, at):
        log += [line for event in replay.on_event(record.event, record.at) if (line := _change_line(event))]
        if line := _decision_line(record.event):
            log.append(f"step {registry.step}: {line}")
    return registry, log


def recorded_capabilities(tools: tuple[str, ...]) -> CapabilityMap:
    """The shipped entries of a session's tools; derived ones for tools that this program has not, or no longer."""
    return load_capabilities(None, None, tools, also=dict.fromkeys(tools, ""))


def tools_in(events: Iterable[Event]) -> tuple[str, ...]:
    """The tools of a session: those last announced, and others with decisions."""
    known: tuple[str, ...] = ()
    decided: dict[str, None] = {}
    for event in events:
        match event:
            case DispatchLimitsSet(tools=tools):
                known = tools
            case Dispatched(tool=tool) if event.reason != "unknown_tool":
                decided[(event.key or tool).partition(":")[0]] = None
    return tuple(dict.fromkeys((*known, *decided)))


def _decision_line(event: Event) -> str:
    match event:
        case BreakerCommanded(command=BreakerCommand.CONFIRM):
            return "the user confirmed that the cause is gone"
        case Dispatched(dispatch=Dispatch.SKIP, alternatives=[Alternative(tool=other, degradation=loses), *_]) if other:
            return f"{event.tool} skipped; alternative: {other}, loses {loses}"
        case Dispatched(dispatch=Dispatch.SKIP | Dispatch.PAUSE as dispatch):
            return f"{event.tool} {'skipped' if dispatch is Dispatch.SKIP else 'not run: the turn pauses'}"
        case Dispatched(in_place_of=skipped) if skipped:
            return f"{event.tool} in place of {skipped}"
        case _:
            return ""


def _change_line(event: Event) -> str:
    match event:
        case BreakerChanged() if event.before is not event.after:
            why = event.why.value.replace("_", " ")
            detail = f" ({event.detail})" if event.detail else ""
            return f"step {event.step}: {event.key} {event.before.value} → {event.after.value}: {why}{detail}"
        case CascadeChanged():
            tools = f": {', '.join(event.tools)}" if event.tools else ""
            return f"step {event.step}: {event.phase.value}, {event.root}{tools}"
        case _:
            return ""
