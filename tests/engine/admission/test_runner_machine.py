"""Admission with real tasks beside the naive one, after everything that can happen in any order."""

import asyncio
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.events import WorkEnd
from harness.policies.admission.controller import AdmissionLimits
from tests.engine.admission.callers import NOTHING, Callers, Failed
from tests.engine.admission.naive_admission import NaiveAdmission
from tests.engine.hand_clock import quiet
from tests.policies.admission.oracle import balanced
from tests.whole import WHOLE

pytestmark = pytest.mark.anyio

KEYS = [f"a{number}" for number in range(9)]
HAPPENS = ["ask", "ask", "ask", "ask", "storm", "succeed", "fail", "fail", "raise", "cancel", "end", "time", "limits"]
limits = st.builds(
    AdmissionLimits,
    max_concurrent=st.integers(0, 3),
    max_queue_size=st.integers(0, 3),
    failures_in_a_row=st.integers(1, 3),
)


class Both:
    """Does the same to both and compares them."""

    def __init__(self, limits: AdmissionLimits) -> None:
        self.callers, self.naive = Callers(limits), NaiveAdmission(limits)
        self.lowered = False

    async def happens(self, what: str, at: int, limits: AdmissionLimits) -> None:
        """One thing, to whatever `at` points at."""
        key, asked = KEYS[at % len(KEYS)], [*KEYS[at % len(KEYS) :], *KEYS[: at % len(KEYS)]]
        running = self.naive.who("runs")
        match what:
            case "ask":
                self._asks(key)
            case "storm":
                self._asks(*asked)
            case "succeed" | "fail" | "raise" if running:
                number = running[at % len(running)]
                end = self.callers.ends[number]
                match what:
                    case "succeed":
                        end.set_result(WorkEnd.SUCCEEDED)
                    case "fail":
                        end.set_result(WorkEnd.FAILED)
                    case _:
                        end.set_exception(Failed())
                self.naive.finish(number, "succeeded" if what == "succeed" else "failed")
                self.naive.fates[number - 1] = "failed" if what == "raise" else "done"
            case "cancel" if living := sorted([*running, *self.naive.who("waits")]):
                self.callers.tasks[living[at % len(living)]].cancel()
                self.naive.cancel(living[at % len(living)])
            case "end":
                self.callers.runner.end(key)
                self.naive.end(key)
            case "time":
                self.callers.clock.move(at * 10.0)
                self.naive.oracle.now = self.callers.clock.time
            case "limits":
                self.lowered = len(running) > limits.max_concurrent
                self.callers.runner.configure(limits)
                self.naive.configure(limits)
        await quiet(4)

    def compare(self) -> None:
        """Both are in the same state."""
        status, oracle = self.callers.runner.status, self.naive.oracle
        assert [self.callers.fate(number) for number in self.callers.tasks] == self.naive.fates
        assert sorted(status.running) == sorted(oracle.keys("running"))
        assert list(status.queued) == [work["key"] for work in oracle.line()]
        assert list(status.deferred) == oracle.marked
        assert set(status.paused) == {key for key, talk in oracle.talks.items() if talk["until"] is not None}
        assert status.starting == ()
        assert balanced(status.counts)
        assert status.counts.accepted == len(oracle.works)
        assert len(status.queued) <= status.limits.max_queue_size
        self.lowered = self.lowered and self.callers.inside > status.limits.max_concurrent
        assert self.lowered or self.callers.inside <= status.limits.max_concurrent
        assert self.callers.inside == len(status.running)

    async def leaves_nothing(self) -> None:
        """All keys end and all work is over: no entry, no task, no timer."""
        for key in KEYS:
            await self.happens("end", KEYS.index(key), self.callers.runner.status.limits)
        while self.naive.who("runs"):
            await self.happens("succeed", 0, self.callers.runner.status.limits)
        await quiet()
        self.compare()
        assert self.callers.controller.sizes() == NOTHING
        assert (self.callers.tasks_left(), self.callers.clock.sleepers) == (0, [])
        await self.callers.runner.aclose()

    def _asks(self, *keys: str) -> None:
        self.callers.ask(*keys)
        for key in keys:
            self.naive.ask(key)


@settings(max_examples=1_000 if WHOLE else 40, deadline=None)
@given(
    begins=limits,
    happens=st.lists(st.tuples(st.sampled_from(HAPPENS), st.integers(0, 20), limits), min_size=10, max_size=40),
)
def test_every_caller_fares_as_the_naive_controller_says(
    begins: AdmissionLimits, happens: list[tuple[str, int, AdmissionLimits]]
) -> None:
    async def play() -> None:
        both = Both(begins)
        for what, at, other in happens:
            await both.happens(what, at, other)
            both.compare()
        await both.leaves_nothing()

    asyncio.run(play())


@pytest.mark.parametrize("seed", range(200 if WHOLE else 5))
def test_in_a_long_life_too_every_caller_fares_as_the_naive_controller_says(seed: int) -> None:
    async def play() -> None:
        random, both = Random(seed), Both(AdmissionLimits(max_concurrent=3, max_queue_size=4))
        for _ in range(250):
            await both.happens(random.choice(HAPPENS[:-1]), random.randrange(21), both.callers.runner.status.limits)
            both.compare()
        await both.leaves_nothing()

    asyncio.run(play())
