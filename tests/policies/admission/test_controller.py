"""The controller as a whole: its numbers, pauses, ends, sweeps, and that nothing is left."""

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
    """A controller with these conversations; what it reported is read."""
    controller: AdmissionController[str] = AdmissionController(AdmissionLimits(**numbers))
    for key in keys:
        assert controller.open(key, 0.0)
    controller.drain_events()
    return controller


def fails(controller: AdmissionController[str], key: str, times: int, now: float = 0.0) -> None:
    """Work for a conversation starts and fails so often."""
    for _ in range(times):
        start = controller.ask(key, "x", now)
        assert isinstance(start, Admit)
        controller.release(start.permit, FAILED, now)


# ── pauses ──────────────────────────────────────────────────────────────────────────────────────


def test_after_the_pause_there_is_one_attempt_and_others_wait_for_what_comes_of_it() -> None:
    controller = opened("a")
    fails(controller, "a", 5)
    attempt = controller.ask("a", "first", 60.0)
    assert isinstance(attempt, Admit)
    assert controller.breaker("a").state is BreakerState.HALF_OPEN
    assert controller.ask("a", "second", 61.0) == Enqueue(7)
    assert controller.release(attempt.permit, FAILED, 62.0) == ()
    assert (controller.queued, controller.deferred) == ((), ("a",))  # it rests again, and so does what waited
    assert (controller.due_again(181.9), controller.due_again(182.0)) == ((), ("a",))


# ── ends ────────────────────────────────────────────────────────────────────────────────────────


def test_an_end_takes_everything_along_at_once() -> None:
    controller = opened("a", "b", max_concurrent=1)
    fails(controller, "a", 4)
    controller.ask("b", "x", 0.0)
    controller.ask("a", "x", 0.0)
    controller.drain_events()
    controller.end("a")
    controller.end("a")
    assert controller.drain_events() == (
        WorkDropped("a", 6, DropReason.ENDED, deferred=False),
        ConversationRemoved("a", RemovalReason.ENDED, running=False),
    )
    assert controller.sizes() == AdmissionSizes(
        conversations=1, with_failures=0, watched=1, running=1, queued=0, deferred=0
    )


def test_a_sweep_after_a_minute_removes_what_has_disappeared() -> None:
    controller = opened("a", "b")
    fails(controller, "a", 1)
    assert controller.next_due(0.0) == 60.0
    controller.drain_events()
    assert controller.sweep({"b"}, 60.0) == ("a",)
    assert controller.drain_events() == (ConversationRemoved("a", RemovalReason.DISAPPEARED, running=False),)
    assert controller.next_due(60.0) == 120.0


def test_an_empty_controller_needs_no_timer() -> None:
    controller = opened("a")
    controller.end("a")
    assert controller.next_due(0.0) is None


def test_the_end_of_a_pause_is_due_only_where_work_waits_for_it() -> None:
    controller = opened("a")
    fails(controller, "a", 5, now=10.0)
    controller.sweep({"a"}, 30.0)
    assert controller.next_due(30.0) == 90.0
    controller.ask("a", "x", 30.0)
    assert controller.next_due(30.0) == 70.0


def test_once_closed_everything_is_refused_and_nothing_is_kept_but_what_runs() -> None:
    controller = opened("a", "b", max_concurrent=1)
    controller.ask("a", "x", 0.0)
    controller.ask("b", "x", 0.0)
    controller.close()
    controller.drain_events()
    assert controller.ask("b", "y", 1.0) == Reject(RejectionReason.SHUTTING_DOWN)
    assert controller.drain_events() == (WorkRejected("b", RejectionReason.SHUTTING_DOWN),)
    assert not controller.open("c", 1.0)
    assert controller.next_due(1.0) is None
    assert controller.release(Permit("a", 1), OK, 1.0) == ()
    assert controller.sizes() == NOTHING


def test_after_ten_thousand_creations_follow_ups_failures_and_ends_every_map_is_empty() -> None:
    random, controller, living, now = Random(3), AdmissionController[int](), list[str](), 0.0
    for number in range(10_000):
        now += random.random() * 3
        match random.randrange(8):
            case 0:
                living.append(f"talk {number}")
                assert controller.open(living[-1], now)
            case 1 | 2 | 3 if living:
                controller.ask(random.choice(living), number, now)
            case 4 | 5 | 6 if controller.running:
                controller.release(random.choice(controller.running), random.choice([OK, FAILED, FAILED]), now)
            case 7 if living:
                gone = living.pop(random.randrange(len(living)))
                if random.random() < 0.5:
                    controller.end(gone)
            case _:
                controller.scan()
        if (due := controller.next_due(now)) is not None and due <= now:
            controller.sweep(living, now)
        assert len(controller.running) <= 5
        assert len(controller.queued) <= 20
    assert controller.counts.done > 500
    assert controller.counts.dropped > 100
    controller.sweep((), now)
    while controller.running:
        assert controller.release(controller.running[0], OK, now) == ()
    assert controller.sizes() == NOTHING
    assert balanced(controller.counts)
    assert controller.counts.accepted == controller.counts.done + controller.counts.replaced + controller.counts.dropped


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
