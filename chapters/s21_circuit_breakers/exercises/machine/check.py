"""Plays a learner's breaker, and the board of harness beside it."""

from dataclasses import dataclass, field
from random import Random
from types import ModuleType
from typing import Any

from harness.events import DispatchLimits, Failure, FailureCategory
from harness.policies.breakers.decisions import CallPermit, Finish, Result, Skip
from harness.policies.breakers.registry import BreakerRegistry

TOOL = "grep"
FOREVER = 1_000_000
FAILED = Failure(FailureCategory.TIMEOUT, "timed out")
HISTORIES, LONGEST = 1_000, 30


@dataclass
class Play:
    """A learner's breaker and the calls made to it."""

    work: ModuleType
    step: int = 1
    breaker: Any = None
    story: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.breaker = self.work.Breaker()

    def call(self) -> int | None:
        """Ask for a call: the generation that it was let through in; None: it was not."""
        self.breaker, allowed = self.work.allow(self.breaker, self.step)
        self.story.append(f"step {self.step}: allow -> {allowed}, {self.breaker.state}")
        return self.breaker.generation if allowed else None

    def came(self, *, ok: bool, generation: int) -> None:
        """A result comes back."""
        self.breaker = self.work.record(self.breaker, ok, generation, self.step)
        self.story.append(f"step {self.step}: record(ok={ok}, generation={generation}) -> {self.breaker.state}")

    def fail(self, times: int = 1) -> None:
        """Calls that fail, one a step."""
        for _ in range(times):
            generation = self.call()
            assert generation is not None, self.told("wanted allow -> True")
            self.came(ok=False, generation=generation)
            self.step += 1

    def late(self, generation: int) -> None:
        """Results of an older generation come back; they must change nothing."""
        for ok in (True, False):
            before = self.breaker
            self.came(ok=ok, generation=generation)
            assert self.breaker == before, self.told(f"{self.breaker}, wanted {before}")

    def wait(self) -> None:
        """Go on to the step at which the probe is due."""
        self.step += self.work.PAUSE - 1

    def told(self, wanted: str) -> str:
        """The expected result, with the story before it."""
        return "\n".join([*self.story, wanted])


def check_it_opens_after_failures_in_a_row(work: ModuleType) -> None:
    play = Play(work)
    play.fail(work.THRESHOLD - 1)
    assert play.breaker.state == work.CLOSED, play.told(f"wanted {work.CLOSED}")
    generation = play.call()
    assert generation is not None, play.told("wanted allow -> True")
    play.came(ok=True, generation=generation)
    assert play.breaker.failures == 0, play.told(f"failures {play.breaker.failures}, wanted 0")
    play.fail(work.THRESHOLD)
    assert play.breaker.state == work.OPEN, play.told(f"wanted {work.OPEN}")
    assert play.call() is None, play.told("wanted allow -> False")


def check_one_probe_goes_out_when_it_is_due(work: ModuleType) -> None:
    play = Play(work)
    play.fail(work.THRESHOLD)
    play.wait()
    play.step -= 1
    assert play.call() is None, play.told("wanted allow -> False")
    play.step += 1
    assert play.call() is not None, play.told("wanted allow -> True")
    assert play.breaker.state == work.HALF_OPEN, play.told(f"wanted {work.HALF_OPEN}")
    assert play.call() is None, play.told("wanted allow -> False")


def check_the_probe_closes_or_opens_it(work: ModuleType) -> None:
    for ok, wanted in ((True, work.CLOSED), (False, work.OPEN)):
        play = Play(work)
        play.fail(work.THRESHOLD)
        play.wait()
        generation = play.call()
        assert generation is not None, play.told("wanted allow -> True")
        play.came(ok=ok, generation=generation)
        assert play.breaker.state == wanted, play.told(f"wanted {wanted}")
        if ok:
            assert play.breaker.failures == 0, play.told(f"failures {play.breaker.failures}, wanted 0")
        else:
            assert play.call() is None, play.told("wanted allow -> False")


def check_late_results_change_nothing(work: ModuleType) -> None:
    play = Play(work)
    slow = play.call()
    assert slow is not None, play.told("wanted allow -> True")
    play.fail(work.THRESHOLD)
    play.late(slow)
    play.wait()
    probe = play.call()
    assert probe is not None, play.told("wanted allow -> True")
    play.late(slow)
    play.came(ok=True, generation=probe)
    play.late(slow)


def check_it_does_what_the_real_one_does(work: ModuleType) -> None:
    stories = (_difference(work, Random(seed)) for seed in range(HISTORIES))
    shortest = min(filter(None, stories), key=len, default=None)
    assert shortest is None, "\n".join(shortest or ())


def _difference(work: ModuleType, chance: Random) -> list[str] | None:
    """The story up to the first decision where the two differ; None: they never do."""
    limits = DispatchLimits(threshold=work.THRESHOLD, probe_distance=work.PAUSE, budget=FOREVER, lease=FOREVER)
    play, board = Play(work), BreakerRegistry([TOOL], limits=limits)
    board.begin_step(play.step)
    out: list[tuple[int, CallPermit]] = []
    for _ in range(chance.randint(1, LONGEST)):
        if out and chance.random() < 0.5:
            generation, permit = out.pop(chance.randrange(len(out)))
            ok = chance.random() < 0.4
            play.came(ok=ok, generation=generation)
            result: Result = Finish.OK if ok else FAILED
            board.record(permit, result, 0.0)
        elif chance.random() < 0.5:
            play.step += chance.randint(1, 2)
            board.begin_step(play.step)
        else:
            mine, real = play.call(), board.decide(TOOL)
            if (mine is None) != isinstance(real, Skip):
                return [*play.story, f"harness -> {real.dispatch.value}"]
            if mine is not None:
                out.append((mine, real.permit))
    return None
