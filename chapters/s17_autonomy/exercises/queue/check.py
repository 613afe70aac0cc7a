"""Plays histories on the learner's queue; the oracle reads only the list of calls."""

from random import Random
from types import ModuleType
from typing import Any

HISTORIES, LONGEST = 2_000, 40
LEASE_S, ATTEMPTS, PATIENCE = 10.0, 3, 4
Happened = tuple[float, str, str, Any]
"""Time, what, the task, and a priority or fence."""


class Play:
    """A learner's queue and the calls so far."""

    def __init__(self, work: ModuleType) -> None:
        self.queue: Any = work.LeaseQueue()
        self.story: list[str] = []
        self.now = 0.0

    def add(self, name: str, priority: int = 2) -> None:
        """Add a task."""
        self.queue.add(name, priority)
        self.story.append(f"add({name!r}, {priority})")

    def does(self, what: str, *arguments: object) -> Any:
        """Returns the answer to a call at the current time."""
        answer = getattr(self.queue, what)(*arguments, self.now)
        shown = ", ".join(map(repr, (*arguments, self.now)))
        self.story.append(f"{what}({shown}) -> {answer!r}")
        return answer

    def wants(self, found: object, what: str, *, wanted: object) -> None:
        """Raises AssertionError, with the story, when they differ."""
        assert found == wanted, "\n".join([*self.story, f"{what}: {found!r}, wanted {wanted!r}"])

    def claims(self, *names: str) -> int:
        """Claims that have to give these tasks; returns the last fence."""
        fence = 0
        for name in names:
            given = self.does("claim")
            self.wants(given and given[0], "the task that was claimed", wanted=name)
            fence = given[1]
        return fence


def check_one_task_one_worker(work: ModuleType) -> None:
    play = Play(work)
    play.wants(play.does("claim"), "a claim of an empty queue", wanted=None)
    for name, priority in (("paint", 2), ("alarm", 0), ("sweep", 2)):
        play.add(name, priority)
    play.claims("alarm", "paint", "sweep")
    play.wants(play.does("claim"), "a claim when all are lent", wanted=None)


def check_a_lease_ends(work: ModuleType) -> None:
    play = Play(work)
    play.add("paint")
    first = play.claims("paint")
    play.now = 9.9
    play.wants(play.does("claim"), "a claim before the lease ends", wanted=None)
    play.wants(play.does("renew", "paint", first), "a renewal in time", wanted=True)
    play.now = 19.8
    play.wants(play.does("claim"), "a claim before the renewed lease ends", wanted=None)
    play.now = 19.9
    second = play.claims("paint")
    play.wants(second > first, "whether the fence has risen", wanted=True)


def check_a_late_worker_changes_nothing(work: ModuleType) -> None:
    for what in ("renew", "finish", "give_back"):
        play = Play(work)
        play.add("paint")
        first = play.claims("paint")
        play.now = 10.0
        play.wants(play.does(what, "paint", first), "a call after the lease", wanted=False)
        second = play.claims("paint")
        play.wants(play.does(what, "paint", first), "a call with an old fence", wanted=False)
        play.wants(play.does("finish", "paint", second), "the end by its holder", wanted=True)
        play.wants(play.does(what, "paint", second), "a call after the end", wanted=False)
        play.now = 30.0
        play.wants(play.does("claim"), "a claim of a task that is done", wanted=None)


def check_a_task_that_ends_its_workers_is_set_aside(work: ModuleType) -> None:
    play = Play(work)
    play.add("bomb", 0)
    play.add("paint")
    for attempt in range(1, ATTEMPTS + 1):
        fence = play.claims("bomb")
        if attempt % 2:
            play.now += 10.0
        else:
            play.wants(play.does("give_back", "bomb", fence), "a task given back in time", wanted=True)
    play.claims("paint")
    task = play.queue.tasks["bomb"]
    play.wants((task.state, task.attempts), "state and attempts of bomb", wanted=(work.SET_ASIDE, ATTEMPTS))


def check_none_starves(work: ModuleType) -> None:
    play = Play(work)
    play.add("paint", 2)
    for number in range(2 * PATIENCE):
        play.add(f"alarm {number}", 0)
        play.claims(f"alarm {number}")
    play.add("one more alarm", 0)
    play.claims("paint")


def check_random_histories_agree_with_the_oracle(work: ModuleType) -> None:
    stories = (_difference(work, Random(seed)) for seed in range(HISTORIES))
    shortest = min(filter(None, stories), key=len, default=None)
    assert shortest is None, "\n".join(shortest or ())


def _difference(work: ModuleType, chance: Random) -> list[str] | None:
    """The story up to the first difference; None: there is none."""
    play, happened, fences = Play(work), list[Happened](), list[tuple[str, int]]()
    for number in range(chance.randint(1, LONGEST)):
        play.now += chance.choice([0.0, 0.0, 1.0, 2.5, 5.0, 10.0])
        what = chance.choice(["add", "add", "claim", "claim", "claim", "finish", "finish", "renew", "give_back"])
        if what == "add":
            name, priority = f"t{number}", chance.randint(0, 3)
            play.add(name, priority)
            happened.append((play.now, "add", name, priority))
        elif what == "claim":
            wanted = _next(happened, play.now)
            given = play.does("claim")
            if (given[0] if given else None) != wanted:
                return [*play.story, f"wanted {wanted!r}"]
            if given:
                if given in fences:
                    return [*play.story, "this fence was given before"]
                happened.append((play.now, "claim", *given))
                fences.append(given)
        elif fences:
            name, fence = chance.choice(fences[-4:])
            counts = _holder(happened, name, play.now) == fence
            if play.does(what, name, fence) != counts:
                return [*play.story, f"wanted {counts}"]
            if counts:
                happened.append((play.now, what, name, fence))
    return None


def _of(happened: list[Happened], name: str, *kinds: str) -> list[tuple[int, Happened]]:
    return [(place, one) for place, one in enumerate(happened) if one[2] == name and one[1] in kinds]


def _holder(happened: list[Happened], name: str, now: float) -> int | None:
    """The fence of the claim that holds a task now; None: it is not lent."""
    changes = _of(happened, name, "claim", "renew", "finish", "give_back")
    if not changes or changes[-1][1][1] in ("finish", "give_back") or now >= changes[-1][1][0] + LEASE_S:
        return None
    return int(changes[-1][1][3])


def _next(happened: list[Happened], now: float) -> str | None:
    """The task that a claim gives: found by looking at every task's whole past."""
    waiting = [one[2] for one in happened if one[1] == "add" and _waits(happened, one[2], now)]
    return min(waiting, key=lambda name: (_rank(happened, name), _of(happened, name, "add")[0][0]), default=None)


def _waits(happened: list[Happened], name: str, now: float) -> bool:
    ended = bool(_of(happened, name, "finish"))
    return not ended and _holder(happened, name, now) is None and len(_of(happened, name, "claim")) < ATTEMPTS


def _rank(happened: list[Happened], name: str) -> int:
    """Its priority, less a step for every four claims that were given while it waited."""
    (_, (_, _, _, priority)) = _of(happened, name, "add")[0]
    last = _of(happened, name, "add", "claim")[-1][0]
    claims = [(place, one) for place, one in enumerate(happened) if place > last and one[1] == "claim"]
    passed = sum(_holder(happened[:place], name, one[0]) is None for place, one in claims)
    return int(priority) - passed // PATIENCE
