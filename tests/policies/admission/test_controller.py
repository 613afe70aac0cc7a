"""The gate as a whole: its numbers, pauses, ends, sweeps, and that nothing is left."""

from random import Random
from typing import Any

import pytest

from harness.events import (
    BreakerState,
    ConversationRemoved,
    DropReason,
    RejectionReason,
    RemovalReason,
    WorkDropped,
    WorkEnd,
    WorkRejected,
)
from harness.policies.admission.controller import AdmissionController, AdmissionLimits, AdmissionSizes
from harness.policies.admission.slot_queue import Admit, Enqueue, Permit, Reject
from tests.policies.admission.oracle import balanced

OK, FAILED = WorkEnd.SUCCEEDED, WorkEnd.FAILED
NOTHING = AdmissionSizes(0, 0, 0, 0, 0, 0)


def opened(*keys: str, **numbers: int) -> AdmissionController[str]:
    """A gate with these conversations; what it told is read."""
    gate: AdmissionController[str] = AdmissionController(AdmissionLimits(**numbers))
    for key in keys:
        assert gate.open(key, 0.0)
    gate.drain_events()
    return gate


def fails(gate: AdmissionController[str], key: str, times: int, now: float = 0.0) -> None:
    """Work for a conversation starts and fails so often."""
    for _ in range(times):
        start = gate.ask(key, "x", now)
        assert isinstance(start, Admit)
        gate.release(start.ticket, FAILED, now)


# ── pauses ──────────────────────────────────────────────────────────────────────────────────────


def test_after_the_pause_there_is_one_attempt_and_others_wait_for_what_comes_of_it() -> None:
    gate = opened("a")
    fails(gate, "a", 5)
    attempt = gate.ask("a", "first", 60.0)
    assert isinstance(attempt, Admit)
    assert gate.breaker("a").state is BreakerState.HALF_OPEN
    assert gate.ask("a", "second", 61.0) == Enqueue(7)
    assert gate.release(attempt.ticket, FAILED, 62.0) == ()
    assert (gate.queued, gate.dirty) == ((), ("a",))  # it rests again, and so does what waited
    assert (gate.due_again(181.9), gate.due_again(182.0)) == ((), ("a",))


# ── ends ────────────────────────────────────────────────────────────────────────────────────────


def test_an_end_takes_everything_along_at_once() -> None:
    gate = opened("a", "b", max_concurrent=1)
    fails(gate, "a", 4)
    gate.ask("b", "x", 0.0)
    gate.ask("a", "x", 0.0)
    gate.drain_events()
    gate.end("a")
    gate.end("a")
    assert gate.drain_events() == (
        WorkDropped("a", 6, DropReason.ENDED, dirty=False),
        ConversationRemoved("a", RemovalReason.ENDED, running=False),
    )
    assert gate.sizes() == AdmissionSizes(conversations=1, with_failures=0, watched=1, running=1, queued=0, dirty=0)


def test_a_sweep_after_a_minute_removes_what_has_disappeared() -> None:
    gate = opened("a", "b")
    fails(gate, "a", 1)
    assert gate.next_due(0.0) == 60.0
    gate.drain_events()
    assert gate.sweep({"b"}, 60.0) == ("a",)
    assert gate.drain_events() == (ConversationRemoved("a", RemovalReason.DISAPPEARED, running=False),)
    assert gate.next_due(60.0) == 120.0


def test_an_empty_gate_needs_no_timer() -> None:
    gate = opened("a")
    gate.end("a")
    assert gate.next_due(0.0) is None


def test_the_end_of_a_pause_is_due_only_where_work_waits_for_it() -> None:
    gate = opened("a")
    fails(gate, "a", 5, now=10.0)
    gate.sweep({"a"}, 30.0)
    assert gate.next_due(30.0) == 90.0
    gate.ask("a", "x", 30.0)
    assert gate.next_due(30.0) == 70.0


def test_once_closed_everything_is_refused_and_nothing_is_kept_but_what_runs() -> None:
    gate = opened("a", "b", max_concurrent=1)
    gate.ask("a", "x", 0.0)
    gate.ask("b", "x", 0.0)
    gate.close()
    gate.drain_events()
    assert gate.ask("b", "y", 1.0) == Reject(RejectionReason.SHUTTING_DOWN)
    assert gate.drain_events() == (WorkRejected("b", RejectionReason.SHUTTING_DOWN),)
    assert not gate.open("c", 1.0)
    assert gate.next_due(1.0) is None
    assert gate.release(Permit("a", 1), OK, 1.0) == ()
    assert gate.sizes() == NOTHING


def test_after_ten_thousand_creations_follow_ups_failures_and_ends_every_map_is_empty() -> None:
    random, gate, living, now = Random(3), AdmissionController[int](), list[str](), 0.0
    for number in range(10_000):
        now += random.random() * 3
        match random.randrange(8):
            case 0:
                living.append(f"talk {number}")
                assert gate.open(living[-1], now)
            case 1 | 2 | 3 if living:
                gate.ask(random.choice(living), number, now)
            case 4 | 5 | 6 if gate.running:
                gate.release(random.choice(gate.running), random.choice([OK, FAILED, FAILED]), now)
            case 7 if living:
                gone = living.pop(random.randrange(len(living)))
                if random.random() < 0.5:
                    gate.end(gone)
            case _:
                gate.scan()
        if (due := gate.next_due(now)) is not None and due <= now:
            gate.sweep(living, now)
        assert len(gate.running) <= 5
        assert len(gate.queued) <= 20
    assert gate.counts.done > 500
    assert gate.counts.dropped > 100
    gate.sweep((), now)
    while gate.running:
        assert gate.release(gate.running[0], OK, now) == ()
    assert gate.sizes() == NOTHING
    assert balanced(gate.counts)
    assert gate.counts.accepted == gate.counts.done + gate.counts.replaced + gate.counts.dropped


def test_the_numbers_are_those_of_the_plan() -> None:
    limits = AdmissionLimits()
    assert (limits.max_concurrent, limits.max_queue_size, limits.watch_cap) == (5, 20, 50)
    assert (limits.breaker.threshold, limits.breaker.pauses) == (5, (60.0, 120.0, 240.0, 300.0))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_concurrent", -1),
        ("max_concurrent", True),
        ("max_concurrent", 2.5),
        ("max_queue_size", -1),
        ("max_queue_size", "20"),
        ("watch_cap", -1),
        ("reserved_percent", 0),
        ("reserved_percent", 101),
        ("failures_in_a_row", 0),
        ("pause_s", 0.0),
        ("pause_s", float("nan")),
        ("pause_s", 301.0),
        ("longest_pause_s", float("inf")),
        ("sweep_every_s", 0.0),
    ],
)
def test_a_number_that_cannot_be_is_named(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=name):
        AdmissionLimits(**{name: value})


def test_a_pause_that_does_not_grow_is_one_pause() -> None:
    assert AdmissionLimits(pause_s=10.0, longest_pause_s=10.0).breaker.pauses == (10.0,)
    assert AdmissionLimits(pause_s=10.0, longest_pause_s=35.0).breaker.pauses == (10.0, 20.0, 35.0)
