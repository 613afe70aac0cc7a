"""`harness breakers SESSION`: the breaker table of a recorded session, at its end or at any step."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from harness.base.clock import time_of_day
from harness.base.errors import JournalError
from harness.events import (
    BreakerChanged,
    BreakerCommand,
    BreakerCommanded,
    CascadeChanged,
    Dispatch,
    Dispatched,
    DispatchLimitsSet,
    Event,
    Route,
)
from harness.journal import find, read
from harness.journal.moments import require_step, until
from harness.policies.breakers.board import Board
from harness.policies.breakers.dispatcher import Replay
from harness.policies.breakers.text_table import table_lines
from harness.settings.capability_files import load_capabilities


def session_file(name: str, folder: Path) -> Path:
    """The journal meant by a path, an id, the beginning of one, or "latest". Raises HarnessError."""
    path = Path(name)
    if path.suffix != ".jsonl":
        return find(folder, name)
    if not path.is_file():
        raise JournalError(f"There is no journal {path}; `harness sessions` lists the sessions of this folder.")
    return path


def breaker_lines(path: Path, at: int | None = None) -> Iterator[str]:
    """The table, the budget and what happened to the breakers up to step `at`, or to the end.

    Raises JournalError for a journal that holds no decisions, or ends before that step.
    """
    records = read(path).records
    tools = tools_in(record.event for record in records)
    if not tools:
        raise JournalError(f"{path.name} holds no decisions about tool calls; it is older than the breakers.")
    if at is not None:
        require_step(path, records, at)
    board = Board(tools, load_capabilities(None, None, tools))
    replay, log = Replay(board), []
    for record in until(records, at):
        log += [line for event in replay.see(record.event, record.at) if (line := _told(event))]
        if line := _decided(record.event):
            log.append(f"step {board.step}: {line}")
    yield f"{path.stem}, {f'at the end of step {at}' if at else f'after step {board.step}'}"
    yield ""
    yield from table_lines(board.rows(), board.step, time_of_day)
    yield f"failure budget: {board.consumed} of {board.limits.budget} used in this turn"
    if log:
        yield ""
        yield from log


def tools_in(events: Iterable[Event]) -> tuple[str, ...]:
    """The tools a session had, by the last event that names them, and those it decided about besides."""
    known: tuple[str, ...] = ()
    decided: dict[str, None] = {}
    for event in events:
        match event:
            case DispatchLimitsSet(tools=tools):
                known = tools
            case Dispatched(tool=tool) if event.reason != "unknown_tool":
                decided[tool] = None
    return tuple(dict.fromkeys((*known, *decided)))


def _decided(event: Event) -> str:
    """What a person, or the board about a call, decided that is out of the ordinary."""
    match event:
        case BreakerCommanded(command=BreakerCommand.CONFIRM):
            return "a person confirmed that the cause is gone"
        case Dispatched(dispatch=Dispatch.SKIP, routes=[Route(tool=other, degradation=loses), *_]) if other:
            return f"{event.tool} skipped; offered: {other}, which loses {loses}"
        case Dispatched(dispatch=Dispatch.SKIP | Dispatch.PAUSE as dispatch):
            return f"{event.tool} {'skipped' if dispatch is Dispatch.SKIP else 'not run: the turn pauses'}"
        case Dispatched(in_place_of=skipped) if skipped:
            return f"{event.tool} in place of {skipped}"
        case _:
            return ""


def _told(event: Event) -> str:
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
