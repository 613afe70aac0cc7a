"""Measure the stores of a fleet in Postgres beside the same steps in SQLite and in plain asyncpg.

python -m benchmarks.fleet

Starts a Postgres on loopback. A step is one whole transaction: claim and renew a slot, send a message, read the
breakers. Plain asyncpg sends the same statements in a transaction, without a lock, a receipt or a store. Figures of one
run can be compared with each other, not with those of another machine or day.
"""

import asyncio
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from statistics import median

from benchmarks.figures import Figure
from benchmarks.parts import Parts, run_parts
from harness.base.transactions import SharedPlace
from harness.fleet.database import FleetDatabase, numbered
from harness.policies.team.mail import MailDraft
from harness.slots.store import AGAIN, SlotClaim, SqliteSlotStore, this_process
from harness.team.mail import APPEND, SqliteMail
from tests.fleet.postgres import Server

STEPS = 300
Step = Callable[[], object]


def steps_of(slots: SqliteSlotStore, mail: SqliteMail) -> dict[str, Step]:
    """The steps of our stores, by name."""
    claim = SlotClaim("benchmark", this_process("benchmark"), "agent", 1e6)
    recipient, sender = mail.begin("ann"), mail.begin("ben")
    slots.ask(claim, 5, time.time())
    slots.change("endpoints", lambda _: "{}")
    numbers = iter(range(10_000_000))
    draft = partial(MailDraft, sender, (recipient.name,))
    return {
        "claim": lambda: slots.ask(claim, 5, time.time()),
        "renew": lambda: slots.renew((claim.id,), time.time()),
        "mail": lambda: mail.send(draft(f"message {next(numbers)}")),
        "breaker read": lambda: slots.change("endpoints", lambda text: text),
    }


def milliseconds(*steps: Step) -> list[float]:
    """The median of many for each, taken in turn, so that what else the machine does disturbs all alike."""
    took: list[list[float]] = [[] for _ in steps]
    for _ in range(STEPS):
        for step, times in zip(steps, took, strict=True):
            began = time.perf_counter()
            step()
            times.append(time.perf_counter() - began)
    return [median(times) * 1000 for times in took]


@contextmanager
def plain(url: str) -> Iterator[dict[str, Step]]:
    """The statements of the same steps by asyncpg alone, on the tables that our stores have filled."""
    import asyncpg

    loop = asyncio.new_event_loop()
    connection = loop.run_until_complete(asyncpg.connect(url))

    def step(kind: str, sql: str, *values: object) -> Step:
        async def run() -> None:
            async with connection.transaction():
                await connection.execute("SELECT set_config('search_path', $1, true)", f"harness_{kind}, pg_catalog")
                await connection.execute("SELECT set_config('harness.scope', 'all', true)")
                await connection.fetch(numbered(sql), *values)

        return lambda: loop.run_until_complete(run())

    now = time.time()
    yield {
        "claim": step("slots", AGAIN, 5, now + 1e6, "benchmark"),
        "renew": step("slots", "UPDATE claims SET expires = ? + lease_s WHERE id = ?", now, "benchmark"),
        "mail": step("mail", APPEND, "ben", 1, "ann", 1, "message", "a message", now, ""),
        "breaker read": step("slots", "SELECT text FROM cells WHERE name = ?", "endpoints"),
    }
    loop.run_until_complete(connection.close())
    loop.close()


@contextmanager
def ours(slots: Path | SharedPlace, mail: Path | SharedPlace) -> Iterator[dict[str, Step]]:
    """The steps of our stores in these places."""
    with closing(SqliteSlotStore(slots)) as slot_store, closing(SqliteMail(mail)) as mail_store:
        yield steps_of(slot_store, mail_store)


def measured() -> list[Figure | str]:
    """Ours in Postgres beside SQLite, and beside plain asyncpg."""
    server = Server.made()
    try:
        server.initialize()
        database = FleetDatabase(server.url)
        with (
            tempfile.TemporaryDirectory() as folder,
            ours(Path(folder, "slots.sqlite"), Path(folder, "mail.sqlite")) as files,
            ours(database.place("slots", "all"), database.place("mail", "all")) as fleet,
            plain(server.url) as bare,
        ):
            found = {name: milliseconds(fleet[name], files[name], bare[name]) for name in fleet}
    finally:
        server.remove()
    return [
        *(Figure(f"{name}: Postgres / SQLite", one, "ms", file) for name, (one, file, _) in found.items()),
        *(Figure(f"{name}: ours / plain asyncpg", one, "ms", bare) for name, (one, _, bare) in found.items()),
    ]


async def rates() -> list[Figure | str]:
    """The figures."""
    return await asyncio.to_thread(measured)


PARTS: Parts = {"steps": ("Steps of one process, median of many", rates)}

if __name__ == "__main__":
    sys.exit(run_parts("benchmarks.fleet", str(__doc__), PARTS))
