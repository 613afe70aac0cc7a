"""The controller beside the oracle, after everything that can happen in any order."""

from collections import Counter
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from harness.events import (
    AdmissionLimitsSet,
    BreakerState,
    ConversationBreakerChanged,
    DropReason,
    Event,
    RemovalReason,
    WorkAdmitted,
    WorkDropped,
    WorkEnd,
    WorkQueued,
    WorkRejected,
    WorkReleased,
)
from harness.policies.admission.controller import AdmissionController, AdmissionLimits, AdmissionSizes
from harness.policies.admission.slot_queue import Admit, Defer, Enqueue, Permit
from tests.policies.admission.oracle import Oracle, balanced
from tests.whole import WHOLE

KEYS = [f"talk-{number}" for number in range(7)]
keys = st.sampled_from(KEYS)
numbers = st.builds(
    AdmissionLimits,
    max_concurrent=st.integers(0, 3),
    max_queue_size=st.integers(0, 4),
    watch_cap=st.integers(0, 6),
    reserved_percent=st.sampled_from([1, 20, 50, 100]),
    failures_in_a_row=st.integers(1, 3),
)


class ControllerBesideOracle(RuleBasedStateMachine):
    """Does the same to both and compares them after each thing done."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self.fates: dict[int, str] = {}
        """State of each piece of work, derived from published events."""
        self.refused = 0
        self.reported_pauses: dict[str, float | None] = {}

    @initialize(limits=numbers)
    def begins(self, limits: AdmissionLimits) -> None:
        self.controller: AdmissionController[int] = AdmissionController(limits)
        self.oracle = Oracle(limits)
        self.lowered = False
        self.payloads = 0
        self.newest: dict[str, int] = {}
        """The payload that is to be worked on next, by conversation."""
        for key in KEYS[:4]:
            self.opens(key)

    # ── what happens ────────────────────────────────────────────────────────────────────────────

    @rule(key=keys)
    def opens(self, key: str) -> None:
        assert self.controller.open(key, self.now) == self.oracle.open(key)

    @rule(key=keys, times=st.integers(1, 3))
    def follow_ups(self, key: str, times: int) -> None:
        for _ in range(times):
            self._asks(key)

    @rule(drawn=st.permutations(KEYS))
    def everybody_at_once(self, drawn: list[str]) -> None:
        for key in drawn:
            self._asks(key)

    @precondition(lambda self: self.controller.running)
    @rule(at=st.integers(0, 9), ending=st.sampled_from([*WorkEnd, WorkEnd.FAILED]))
    def finishes(self, at: int, ending: WorkEnd) -> None:
        permit = self.controller.running[at % len(self.controller.running)]
        starts = self.controller.release(permit, ending, self.now)
        self._started(starts, lambda: self.oracle.finish(permit.number, ending.value))
        assert self.controller.release(permit, ending, self.now) == ()

    @rule(key=keys, times=st.integers(1, 4))
    def fails_again_and_again(self, key: str, times: int) -> None:
        for _ in range(times):
            self._asks(key)
            for permit in [one for one in self.controller.running if one.key == key]:
                starts = self.controller.release(permit, WorkEnd.FAILED, self.now)
                self._started(starts, lambda number=permit.number: self.oracle.finish(number, "failed"))

    @rule(key=keys)
    def ends(self, key: str) -> None:
        self.controller.end(key)
        self.oracle.end(key)

    @rule(key=keys)
    def wants_no_more(self, key: str) -> None:
        self.controller.withdraw(key)
        self.oracle.withdraw(key)

    @rule(existing=st.sets(keys, min_size=4))
    def sweeps(self, existing: set[str]) -> None:
        for key in self.controller.sweep(existing, self.now):
            assert key not in existing
            self.oracle.end(key)
        assert set(self.oracle.talks) <= existing

    @rule(seconds=st.sampled_from([0.5, 59.5, 60.0, 240.0]))
    def time_goes_by(self, seconds: float) -> None:
        self.now += seconds
        self.oracle.now = self.now

    @rule()
    def asks_again(self) -> None:
        dropped = self.controller.counts.dropped
        for key in self.controller.due_again(self.now):
            self._asks(key)
        assert self.controller.counts.dropped == dropped  # returning work displaces nothing

    @rule()
    def scans(self) -> None:
        assert list(self.controller.scan()) == self.oracle.scan()

    @rule(limits=numbers)
    def hot_change(self, limits: AdmissionLimits) -> None:
        self.lowered = len(self.controller.running) > limits.max_concurrent
        starts = self.controller.configure(limits, self.now)
        self._started(starts, lambda: self.oracle.set(limits))

    @precondition(lambda self: self.controller.counts.accepted > 12)
    @rule(sure=st.integers(0, 9))
    def closes(self, sure: int) -> None:
        """Seldom, because little happens after it."""
        if sure == 0:
            self.controller.close()
            self.oracle.close()

    # ── what must hold ──────────────────────────────────────────────────────────────────────────

    @invariant()
    def the_controller_is_where_the_oracle_is(self) -> None:
        running = sorted((work["key"], work["number"]) for work in self.oracle.of("running"))
        assert sorted((permit.key, permit.number) for permit in self.controller.running) == running
        assert list(self.controller.queued) == [work["key"] for work in self.oracle.line()]
        assert list(self.controller.deferred) == self.oracle.marked
        assert list(self.controller.due_again(self.now)) == ([] if self.controller.closed else self.oracle.again())
        for key, talk in self.oracle.talks.items():
            breaker = self.controller.breaker(key)
            assert (breaker.failures, breaker.openings, breaker.due) == (
                talk["failures"],
                talk["rests"],
                talk["until"],
            ), key

    @invariant()
    def no_more_is_in_flight_than_may_be(self) -> None:
        self.lowered = self.lowered and len(self.controller.running) > self.controller.limits.max_concurrent
        assert self.lowered or len(self.controller.running) <= self.controller.limits.max_concurrent
        assert len(self.controller.queued) <= self.controller.limits.max_queue_size
        in_flight = [permit.key for permit in self.controller.running]
        assert len(in_flight) == len(set(in_flight))

    @invariant()
    def no_slot_is_free_while_something_waits_that_could_start(self) -> None:
        able = set(self.controller.queued) - {permit.key for permit in self.controller.running}
        assert not able or len(self.controller.running) >= self.controller.limits.max_concurrent

    @invariant()
    def nothing_vanishes(self) -> None:
        assert balanced(self.controller.counts)
        for event in self.controller.drain_events():
            self._reported(event)
        counts, fates = self.controller.counts, Counter(self.fates.values())
        assert counts.accepted == len(self.oracle.works) == sum(fates.values())
        for name in ("done", "running", "queued", "replaced", "dropped"):
            assert getattr(counts, name) == fates[name] == len(self.oracle.of(name.replace("queued", "waiting")))
        assert {
            key: until for key, until in self.reported_pauses.items() if until is not None and key in self.oracle.talks
        } == {key: talk["until"] for key, talk in self.oracle.talks.items() if talk["until"] is not None}

    @invariant()
    def nothing_is_kept_of_what_is_not_known(self) -> None:
        known = set(self.oracle.talks)
        assert {*self.controller.queued, *self.controller.deferred, *self.controller.paused} <= known
        sizes = self.controller.sizes()
        assert (sizes.conversations, sizes.watched) == (len(known), len(known))
        assert sizes.with_failures == sum(talk["failures"] > 0 for talk in self.oracle.talks.values())
        due = self.controller.next_due(self.now)
        assert (due is None) == (not known)

    def teardown(self) -> None:
        """Whatever happened: once all have ended and all work is over, nothing is left."""
        if not hasattr(self, "controller"):
            return
        for key in KEYS:
            self.controller.end(key)
        for permit in self.controller.running:
            assert self.controller.release(permit, WorkEnd.FAILED, self.now) == ()
        assert self.controller.sizes() == AdmissionSizes(0, 0, 0, 0, 0, 0)
        assert balanced(self.controller.counts)

    # ── both ────────────────────────────────────────────────────────────────────────────────────

    def _asks(self, key: str) -> None:
        self.payloads += 1
        before, full = self.controller.queued, len(self.controller.queued) >= self.controller.limits.max_queue_size
        answer = self.controller.ask(key, self.payloads, self.now)
        fate = self.oracle.ask(key)
        self.newest[key] = self.payloads
        match answer:
            case Admit(Permit(asked, _), work):
                assert (fate, asked, work) == ("running", key, self.payloads)
            case Enqueue(_, None):
                assert fate == "waiting"
                assert self.controller.queued == (*before[full:], key)
            case Enqueue():
                assert (fate, self.controller.queued) == ("waiting", before)  # de-dup comes before dropping
            case Defer(_, reason):
                assert fate == "dropped"
                assert (reason is DropReason.PAUSED) == self.oracle.rests(key)
            case _:
                assert fate == "refused"
                self.refused += 1

    def _started(self, starts: tuple[Admit[int], ...], happens: Any) -> None:
        before = {work["number"] for work in self.oracle.of("running")}
        happens()
        expected = {work["number"] for work in self.oracle.of("running")} - before
        assert [start.permit.number for start in starts] == [
            work["number"]
            for work in sorted(self.oracle.works, key=lambda work: work["place"])
            if work["number"] in expected
        ]
        for start in starts:
            assert start.work == self.newest[start.permit.key]  # the newest payload wins

    def _reported(self, event: Event) -> None:
        match event:
            case WorkAdmitted():
                assert self.fates.get(event.number, "queued") == "queued"
                self.fates[event.number] = "running"
            case WorkQueued(replaced=None):
                self.fates[event.number] = "queued"
            case WorkQueued(replaced=int(replaced)):
                assert self.fates[replaced] == "queued"
                self.fates |= {event.number: "queued", replaced: "replaced"}
            case WorkDropped():
                assert self.fates.get(event.number, "queued") == "queued"
                assert event.deferred == (event.reason in (DropReason.QUEUE_FULL, DropReason.PAUSED))
                self.fates[event.number] = "dropped"
            case WorkReleased():
                assert self.fates[event.number] == "running"
                self.fates[event.number] = "done"
            case WorkRejected():
                self.refused -= 1
                assert self.refused >= 0
            case ConversationBreakerChanged():
                assert (event.until is not None) == (event.after is BreakerState.OPEN)
                self.reported_pauses[event.key] = event.until
            case AdmissionLimitsSet():
                assert event.max_concurrent == self.controller.limits.max_concurrent
            case _:
                if (key := getattr(event, "key", None)) is not None:
                    assert event.why in RemovalReason  # type: ignore[attr-defined]
                    self.reported_pauses.pop(key, None)


TestController = ControllerBesideOracle.TestCase
TestController.settings = settings(max_examples=1_000 if WHOLE else 40, stateful_step_count=40, deadline=None)
