"""Conversation breakers: the shared breaker class with distances in seconds."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.events import BreakerState, ChangeReason, ConversationBreakerChanged, Event, WorkEnd
from harness.policies.admission.controller import AdmissionLimits
from harness.policies.admission.conversations import ConversationBreakers, WatchList
from tests.whole import WHOLE

OK, FAILED, CANCELLED = WorkEnd.SUCCEEDED, WorkEnd.FAILED, WorkEnd.CANCELLED
TALK = "a talk"


class Reported:
    """Two conversations and the changes reported for them."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.all = ConversationBreakers(AdmissionLimits().breaker, 60.0, self.events.append)
        self.all.add(TALK, 0.0)
        self.all.add("another", 0.0)

    def ends(self, *endings: WorkEnd, now: float = 0.0) -> "Reported":
        for ending in endings:
            self.all.started(TALK, now)
            self.all.ended(TALK, ending, now)
        return self


def test_five_failures_in_a_row_pause_it_and_no_other_for_a_minute() -> None:
    reported = Reported().ends(*[FAILED] * 4)
    assert not reported.all.is_paused(TALK, 0.0)
    reported.ends(FAILED, now=100.0)
    assert reported.all.paused_until(TALK) == 160.0
    assert reported.all.is_paused(TALK, 159.9)
    assert not reported.all.is_paused(TALK, 160.0)
    assert not reported.all.is_paused("another", 100.0)
    assert reported.all.paused == (TALK,)
    assert reported.events[-1] == ConversationBreakerChanged(
        TALK, BreakerState.CLOSED, BreakerState.OPEN, ChangeReason.THRESHOLD, 5, 160.0
    )


def test_the_pauses_double_up_to_five_minutes() -> None:
    reported, now, pauses = Reported().ends(*[FAILED] * 5), 0.0, []
    for _ in range(5):
        until = reported.all.paused_until(TALK)
        assert until is not None
        pauses.append(until - now)
        now = until
        reported.ends(FAILED, now=now)
    assert pauses == [60, 120, 240, 300, 300]


def test_those_that_do_not_exist_any_more_are_named_by_the_sweep() -> None:
    reported = Reported()
    assert reported.all.sweep_at == 60.0
    assert reported.all.gone({"another", "a third"}, 60.0) == (TALK,)
    assert reported.all.sweep_at == 120.0


# ── which conversations are looked at in a scan, also beside many busy ones ───────────────────────


def watching(limits: AdmissionLimits) -> WatchList:
    return WatchList(limits.watch_cap, limits.reserved)


def test_the_newest_activity_comes_first() -> None:
    watch_list = watching(AdmissionLimits())
    for at, key in enumerate("abcd"):
        watch_list.add(key, at)
    watch_list.active("b", 9.0)
    watch_list.active("d", 1.0)  # older than the last known state
    assert watch_list.scan() == ("b", "d", "c", "a")


def test_of_equal_activity_the_longest_unwatched_comes_first() -> None:
    watch_list = watching(AdmissionLimits(watch_cap=1, reserved_percent=1))
    for key in "abc":
        watch_list.add(key, 0.0)
    assert [watch_list.scan() for _ in range(4)] == [("a",), ("b",), ("c",), ("a",)]


@pytest.mark.parametrize(("cap", "reserved"), [(0, 0), (1, 1), (4, 1), (5, 1), (6, 2), (35, 7), (50, 10)])
def test_a_fifth_of_the_places_is_reserved_and_at_least_one(cap: int, reserved: int) -> None:
    assert AdmissionLimits(watch_cap=cap).reserved == reserved


@settings(max_examples=1_000 if WHOLE else 60, deadline=None)
@given(
    cap=st.integers(1, 8),
    percent=st.sampled_from([1, 20, 50, 100]),
    happens=st.lists(
        st.tuples(st.sampled_from(["active", "scan", "scan", "add", "remove"]), st.integers(0, 24)), max_size=150
    ),
)
def test_nothing_waits_longer_than_the_bound(cap: int, percent: int, happens: list[tuple[str, int]]) -> None:
    limits = AdmissionLimits(watch_cap=cap, reserved_percent=percent)
    watch_list = watching(limits)
    waits: dict[str, int] = {}
    bound: dict[str, int] = {}
    """In scans, from when a conversation was looked at last: those that came after it do not count."""
    for at, (what, number) in enumerate(happens):
        key = f"talk {number}"
        match what:
            case "active":
                watch_list.active(key, at)
            case "remove":
                watch_list.remove(key)
                waits.pop(key, None)
            case "add" if key not in waits:
                watch_list.add(key, at)
                waits[key] = 0
                bound[key] = -(-len(waits) // limits.reserved)
            case "scan":
                chosen = watch_list.scan()
                assert len(chosen) == len(set(chosen)) == min(cap, len(waits))
                for one in waits:
                    waits[one] += 1
                    assert waits[one] <= bound[one]
                    if one in chosen:
                        waits[one], bound[one] = 0, -(-len(waits) // limits.reserved)
