"""Stores in SQLite and Postgres compared with that in memory, after any sequence of operations and clock changes."""

import tempfile
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from harness.base.transactions import SharedPlace
from harness.slots.store import ProcessOwner, SlotClaim, SqliteSlotStore
from tests.fleet.postgres import fleet_place, needs_postgres
from tests.slots.memory import InMemorySlotStore
from tests.whole import WHOLE

OWNERS = range(4)
names = st.sampled_from([f"{owner}-{number}" for owner in OWNERS for number in range(3)])


def owner_of(number: int) -> ProcessOwner:
    return ProcessOwner("session", "here", number, "then")


class StoreBesideOracle(RuleBasedStateMachine):
    """Does the same to the file and to the plain list in memory, and compares what they say."""

    @initialize()
    def begins(self) -> None:
        self.now = 1_000.0
        self.dead: set[int] = set()
        self.folder = tempfile.TemporaryDirectory()
        self.oracle = InMemorySlotStore(self._lives)
        self.store = SqliteSlotStore(self.place(), lives=self._lives, look_s=0.0)

    def place(self) -> Path | SharedPlace:
        return Path(self.folder.name) / "slots.sqlite"

    @rule(name=names, limit=st.integers(0, 4))
    def asks(self, name: str, limit: int) -> None:
        owner, number = map(int, name.split("-"))
        self.dead.discard(owner)  # the requester runs
        ran = any(one.claim.id == name and one.started is not None for one in self.oracle.entries(self.now))
        claim = SlotClaim(name, owner_of(owner), name, lease_s=10.0 if number else 1.0)
        position = self.store.ask(claim, limit, self.now)
        assert position == self.oracle.ask(claim, limit, self.now)
        assert ran or not position.started or position.running <= limit

    @rule(several=st.lists(names, unique=True, max_size=4))
    def renews(self, several: list[str]) -> None:
        assert set(self.store.renew(several, self.now)) == set(self.oracle.renew(several, self.now))

    @rule(name=names)
    def releases(self, name: str) -> None:
        self.oracle.release(name)
        self.store.release(name)

    @rule(owner=st.sampled_from(OWNERS))
    def a_process_ends(self, owner: int) -> None:
        self.dead.add(owner)

    @rule(seconds=st.sampled_from([0.25, 3.0, 9.9, 10.0, -30.0]))
    def the_clock_moves(self, seconds: float) -> None:
        self.now += seconds

    @invariant()
    def both_show_the_same(self) -> None:
        shown = [
            [(one.claim.id, one.started is not None) for one in store.entries(self.now)]
            for store in (self.oracle, self.store)
        ]
        assert shown[0] == shown[1]

    def teardown(self) -> None:
        if hasattr(self, "folder"):
            self.store.close()
            self.folder.cleanup()

    def _lives(self, owner: ProcessOwner) -> bool:
        return owner.pid not in self.dead


class PostgresBesideOracle(StoreBesideOracle):
    def place(self) -> Path | SharedPlace:
        return fleet_place("slots")


TestStores = StoreBesideOracle.TestCase
TestStores.settings = settings(max_examples=500 if WHOLE else 25, stateful_step_count=40, deadline=None)
TestPostgres = needs_postgres(PostgresBesideOracle.TestCase)
TestPostgres.settings = settings(TestStores.settings, max_examples=100 if WHOLE else 5)
