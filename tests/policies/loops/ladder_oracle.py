"""The next rung of the ladder, recomputed from the full history of each loop. Slow and simple."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from harness.events import ErrorClass, Loop, LoopChoice, Projection, Rung
from harness.policies.loops.ladder import Abilities
from harness.policies.loops.limits import LoopLimits

Entry = tuple[Any, ...]
"""What happened, and what it was: ("saw", step, loops, by a visit), ("text", step, loop or None),
("ignored", signature, step), ("did", rung, signature, applied, action), ("answer", signature, choice),
("prompt", by the user) or ("policy", policy)."""

QUOTA = {
    Rung.RETRY: "retries",
    Rung.NUDGE: "nudges",
    Rung.EXPLORE: "explorations",
    Rung.SUBSTITUTE: "substitutions",
    Rung.ROLLBACK: "rollbacks",
    Rung.BREAKER: "breakers",
    Rung.HUMAN: "humans",
}


@dataclass
class Life:
    """What happened to one loop since it was found."""

    entries: list[Entry] = field(default_factory=list)
    when: list[tuple[int, int]] = field(default_factory=list)
    """For each entry how many observations, and how many visits among them, there had been."""

    @property
    def loop(self) -> Loop:
        """The loop in its last observation."""
        loop: Loop = next(entry[1] for entry in reversed(self.entries) if entry[0] in ("seen", "text"))
        return loop

    def counts(self) -> list[int]:
        """Whole copies after each entry, with those that were kept from being made."""
        counts, texts, seen, ignored = [], 0, 0, 0
        for entry in self.entries:
            texts += entry[0] == "text"
            ignored += entry[0] == "ignored"
            seen = entry[1].copies if entry[0] == "seen" else seen
            counts.append(texts + seen + ignored)
        return counts

    def copies(self) -> int:
        """Whole copies now."""
        return self.counts()[-1]

    def handled(self) -> int:
        """Copies at the last thing that was done; fewer, where there were fewer since."""
        done = [at for at, entry in enumerate(self.entries) if entry[0] == "did" and entry[2]]
        return min(self.counts()[done[-1] :]) if done else 0

    def grown(self) -> int:
        """Observations when the last copy came."""
        counts = [0, *self.counts()]
        return max(self.when[at][0] for at in range(len(self.when)) if counts[at + 1] > counts[at])

    def whole(self, visits: int) -> bool:
        """A round of places is given a whole round after something was done."""
        done = [when[1] for when, entry in zip(self.when, self.entries, strict=True) if entry[0] == "did" and entry[2]]
        places = self.loop.projection in (Projection.NODE, Projection.STATE)
        ignored = any(entry[0] == "ignored" for entry in self.entries)
        return not done or ignored or not places or visits - done[-1] >= self.loop.period

    def silent(self) -> int:
        """Number of copies before the user wants the next report."""
        answers = [at for at, entry in enumerate(self.entries) if entry == ("answer", LoopChoice.CONTINUE)]
        return 2 * self.counts()[answers[-1]] if answers else 0

    def wanted(self) -> Rung | None:
        """The user's choice that has not been carried out yet."""
        for entry in reversed(self.entries):
            match entry:
                case ("did", *_):
                    return None
                case ("answer", LoopChoice.ROLL_BACK):
                    return Rung.ROLLBACK
                case ("answer", LoopChoice.STOP):
                    return Rung.STOP
        return None

    def veto(self) -> str:
        """The call that is not to be made."""
        for entry in reversed(self.entries):
            match entry:
                case ("did", Rung.SUBSTITUTE, True, action):
                    return str(action)
                case ("answer", LoopChoice.CONTINUE):
                    return ""
        return ""

    def last(self) -> Rung | None:
        """The last rung that was taken."""
        return next((entry[1] for entry in reversed(self.entries) if entry[0] == "did" and entry[2]), None)

    def reported_now(self) -> bool:
        """Whether the last entry found the loop, or doubled its count since the last report."""
        reports: list[int] = []
        for count, entry in zip(self.counts(), self.entries, strict=True):
            new = entry[0] in ("seen", "text", "ignored") and (not reports or count >= 2 * reports[-1])
            reports += [count] * new
        return new

    def continues_unseen(self, step: int) -> bool:
        """Whether an ignored refusal shows that the loop continues although no call was observed."""
        ignored = [entry[1] for entry in self.entries if entry[0] == "ignored"]
        return bool(ignored) and step - ignored[-1] < self.loop.period


def seen_in(entry: Entry) -> set[str]:
    """The loops that gained a full or partial copy, executed or requested."""
    match entry:
        case ("saw", _, loops, _):
            return {loop.signature for loop in loops}
        case ("text", _, Loop(signature=signature)):
            return {signature}
        case ("ignored", signature, _):
            return {signature}
        case _:
            return set()


class World:
    """The state of all loops."""

    def __init__(self, policy: LoopLimits) -> None:
        self.policy = policy
        self.lives: dict[str, Life] = {}
        self.used: Counter[tuple[str, Rung]] = Counter()
        self.met: set[str] = set()
        """Every loop there ever was."""
        self.off = self.stopped = False
        self.observed = self.visits = 0
        self.tried: Counter[tuple[Projection, bool, Rung]] = Counter()
        self.freed: Counter[tuple[Projection, bool, Rung]] = Counter()
        """What each rung achieved against a kind of loop."""

    def due(self) -> Life | None:
        """The loop for which something has to be done."""
        if self.off or self.stopped or not self.policy.enabled:
            return None
        strong = [life for life in self.lives.values() if not life.loop.weak]
        weak = [life for life in self.lives.values() if self.used[life.loop.signature, Rung.NUDGE] < self.policy.nudges]
        awake = [life for life in strong if not any(self._stalled(life, other) for other in strong)]
        for life in (awake or weak)[:1]:
            another = life.copies() > max(life.handled(), life.silent() - 1) and life.whole(self.visits)
            if life.wanted() or another:
                return life
        return None

    def rung(self, able: Abilities) -> Rung | None:
        """The one for the loop that is due."""
        life = self.due()
        if life is None:
            return None
        if life.wanted() is Rung.STOP or (life.wanted() is Rung.ROLLBACK and able.rollback):
            return life.wanted()
        can: Mapping[Rung, object] = {
            Rung.RETRY: able.retry and life.loop.failing,
            Rung.NUDGE: True,
            Rung.EXPLORE: able.explore,
            Rung.SUBSTITUTE: able.substitute,
            Rung.ROLLBACK: able.rollback,
            Rung.BREAKER: able.breaker,
            Rung.HUMAN: able.human,
        }
        for rung in self.order(life.loop):
            name = QUOTA[rung]
            quota = getattr(self.policy, name)
            if rung is Rung.RETRY and life.loop.error is not ErrorClass.TRANSIENT:
                quota = 0 if life.loop.error is ErrorClass.PERSISTENT else min(quota, 1)
            if (
                can[rung]
                and self.used[life.loop.signature, rung] < quota
                and (rung is Rung.NUDGE or not life.loop.weak)
            ):
                return rung
        return None if life.loop.weak else Rung.STOP

    def order(self, loop: Loop) -> list[Rung]:
        """Of equally mild rungs the better one first, once the other was tried three times."""
        rungs = list(QUOTA)
        for first, second in ((Rung.EXPLORE, Rung.SUBSTITUTE), (Rung.ROLLBACK, Rung.BREAKER)):
            a, b = ((loop.projection, loop.failing, rung) for rung in (first, second))
            better = (self.freed[b] + 1) * (self.tried[a] + 2) > (self.freed[a] + 1) * (self.tried[b] + 2)
            if self.tried[a] >= 3 and better:
                at = rungs.index(first)
                rungs[at : at + 2] = [second, first]
        return rungs

    def _leaves(self, signature: str, *, by_itself: bool = False) -> None:
        life = self.lives.pop(signature)
        rung = life.last()
        if rung is not None and not by_itself:
            self.freed[life.loop.projection, life.loop.failing, rung] += 1

    def happens(self, entry: Entry) -> None:
        """One more thing."""
        self.met |= seen_in(entry)
        match entry:
            case ("saw", step, loops, visit):
                self.observed += 1
                self.visits += visit
                self._seen(step, {loop.signature: loop for loop in loops})
            case ("text", step, loop):
                for signature, life in list(self.lives.items()):
                    if life.loop.projection is Projection.TEXT and (loop is None or loop.signature != signature):
                        self._leaves(signature)
                if loop is not None:
                    self._notes(loop.signature, ("text", loop))
            case ("ignored", signature, step):
                self.observed += signature in self.lives
                self._notes(signature, ("ignored", step))
            case ("did", rung, signature, applied, action):
                self.used[signature, rung] += 1
                self.stopped |= rung is Rung.STOP and applied
                if applied and signature in self.lives:
                    loop = self.lives[signature].loop
                    self.tried[loop.projection, loop.failing, rung] += 1
                self._notes(signature, ("did", rung, applied, action))
            case ("answer", signature, choice):
                self.off |= choice is LoopChoice.OFF
                if choice is LoopChoice.CONTINUE:
                    self.used[signature, Rung.HUMAN] = max(0, self.used[signature, Rung.HUMAN] - 1)
                self._notes(signature, ("answer", choice))
            case ("policy", policy):
                self.off &= not (policy.enabled and policy.version > self.policy.version)
                self.policy = policy
            case ("prompt", by_user):
                self.lives.clear()
                if by_user:
                    self.used.clear()
                self.stopped = False

    def _stalled(self, life: Life, other: Life) -> bool:
        """The other one went round three times since it grew last."""
        return other.grown() > life.grown() and self.observed - life.grown() > 3 * other.loop.period

    def _notes(self, signature: str, entry: Entry) -> None:
        if signature in self.lives or entry[0] in ("seen", "text"):
            life = self.lives.setdefault(signature, Life())
            life.entries.append(entry)
            life.when.append((self.observed, self.visits))

    def _seen(self, step: int, loops: dict[str, Loop]) -> None:
        over = [
            signature
            for signature, life in self.lives.items()
            if signature not in loops
            and life.loop.projection is not Projection.TEXT
            and not life.continues_unseen(step)
        ]
        for signature in over:
            self._leaves(signature, by_itself=bool(loops))
        for signature, loop in loops.items():
            if signature not in self.lives:
                for rung in Rung:
                    self.used[signature, rung] = max(self.used[one, rung] for one in (signature, *over))
            self._notes(signature, ("seen", loop))
