"""What every store promises; the same tests for each."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from harness.slots.store import ProcessOwner, QueuePosition, SlotClaim, SlotStore, SqliteSlotStore, this_process
from tests.fleet.postgres import fleet_place
from tests.slots.memory import InMemorySlotStore

NOW = 1_800_000_000.0
HERE = this_process("20261121-0345-7f3a9c")


@pytest.fixture
def gone() -> set[str]:
    """Sessions whose process has ended."""
    return set()


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path, gone: set[str]) -> Iterator[SlotStore]:
    def lives(owner: ProcessOwner) -> bool:
        return owner.session not in gone

    made: dict[str, Callable[[], SlotStore]] = {
        "memory": lambda: InMemorySlotStore(lives),
        "sqlite": lambda: SqliteSlotStore(tmp_path / "slots.sqlite", lives=lives),
        "postgres": lambda: SqliteSlotStore(fleet_place("slots"), lives=lives),
    }
    store = made[request.param]()
    yield store
    store.close()


def claim(id: str, *, session: str = HERE.session, lease_s: float = 10.0) -> SlotClaim:
    return SlotClaim(id, ProcessOwner(session, HERE.host, HERE.pid, HERE.started_at), f"agent {id}", lease_s)


def started(store: SlotStore, id: str, limit: int, now: float = NOW) -> bool:
    return store.ask(claim(id), limit, now).started


def ids(store: SlotStore, now: float = NOW) -> list[str]:
    return [entry.claim.id for entry in store.entries(now)]


def test_as_many_start_as_may_and_the_next_one_waits(store: SlotStore) -> None:
    assert [store.ask(claim(id), 2, NOW) for id in "abcd"] == [
        QueuePosition(started=True, before=0, running=1),
        QueuePosition(started=True, before=0, running=2),
        QueuePosition(started=False, before=0, running=2),
        QueuePosition(started=False, before=1, running=2),
    ]


def test_a_slot_is_free_when_its_lease_is_over(store: SlotStore) -> None:
    assert started(store, "a", 1)
    assert not started(store, "b", 1, NOW + 9.9)
    assert ids(store, NOW + 10.0) == ["b"]
    assert started(store, "b", 1, NOW + 10.0)
    assert store.renew(["a", "b"], NOW + 10.0) == ("b",)


def test_an_entry_has_holder_work_start_and_end(store: SlotStore) -> None:
    started(store, "a", 3, NOW)
    started(store, "a", 3, NOW + 2.0)
    (entry,) = store.entries(NOW + 2.0)
    assert entry.claim == claim("a")
    assert (entry.limit, entry.since, entry.started, entry.expires) == (3, NOW, NOW, NOW + 12.0)


def test_a_text_is_read_changed_and_removed(store: SlotStore) -> None:
    assert store.change("model", lambda text: f"{text}!") == "None!"
    assert store.change("model", lambda text: f"{text}!") == "None!!"
    assert store.cells() == {"model": "None!!"}
    assert store.change("model", lambda _: None) is None
    assert store.cells() == {}


def test_a_change_that_fails_leaves_the_text_and_the_store_as_they_were(store: SlotStore) -> None:
    store.change("model", lambda _: "closed")

    def fails(_: str | None) -> str:
        raise ValueError("not like that")

    with pytest.raises(ValueError, match="not like that"):
        store.change("model", fails)
    assert store.change("model", lambda text: text) == "closed"


def test_no_change_is_lost_between_threads(store: SlotStore) -> None:
    def count(_: int) -> None:
        store.change("count", lambda text: str(int(text or "0") + 1))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(count, range(200)))
    assert store.cells() == {"count": "200"}


def test_a_store_continues_after_it_was_closed(store: SlotStore) -> None:
    started(store, "a", 1)
    store.close()
    assert ids(store) == ["a"]
