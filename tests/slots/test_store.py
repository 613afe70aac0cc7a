"""What every store promises; the same tests for each."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from harness.slots.sqlite import SqliteSlotStore
from harness.slots.store import ProcessOwner, SlotClaim, SlotStore, this_process
from tests.slots.memory import InMemorySlotStore

NOW = 1_800_000_000.0
HERE = this_process("20261121-0345-7f3a9c")


@pytest.fixture
def gone() -> set[str]:
    """Sessions whose process has ended."""
    return set()


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path, gone: set[str]) -> Iterator[SlotStore]:
    def lives(owner: ProcessOwner) -> bool:
        return owner.session not in gone

    made: dict[str, Callable[[], SlotStore]] = {
        "memory": lambda: InMemorySlotStore(lives),
        "sqlite": lambda: SqliteSlotStore(tmp_path / "gate.sqlite", lives=lives),
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
    assert [started(store, id, 2) for id in "abc"] == [True, True, False]
    standing = store.ask(claim("d"), 2, NOW)
    assert (standing.started, standing.before, standing.running) == (False, 1, 2)


def test_whoever_came_first_is_next_however_often_others_ask(store: SlotStore) -> None:
    for id in "abc":
        started(store, id, 1)
    store.release("a")
    assert [started(store, id, 1) for id in "ccb"] == [False, False, True]


def test_two_free_slots_go_to_the_first_two_without_waiting_for_each_other(store: SlotStore) -> None:
    for id in "abcde":
        started(store, id, 2)
    store.release("a")
    store.release("b")
    assert [started(store, id, 2) for id in "edc"] == [False, True, True]


def test_who_leaves_the_queue_makes_place(store: SlotStore) -> None:
    for id in "abc":
        started(store, id, 1)
    store.release("b")
    store.release("a")
    assert started(store, "c", 1)


def test_a_slot_is_given_back_once_and_anybody_may_try_again(store: SlotStore) -> None:
    for id in "ab":
        started(store, id, 2)
    for _ in range(3):
        store.release("a")
    store.release("never seen")
    assert ids(store) == ["b"]


def test_asking_again_while_it_runs_changes_nothing(store: SlotStore) -> None:
    assert [started(store, "a", 1) for _ in range(3)] == [True] * 3
    assert ids(store) == ["a"]


def test_a_limit_of_none_lets_nobody_in_and_keeps_nobody_else_out(store: SlotStore) -> None:
    assert not started(store, "a", 0)
    assert started(store, "b", 2)


def test_a_lower_limit_ends_nothing_that_runs(store: SlotStore) -> None:
    for id in "abc":
        started(store, id, 3)
    assert not started(store, "d", 1)
    assert started(store, "a", 1)
    assert [entry.started is not None for entry in store.entries(NOW)] == [True, True, True, False]


def test_a_slot_is_free_when_its_lease_is_over(store: SlotStore) -> None:
    assert started(store, "a", 1)
    assert not started(store, "b", 1, NOW + 9.9)
    assert ids(store, NOW + 10.0) == ["b"]
    assert started(store, "b", 1, NOW + 10.0)
    assert store.renew(["a", "b"], NOW + 10.0) == ("b",)


def test_a_renewed_lease_begins_anew(store: SlotStore) -> None:
    started(store, "a", 1)
    assert store.renew(["a"], NOW + 9.0) == ("a",)
    assert ids(store, NOW + 18.9) == ["a"]


def test_a_machine_that_slept_finds_its_slots_when_nobody_asked_meanwhile(store: SlotStore) -> None:
    for id in "abc":
        started(store, id, 2)
    assert store.renew(["a", "b", "c"], NOW + 3_600.0) == ("a", "b", "c")
    assert [entry.started is not None for entry in store.entries(NOW + 3_600.0)] == [True, True, False]


def test_who_waits_too_long_without_asking_has_lost_the_place(store: SlotStore) -> None:
    for id in "ab":
        started(store, id, 1)
    store.renew(["a"], NOW + 5.0)
    started(store, "c", 1, NOW + 11.0)
    started(store, "b", 1, NOW + 11.0)
    assert ids(store, NOW + 11.0) == ["a", "c", "b"]


def test_a_process_that_is_gone_loses_everything_before_its_lease_is_over(store: SlotStore, gone: set[str]) -> None:
    store.ask(claim("a", session="dead"), 1, NOW)
    store.ask(claim("b", session="dead"), 1, NOW)
    assert not started(store, "c", 1)
    gone.add("dead")
    assert started(store, "c", 1, NOW + 0.25)
    assert ids(store, NOW + 0.25) == ["c"]


def test_a_clock_that_is_put_back_makes_no_lease_longer(store: SlotStore) -> None:
    started(store, "a", 1)
    assert not started(store, "b", 1, NOW - 3_600.0)
    assert started(store, "b", 1, NOW - 3_590.1) is False
    started(store, "b", 1, NOW - 3_590.0)
    assert ids(store, NOW - 3_590.0) == ["b"]


def test_an_entry_tells_who_what_since_when_and_until_when(store: SlotStore) -> None:
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


def test_a_store_goes_on_after_it_was_closed(store: SlotStore) -> None:
    started(store, "a", 1)
    store.close()
    assert ids(store) == ["a"]
