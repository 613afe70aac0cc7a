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
    WorkReplaced,
)
from harness.policies.admission.slot_queue import Admit, Enqueue, Permit, Reject, SlotQueue
from tests.policies.admission.oracle import balanced

OK = WorkEnd.SUCCEEDED


class Told:
    """A gate whose work is a word, and what it told."""

    def __init__(self, slots: int, places: int) -> None:
        self.events: list[Event] = []
        self.admission: SlotQueue[str] = SlotQueue(slots, places, self.events.append)

    def asks(self, *keys: str) -> None:
        for key in keys:
            self.admission.ask(key, f"work for {key}")


def test_many_follow_ups_of_one_conversation_take_one_place_and_the_newest_stands() -> None:
    gate = Told(1, 20)
    gate.asks("a", "b", "c")
    assert [gate.admission.ask("b", f"round {number}") for number in (4, 5)] == [Enqueue(4, 2), Enqueue(5, 4)]
    assert gate.admission.queued == ("b", "c")  # and its place is kept
    assert gate.admission.release(Permit("a", 1), OK) == (Admit(Permit("b", 5), "round 5"),)
    assert gate.events[-4:-2] == [WorkReplaced("b", 4, 2), WorkReplaced("b", 5, 4)]


def test_a_full_queue_drops_its_oldest_and_says_so_and_marks_its_conversation() -> None:
    gate = Told(1, 2)
    gate.asks("a", "b", "c", "d")
    assert gate.admission.queued == ("c", "d")
    assert gate.admission.dirty == ("b",)
    assert gate.events[-2:] == [WorkDropped("b", 2, DropReason.QUEUE_FULL, dirty=True), WorkQueued("d", 4, 2)]


@pytest.mark.parametrize("ending", WorkEnd)
def test_a_slot_is_freed_once_however_the_work_ended(ending: WorkEnd) -> None:
    gate = Told(1, 20)
    gate.asks("a", "b", "c")
    assert [start.ticket.key for start in gate.admission.release(Permit("a", 1), ending)] == ["b"]
    assert gate.admission.release(Permit("a", 1), ending) == ()
    assert gate.admission.release(Permit("b", 99), ending) == ()
    assert [ticket.key for ticket in gate.admission.running] == ["b"]
    assert gate.events.count(WorkReleased("a", 1, ending, 0)) == 1


def test_once_closed_nothing_comes_in_and_what_runs_is_released() -> None:
    gate = Told(1, 1)
    gate.asks("a", "b", "c")
    gate.admission.close()
    gate.admission.close()
    assert gate.events[-2:] == [WorkDropped("c", 3, DropReason.SHUTTING_DOWN, dirty=False), AdmissionClosed(1, 1)]
    assert gate.admission.ask("d", "x") == Reject(RejectionReason.SHUTTING_DOWN)
    assert gate.admission.defer("d", DropReason.PAUSED) == Reject(RejectionReason.SHUTTING_DOWN)
    assert gate.events[-2:] == [WorkRejected("d", RejectionReason.SHUTTING_DOWN)] * 2
    assert gate.admission.release(Permit("a", 1), OK) == ()
    assert (gate.admission.running, gate.admission.queued, gate.admission.dirty) == ((), (), ())
    counts = gate.admission.counts
    assert (counts.accepted, counts.done, counts.dropped, balanced(counts)) == (3, 1, 2, True)
