"""Both stores beside the oracle, after everything that can happen in any order on a clock that may be set."""

import tempfile
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from harness.slots.sqlite import SqliteSlotStore
from harness.slots.store import ProcessOwner, SlotClaim, SlotStore
from tests.slots.memory import InMemorySlotStore
from tests.slots.oracle import Oracle
from tests.whole import WHOLE

OWNERS = range(4)
names = st.sampled_from([f"{owner}-{number}" for owner in OWNERS for number in range(3)])


def owner_of(number: int) -> ProcessOwner:
    return ProcessOwner("session", "here", number, "then")


class StoresBesideOracle(RuleBasedStateMachine):
    """Does the same to all three and compares what they say."""

    @initialize()
    def begins(self) -> None:
        self.now = 1_000.0
        self.oracle = Oracle()
        self.folder = tempfile.TemporaryDirectory()
        file = Path(self.folder.name) / "gate.sqlite"
        self.stores: tuple[SlotStore, ...] = (
            InMemorySlotStore(self._lives),
            SqliteSlotStore(file, lives=self._lives, look_s=0.0),
        )

    @rule(name=names, limit=st.integers(0, 4))
    def asks(self, name: str, limit: int) -> None:
        owner, number = map(int, name.split("-"))
        self.oracle.dead.discard(owner)  # whoever asks runs
        ran = any(row.id == name and row.runs for row in self.oracle.live(self.now))
        claim = SlotClaim(name, owner_of(owner), name, lease_s=10.0 if number else 1.0)
        started = self.oracle.ask(name, owner, claim.lease_s, limit, self.now)
        for store in self.stores:
            standing = store.ask(claim, limit, self.now)
            assert standing.started == started
            assert standing.running == sum(row.runs for row in self.oracle.line)
            assert ran or not started or standing.running <= limit

    @rule(several=st.lists(names, unique=True, max_size=4))
    def renews(self, several: list[str]) -> None:
        still = self.oracle.renew(several, self.now)
        for store in self.stores:
            assert set(store.renew(several, self.now)) == still

    @rule(name=names)
    def releases(self, name: str) -> None:
        self.oracle.release(name)
        for store in self.stores:
            store.release(name)

    @rule(owner=st.sampled_from(OWNERS))
    def a_process_ends(self, owner: int) -> None:
        self.oracle.dead.add(owner)

    @rule(seconds=st.sampled_from([0.25, 3.0, 9.9, 10.0, -30.0]))
    def the_clock_moves(self, seconds: float) -> None:
        self.now += seconds

    @invariant()
    def all_show_the_same(self) -> None:
        expected = [(row.id, row.runs) for row in self.oracle.live(self.now)]
        for store in self.stores:
            entries = store.entries(self.now)
            assert [(entry.claim.id, entry.started is not None) for entry in entries] == expected

    def teardown(self) -> None:
        for store in getattr(self, "stores", ()):
            store.close()
        if hasattr(self, "folder"):
            self.folder.cleanup()

    def _lives(self, owner: ProcessOwner) -> bool:
        return owner.pid not in self.oracle.dead


TestStores = StoresBesideOracle.TestCase
TestStores.settings = settings(max_examples=500 if WHOLE else 25, stateful_step_count=40, deadline=None)
