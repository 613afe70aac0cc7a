"""Polls are distinguished from loops by effect and timing of their calls; compared with a naive oracle."""

from dataclasses import dataclass, field, replace
from math import log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.policies.loops.detector_set import Detectors
from harness.policies.loops.limits import LoopLimits
from harness.policies.loops.observations import CallKind, ObservedCall, Poll
from harness.policies.loops.polls import Polls, WaitDue, WaitMeasure, Waits

LIMITS = LoopLimits()
COPIES = LIMITS.thresholds.poll_copies
ASKS, LOOKS, WORKS, WAITS = CallKind.ASKS, CallKind.LOOKS, CallKind.WORKS, CallKind.WAITS


def call(
    kind: CallKind, at: float, action: str = "status", result: str = "running", *, ok: bool = True
) -> ObservedCall:
    """One call of bash."""
    return ObservedCall(
        *(1, int(at), at, at, "id", "bash", action, result, ok),
        error="" if ok else "exit 1",
        mutates=kind in (WORKS, WAITS) and ok,
        summary=action,
        kind=kind,
    )


@dataclass
class Watch:
    """Shows steps of one call each to the policy and to the detectors of loops."""

    waits: Waits = field(default_factory=Waits)
    detectors: Detectors = field(default_factory=Detectors)
    at: float = 0.0

    def observe(
        self, kind: CallKind, action: str = "status", result: str = "running", *, ok: bool = True, after: float = 5.0
    ) -> WaitDue | None:
        self.at += after
        self.detectors.observe_step(
            self.waits.sorted([call(kind, self.at, action, result, ok=ok)], LIMITS.wait_spaced_s)
        )
        return self.waits.due(LIMITS)

    @property
    def loops(self) -> bool:
        return any(self.detectors.verdicts())


@pytest.mark.parametrize("ok", [True, False])
def test_an_unchanged_answer_is_advised_and_ends_by_the_limit_alone(ok: bool) -> None:
    watch = Watch()
    found: list[WaitDue | None] = []
    while not found or found[-1] is None or found[-1].measure is not WaitMeasure.END:
        found.append(watch.observe(ASKS, ok=ok, after=60))
        assert not watch.loops
    assert found[:3] == [None] * 3
    assert [one.same for one in found if one and one.measure is WaitMeasure.ADVISE] == [4, 8, 16, 32]
    assert found[-1] == WaitDue(WaitMeasure.END, "status", 62, 3660.0)


def test_the_pauses_double_up_to_the_longest_and_count_what_the_agent_waits_itself() -> None:
    watch = Watch()
    pauses: dict[int, float] = {}
    pause = 0.0
    for _ in range(15):
        found = watch.observe(ASKS, after=1 + pause)
        pause = found.seconds if found and found.measure is WaitMeasure.PAUSE else 0.0
        if found and pause:
            pauses[found.same] = pause
    assert pauses == {5: 1, 6: 3, 7: 7, 9: 31, **dict.fromkeys(range(10, 16), 59)}
    patient = Watch()
    measures = [patient.observe(ASKS, after=90) for _ in range(15)]
    assert {one.measure for one in measures if one} == {WaitMeasure.ADVISE}


@pytest.mark.parametrize(("kind", "ok"), [(WORKS, True), (WORKS, False), (WAITS, False)])
def test_work_is_a_loop_however_slow_it_is(kind: CallKind, ok: bool) -> None:
    watch = Watch()
    for _ in range(4):
        watch.observe(kind, ok=ok, after=120)
    assert watch.loops


def test_a_failing_edit_beside_a_wait_is_still_found() -> None:
    watch = Watch()
    for _ in range(4):
        watch.observe(ASKS)
        watch.observe(WORKS, "edit", "old_string does not occur", ok=False)
    assert watch.loops


def polled(*asked: tuple[float, str], poll: Poll = Poll(every_s=1.0, total_s=10.0)) -> Polls:  # noqa: B008 (frozen)
    """One poll at these moments with these answers."""
    polls = Polls()
    for at, result in asked:
        polls.observe([replace(call(ASKS, at, result=result), poll=poll)])
    return polls


def test_a_poll_that_is_late_and_in_a_hurry_is_reported_once_as_late() -> None:
    times = [0.0, 10.0, 10.1, 10.2, 10.3]
    (hurried,) = polled(*[(at - 5, "same") for at in times[1:]]).loops(3)
    (late,) = polled(*[(at, "same") for at in times]).loops(3)
    assert (hurried.weak, hurried.copies) == (True, 3)
    assert (late.weak, late.copies) == (False, 5)


def test_a_poll_has_a_limit_of_time_and_a_new_answer_or_other_work_begins_it_anew() -> None:
    assert polled((0.0, "same"), (10.0, "same")).loops(3) == ()
    assert [loop.copies for loop in polled((0.0, "same"), (10.1, "same")).loops(3)] == [2]
    assert polled((0.0, "same"), (10.1, "other"), (20.0, "other")).loops(3) == ()
    polls = polled((0.0, "same"))
    polls.restart()
    assert not polls.observe([replace(call(ASKS, 20.0), poll=Poll(total_s=10.0), result="same")])
    assert polls.loops(3) == ()


def test_reads_belong_to_a_wait_for_three_steps_after_its_question() -> None:
    waits = Waits()
    waits.sorted([call(ASKS, 0.0)], 10.0)
    found = [waits.sorted([call(LOOKS, 1.0, f"cat {step}")], 10.0)[0].poll for step in range(5)]
    assert [poll is not None for poll in found] == [True, True, True, False, False]


class Naive:
    """Naive oracle: keeps all calls and searches them each time."""

    def __init__(self) -> None:
        self.seen: list[tuple[int, ObservedCall, bool]] = []
        """Step, call, whether it was part of a wait."""
        self.paused: dict[float, float] = {}
        """By the moment of a call the pause that followed."""

    def wait(self, step: int, one: ObservedCall) -> bool:
        """Whether this call is part of a wait."""
        since_work: list[tuple[int, ObservedCall, bool]] = []
        for entry in self.seen:
            since_work = [] if self._ends(entry) else [*since_work, entry]
        asked = [at for at, other, part in since_work if part and other.kind is not LOOKS]
        earlier = [other for _, other, part in since_work if other.action == one.action and (part or other.ok)]
        spaced = bool(earlier) and self._same(earlier[-1], one) and one.at - earlier[-1].at >= LIMITS.wait_spaced_s
        match one.kind:
            case CallKind.ASKS:
                part = True
            case CallKind.WAITS:
                part = one.ok
            case CallKind.LOOKS:
                part = spaced or (bool(asked) and step - asked[-1] <= 3)
            case CallKind.WORKS:
                part = False
        self.seen.append((step, one, part))
        return part

    def due(self) -> object:
        """What to do about the last call."""
        _, last, part = self.seen[-1]
        if not part:
            return None
        run: list[ObservedCall] = []
        before = None
        for entry in self.seen:
            _, other, was = entry
            if self._ends(entry):
                run, before = [], None
            elif other.action == last.action and (was or other.ok):
                before = run[-1] if run else None
                run = [*run, other] if run and self._same(run[-1], other) else [other]
        same, waited = len(run), run[-1].at - run[0].at
        if same < COPIES:
            return None
        if waited > LIMITS.wait_total_s:
            return WaitDue(WaitMeasure.END, last.summary, same, waited)
        if same % COPIES == 0 and log2(same / COPIES).is_integer():
            return WaitDue(WaitMeasure.ADVISE, last.summary, same)
        wanted = min(LIMITS.wait_pause_s, 2.0 ** (same - COPIES))
        distance = max(0.0, last.at - before.at - self.paused.get(before.at, 0.0)) if before else 0.0
        if distance >= wanted:
            return None
        self.paused[last.at] = wanted - distance
        return WaitDue(WaitMeasure.PAUSE, last.summary, same, wanted - distance)

    @staticmethod
    def _ends(entry: tuple[int, ObservedCall, bool]) -> bool:
        _, other, part = entry
        return not part and other.kind is not LOOKS

    @staticmethod
    def _same(one: ObservedCall, other: ObservedCall) -> bool:
        return (one.result, one.ok) == (other.result, other.ok)


STEPS = st.lists(
    st.tuples(
        st.sampled_from([ASKS, ASKS, LOOKS, LOOKS, WAITS, WORKS]),
        st.sampled_from(["a", "b"]),
        st.sampled_from(["same", "same", "same", "other"]),
        st.sampled_from([True, True, False]),
        st.sampled_from([0.01, 1.0, 9.9, 10.0, 100.0, 3000.0]),
    ),
    max_size=60,
)


@given(STEPS)
def test_waits_are_what_the_naive_oracle_says(steps: list[tuple[CallKind, str, str, bool, float]]) -> None:
    waits, naive, at = Waits(), Naive(), 0.0
    for step, (kind, action, result, ok, after) in enumerate(steps, 1):
        at += after
        one = call(kind, at, f"{kind.value} {action}", result, ok=ok)
        (seen,) = waits.sorted([one], LIMITS.wait_spaced_s)
        assert (seen.poll is not None) is naive.wait(step, one)
        assert waits.due(LIMITS) == naive.due()
