"""The status of a fleet: its machines, workers, tasks, slots and breakers, as text and as JSON."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from harness.base.clock import time_of_day
from harness.base.errors import HarnessError
from harness.base.external_text import counted, visible
from harness.base.secrets import without_passwords
from harness.engine.model.shared_endpoints import read
from harness.engine.store_places import fleet, slots_place
from harness.events import BreakerState, Json
from harness.policies.admission.shared_endpoint import SharedEndpoint
from harness.policies.fleet.task import FleetState, FleetTask
from harness.settings import Settings
from harness.slots.store import ClaimEntry, SqliteSlotStore

if TYPE_CHECKING:
    from harness.fleet.database import FleetDatabase
    from harness.fleet.tasks import FleetWorker

RECENT_S = 3600.0
SILENT_S = 120.0
"""A worker that has not reported for so long may be dead."""
MOST_WAITING = 10
"""Waiting tasks that are listed."""
LONGEST = 60
"""Characters of a prompt."""
CONTENT = (
    "Prompts, answers, commands and the results of calls of these tasks are kept in this database. Conversations and "
    "files stay on the machine of their worker, but for the branches it pushes."
)


@dataclass(frozen=True, slots=True)
class FleetStatus:
    """A snapshot."""

    where: str
    at: float
    """Unix time, by the clock of the database."""
    tasks: tuple[FleetTask, ...]
    """Oldest first."""
    workers: "tuple[FleetWorker, ...]"
    entries: tuple[ClaimEntry, ...]
    """Who has or waits for a slot, oldest first."""
    limit: int
    """Slots, by the settings of this machine."""
    models: dict[str, str]
    """What holds requests to a model: its breaker, a lowered limit, the server's word."""


def fleet_database() -> "FleetDatabase":
    """The database of HARNESS_FLEET_URL. Raises HarnessError if it is not set."""
    database = fleet()
    if database is None:
        raise HarnessError("HARNESS_FLEET_URL is not set; set it to the address of the database, postgresql://….")
    return database


def fleet_status(settings: Settings) -> FleetStatus:
    """Read it. Raises HarnessError, one sentence."""
    from harness.fleet.tasks import FleetTasks

    database = fleet_database()
    with closing(FleetTasks(database)) as store, closing(SqliteSlotStore(slots_place(settings))) as slots:
        tasks, workers = store.all(), store.workers()
        now = database.clock.now()
        entries, cells = slots.entries(now), slots.cells()
    where = without_passwords(database.where)
    limit = settings.max_concurrent
    return FleetStatus(where, now, tasks, workers, entries, limit, dict(_limited(cells.items(), now)))


def _limited(cells: Iterable[tuple[str, str]], now: float) -> Iterator[tuple[str, str]]:
    for name, text in cells:
        for model, record in read(text, now).items() if name.startswith("endpoints") else ():
            if facts := "; ".join(_facts(record, now)):
                yield f"{model}{name.removeprefix('endpoints')}".strip(), facts


def _facts(record: SharedEndpoint, now: float) -> Iterator[str]:
    breaker = record.breaker
    if breaker.state is not BreakerState.CLOSED:
        due = f", tried again at {time_of_day(breaker.due)}" if breaker.due is not None else ""
        yield f"breaker {breaker.state.value}{due}"
    if record.most is not None:
        yield f"{record.in_flight} of {record.most} requests in flight, after a refusal"
    if record.wait_until > now:
        yield f"the server asked to wait until {time_of_day(record.wait_until)}"


def status_lines(status: FleetStatus) -> Iterator[str]:
    """The status as text, without control characters."""
    yield visible(status.where)
    states = Counter(task.state for task in status.tasks)
    yield "tasks    " + (", ".join(f"{states[state]} {state}" for state in FleetState if states[state]) or "none")
    running = sum(entry.started is not None for entry in status.entries)
    yield f"slots    {running} of {status.limit} in use, {len(status.entries) - running} waiting"
    yield from visible("\n".join(f"model    {name}: {facts}" for name, facts in status.models.items())).splitlines()
    if not status.models:
        yield "models   all breakers closed, no limit lowered"
    yield f"rate     {_rate(status)}"
    yield ""
    yield from _workers(status)
    yield from _tasks("running", [task for task in status.tasks if task.state is FleetState.RUNNING])
    waiting = [task for task in status.tasks if task.state in (FleetState.QUEUED, FleetState.BLOCKED)]
    yield from _tasks("waiting", waiting[:MOST_WAITING])
    if len(waiting) > MOST_WAITING:
        yield f"  and {len(waiting) - MOST_WAITING} more"
    yield CONTENT


def _rate(status: FleetStatus) -> str:
    outcomes = [(task.since, task.outcome) for task in status.tasks if task.outcome is not None]
    recent = [outcome for since, outcome in outcomes if since > status.at - RECENT_S]
    failed = sum(outcome.state is FleetState.FAILED for outcome in recent)
    spent = sum(outcome.cost_usd or 0.0 for outcome in recent)
    total = sum(outcome.cost_usd or 0.0 for _, outcome in outcomes)
    unknown = sum(outcome.cost_usd is None for _, outcome in outcomes)
    more = f", {counted(unknown, 'task')} at an unknown price" if unknown else ""
    ended = f"{counted(len(recent), 'task')} ended in the last hour, {failed} failed"
    return f"{ended}; ${spent:.2f} then, ${total:.2f} in all{more}"


def _workers(status: FleetStatus) -> Iterator[str]:
    if not status.workers:
        yield "no workers; start one with `harness fleet work`"
    for machine in dict.fromkeys(worker.machine for worker in status.workers):
        yield visible(machine)
        for worker in (one for one in status.workers if one.machine == machine):
            held = sum(task.worker == worker.id for task in status.tasks)
            age = status.at - worker.seen
            facts = [f"{held} of {worker.concurrency}", f"since {time_of_day(worker.started)}"]
            facts += [f"tags {', '.join(worker.tags)}"] if worker.tags else []
            facts += ["takes no more"] if worker.draining else []
            facts += [f"not heard of for {age / 60:.0f} min"] if age > SILENT_S else []
            yield visible(f"  {worker.id}  {' · '.join(facts)}")


def _tasks(heading: str, tasks: Sequence[FleetTask]) -> Iterator[str]:
    if tasks:
        yield heading
    for task in tasks:
        prompt = " ".join(task.draft.prompt.split())
        said = f"{prompt[:LONGEST]}…" if len(prompt) > LONGEST else prompt
        who = f" by {task.worker} on {task.machine}, start {task.fence}" if task.worker else f" {task.state}"
        yield visible(f"  {task.id} {who.strip()} since {time_of_day(task.since)}: {said}")


def task_json(task: FleetTask) -> Json:
    """A task as JSON; times are Unix seconds."""
    found: Json = json.loads(json.dumps(asdict(task)))
    return found


def status_json(status: FleetStatus) -> Json:
    """The status as JSON; times are Unix seconds."""
    return {
        "database": status.where,
        "at": status.at,
        "tasks": [task_json(task) for task in status.tasks],
        "workers": [asdict(worker) for worker in status.workers],
        "slots": {
            "limit": status.limit,
            "running": sum(entry.started is not None for entry in status.entries),
            "waiting": sum(entry.started is None for entry in status.entries),
        },
        "models": status.models,
        "content": CONTENT,
    }
