"""Plays a learner's admission control, and that of harness beside it."""

from collections.abc import Iterator
from random import Random
from types import ModuleType
from typing import Any

from harness.events import AdmissionEvent, WorkDropped, WorkEnd, WorkQueued
from harness.policies.admission.slot_queue import Admit, Defer, Enqueue, Permit, Reject, SlotQueue

KEYS = "abcd"
HISTORIES, LONGEST = 1_000, 30


class Play:
    """A learner's queue and the requests made to it."""

    def __init__(self, work: ModuleType, slots: int, places: int) -> None:
        self.admission: Any = work.Admission(slots=slots, places=places)
        self.story = [f"Admission(slots={slots}, places={places})"]

    def ask(self, key: str, work: str = "") -> str:
        """The answer to a request."""
        work = work or f"work of {key}"
        answer: str = self.admission.ask(key, work)
        self.story.append(f"ask({key!r}, {work!r}) -> {answer!r}, {self._now()}")
        return answer

    def release(self, key: str) -> list[str]:
        """The work that starts when that of an agent has ended."""
        started: list[str] = list(self.admission.release(key))
        self.story.append(f"release({key!r}) -> {started}, {self._now()}")
        return started

    def wants(self, found: object, wanted: object, what: str) -> None:
        """Raises AssertionError, with the story, when they differ."""
        assert found == wanted, "\n".join([*self.story, f"{what}: {found!r}, wanted {wanted!r}"])

    def _now(self) -> str:
        return f"running {self.admission.running}, queue {list(self.admission.queue)}, dropped {self.admission.dropped}"


def check_few_run_and_the_others_wait(work: ModuleType) -> None:
    play = Play(work, slots=2, places=3)
    for key, wanted in zip("abcd", (work.RUN, work.RUN, work.WAIT, work.WAIT), strict=True):
        play.wants(play.ask(key), wanted, f"the answer to {key}")
    play.wants(list(play.admission.queue), ["c", "d"], "the queue")
    play = Play(work, slots=0, places=3)
    play.wants(play.ask("a"), work.WAIT, "the answer without slots")
    play = Play(work, slots=2, places=3)
    play.admission.close()
    play.wants(play.ask("a"), work.REJECT, "the answer after close()")


def check_a_full_queue_drops_its_oldest(work: ModuleType) -> None:
    play = Play(work, slots=1, places=2)
    for key in "abc":
        play.ask(key)
    play.wants(play.ask("d"), work.WAIT, "the answer to d")
    play.wants(list(play.admission.queue), ["c", "d"], "the queue")
    play.wants(play.admission.dropped, ["work of b"], "the dropped work")
    play = Play(work, slots=1, places=0)
    play.ask("a")
    play.wants(play.ask("b"), work.DROP, "the answer without places")
    play.wants(play.admission.dropped, ["work of b"], "the dropped work")


def check_newer_work_replaces_older(work: ModuleType) -> None:
    play = Play(work, slots=1, places=2)
    for key in "abc":
        play.ask(key)
    play.wants(play.ask("b", "newer work of b"), work.REPLACE, "the answer to newer work")
    play.wants(play.admission.queue, {"b": "newer work of b", "c": "work of c"}, "the queue")
    play.wants(play.admission.dropped, ["work of b"], "the dropped work")
    play.wants(play.release("a"), ["newer work of b"], "what starts")


def check_a_freed_slot_is_filled(work: ModuleType) -> None:
    play = Play(work, slots=2, places=3)
    for key in "abac":
        play.ask(key, "more work of a" if key in play.admission.running else "")
    play.wants(play.release("b"), ["work of c"], "what starts while a is running")
    play.wants(play.release("b"), [], "what starts when b is released a second time")
    play.wants(play.release("a"), ["more work of a"], "what starts when a is free")
    play.wants(play.admission.running, ["c", "a"], "the running agents")


def check_it_does_what_the_real_one_does(work: ModuleType) -> None:
    stories = (_difference(work, Random(seed)) for seed in range(HISTORIES))
    shortest = min(filter(None, stories), key=len, default=None)
    assert shortest is None, "\n".join(shortest or ())


class Real:
    """The admission of harness, in the terms of the exercise."""

    def __init__(self, work: ModuleType, slots: int, places: int) -> None:
        self._work = work
        self._names: dict[int, str] = {}
        self._numbers = 0
        self._events: list[AdmissionEvent] = []
        self._admission: SlotQueue[str] = SlotQueue(slots, places, self._events.append)
        self._permits: dict[str, Permit] = {}

    @property
    def queue(self) -> list[str]:
        """The waiting agents."""
        return list(self._admission.queued)

    def ask(self, key: str, work: str) -> str:
        """The answer to a request."""
        self._names[self._admission.counts.accepted + 1] = work
        match self._admission.ask(key, work):
            case Admit(permit=permit):
                self._permits[key] = permit
                return str(self._work.RUN)
            case Enqueue(replaced=None):
                return str(self._work.WAIT)
            case Enqueue():
                return str(self._work.REPLACE)
            case Defer():
                return str(self._work.DROP)
            case Reject():
                return str(self._work.REJECT)

    def release(self, key: str) -> list[str]:
        """The work that starts when that of an agent has ended."""
        permit = self._permits.pop(key, None)
        starts = self._admission.release(permit, WorkEnd.SUCCEEDED) if permit else ()
        self._permits.update((start.permit.key, start.permit) for start in starts)
        return [start.work for start in starts]

    def close(self) -> None:
        """Accept no more work."""
        self._admission.close()

    def dropped(self) -> Iterator[str]:
        """The work that will not be done."""
        for event in self._events:
            match event:
                case WorkDropped(number=number) | WorkQueued(replaced=int(number)):
                    yield self._names[number]


def _difference(work: ModuleType, chance: Random) -> list[str] | None:
    """The story up to the first answer where the two differ; None: they never do."""
    slots, places = chance.randint(0, 3), chance.randint(0, 3)
    play, real = Play(work, slots, places), Real(work, slots, places)
    for number in range(chance.randint(1, LONGEST)):
        key = chance.choice(KEYS)
        pick = chance.random()
        if pick < 0.6:
            mine: object = play.ask(key, f"work {number} of {key}")
            theirs: object = real.ask(key, f"work {number} of {key}")
        elif pick < 0.98:
            mine, theirs = play.release(key), real.release(key)
        else:
            mine = theirs = None
            play.admission.close()
            real.close()
            play.story.append("close()")
        found = mine, list(play.admission.queue), play.admission.dropped
        wanted = theirs, real.queue, list(real.dropped())
        if found != wanted:
            return [*play.story, f"harness -> {theirs!r}, queue {real.queue}, dropped {wanted[2]}"]
    return None
