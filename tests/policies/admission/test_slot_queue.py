"""Slots and the queue before them."""

import pytest

from harness.events import (
    AdmissionClosed,
    DropReason,
    Event,
    RejectionReason,
    WorkDropped,
    WorkEnd,
    WorkQueued,
    WorkRejected,
    WorkReleased,
)
from harness.policies.admission.slot_queue import Admit, Enqueue, Permit, Reject, SlotQueue
from tests.policies.admission.oracle import balanced

OK = WorkEnd.SUCCEEDED


class Admitting:
    """A controller whose work is a word, and what it admitting."""

    def __init__(self, slots: int, places: int) -> None:
        self.events: list[Event] = []
        self.admission: SlotQueue[str] = SlotQueue(slots, places, self.events.append)

    def asks(self, *keys: str) -> None:
        for key in keys:
            self.admission.ask(key, f"work for {key}")


def test_many_follow_ups_of_one_conversation_take_one_place_and_the_newest_counts() -> None:
    controller = Admitting(1, 20)
    controller.asks("a", "b", "c")
    assert [controller.admission.ask("b", f"round {number}") for number in (4, 5)] == [Enqueue(4, 2), Enqueue(5, 4)]
    assert controller.admission.queued == ("b", "c")  # and its place is kept
    assert controller.admission.release(Permit("a", 1), OK) == (Admit(Permit("b", 5), "round 5"),)
    assert controller.events[-4:-2] == [WorkQueued("b", 4, 2, replaced=2), WorkQueued("b", 5, 2, replaced=4)]


def test_a_full_queue_drops_its_oldest_and_says_so_and_marks_its_conversation() -> None:
    controller = Admitting(1, 2)
    controller.asks("a", "b", "c", "d")
    assert controller.admission.queued == ("c", "d")
    assert controller.admission.deferred == ("b",)
    assert controller.events[-2:] == [WorkDropped("b", 2, DropReason.QUEUE_FULL, deferred=True), WorkQueued("d", 4, 2)]


@pytest.mark.parametrize("ending", WorkEnd)
def test_a_slot_is_freed_once_however_the_work_ended(ending: WorkEnd) -> None:
    controller = Admitting(1, 20)
    controller.asks("a", "b", "c")
    assert [start.permit.key for start in controller.admission.release(Permit("a", 1), ending)] == ["b"]
    assert controller.admission.release(Permit("a", 1), ending) == ()
    assert controller.admission.release(Permit("b", 99), ending) == ()
    assert [permit.key for permit in controller.admission.running] == ["b"]
    assert controller.events.count(WorkReleased("a", 1, ending, 0)) == 1


def test_once_closed_nothing_comes_in_and_what_runs_is_released() -> None:
    controller = Admitting(1, 1)
    controller.asks("a", "b", "c")
    controller.admission.close()
    controller.admission.close()
    assert controller.events[-2:] == [
        WorkDropped("c", 3, DropReason.SHUTTING_DOWN, deferred=False),
        AdmissionClosed(1, 1),
    ]
    assert controller.admission.ask("d", "x") == Reject(RejectionReason.SHUTTING_DOWN)
    assert controller.admission.defer("d", DropReason.PAUSED) == Reject(RejectionReason.SHUTTING_DOWN)
    assert controller.events[-2:] == [WorkRejected("d", RejectionReason.SHUTTING_DOWN)] * 2
    assert controller.admission.release(Permit("a", 1), OK) == ()
    assert (controller.admission.running, controller.admission.queued, controller.admission.deferred) == ((), (), ())
    counts = controller.admission.counts
    assert (counts.accepted, counts.done, counts.dropped, balanced(counts)) == (3, 1, 2, True)
