"""The stores on Postgres: that their tables are there, and that transactions are whole."""

import gc
import sqlite3
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from harness.fleet.database import FleetClock, FleetDatabase
from harness.slots.store import SlotClaim, SqliteSlotStore, this_process
from tests.fleet.postgres import new_scope, shared_server


@pytest.fixture
def database() -> FleetDatabase:
    return FleetDatabase(shared_server().url)


@pytest.fixture
def slots(database: FleetDatabase) -> Iterator[SqliteSlotStore]:
    store = SqliteSlotStore(database.place("slots", new_scope()))
    yield store
    store.close()


def test_a_change_that_fails_leaves_nothing(slots: SqliteSlotStore) -> None:
    slots.change("name", lambda _: "kept")
    with pytest.raises(sqlite3.Error, match="as a test"):
        slots.change("name", lambda _: _raise())
    assert slots.cells() == {"name": "kept"}


def _raise() -> str:
    raise sqlite3.Error("as a test")


@pytest.mark.parametrize("off_s", [-300.0, 300.0])
def test_a_machine_whose_clock_is_off_takes_no_slot_and_loses_none(off_s: float) -> None:
    url, scope = shared_server().url, new_scope()
    off = FleetDatabase(url, clock=FleetClock(lambda: time.time() + off_s))
    with (
        closing(SqliteSlotStore(FleetDatabase(url).place("slots", scope), lives=lambda _: True)) as right,
        closing(SqliteSlotStore(off.place("slots", scope), lives=lambda _: True)) as wrong,
    ):
        assert right.ask(SlotClaim("a", this_process("s1"), "work"), 2, time.time()).started
        assert wrong.ask(SlotClaim("b", this_process("s2"), "work"), 2, off.clock.machine()).started
        assert not right.ask(SlotClaim("c", this_process("s1"), "work"), 2, time.time()).started
        assert wrong.renew(["b"], off.clock.machine()) == ("b",)
        for store, now in ((right, time.time()), (wrong, off.clock.machine())):
            assert [entry.claim.id for entry in store.entries(now)] == ["a", "b", "c"]


def test_one_scope_does_not_see_another(database: FleetDatabase, slots: SqliteSlotStore) -> None:
    slots.ask(SlotClaim("a", this_process("s1"), "work"), 1, 1000.0)
    with closing(SqliteSlotStore(database.place("slots", new_scope()))) as other:
        assert other.entries(1000.0) == ()
        assert other.ask(SlotClaim("a", this_process("s1"), "work"), 1, 1000.0).started


def test_a_closed_store_leaves_no_connection_behind(database: FleetDatabase) -> None:
    before = len(list(Path("/proc/self/fd").iterdir()))
    with warnings.catch_warnings(record=True) as left:
        warnings.simplefilter("always")
        for _ in range(5):
            with closing(SqliteSlotStore(database.place("slots", new_scope()))) as store:
                store.cells()
        gc.collect()
    assert [str(one.message) for one in left if one.category is ResourceWarning] == []
    assert len(list(Path("/proc/self/fd").iterdir())) <= before


def test_a_text_with_a_nul_is_kept_without_it(slots: SqliteSlotStore) -> None:
    assert slots.change("name", lambda _: "a\0b?") == "a\0b?"
    assert slots.cells() == {"name": "a␀b?"}


def test_nothing_of_it_is_imported_on_one_machine() -> None:
    program = (
        "import sys, harness.cli.main, harness.slots.store, harness.team.mail, harness.tasks, harness.schedule.store;"
        "print([name for name in sys.modules if name.startswith(('asyncpg', 'pgqueuer', 'harness.fleet'))])"
    )
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, check=True).stdout == b"[]\n"
