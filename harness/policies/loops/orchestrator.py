"""What the agent did comes in; which loop it is in, and the mildest thing that could free it, comes out.

    step, visit, reply, ignored ──▶ LoopFound, LoopLeft        due? ──▶ advise ──▶ Action
                 see(event) ◀── Intervened, LoopAnswered, EscapeSet ◀── whoever carries it out

The state is a fold over observations and events, so that a session that is opened again goes on where it was. Asking
for advice changes nothing; only the event that says what was done does.

One trouble may have several faces, and is not to be treated several times. Of several loops at once the first one
found climbs the ladder, strong ones before weak; and a loop that takes the place of another goes on from its rung.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from harness.events import (
    EscapeSet,
    Event,
    Intervened,
    Loop,
    LoopAnswered,
    LoopChoice,
    LoopFound,
    LoopLeft,
    Projection,
    Rung,
)
from harness.policies.loops.detectors import Detectors, DetectorsSnapshot
from harness.policies.loops.ladder import Abilities, Ladder, Preferences, RungUse
from harness.policies.loops.observations import Call, Visit
from harness.policies.loops.policy import EscapePolicy, announced_policy
from harness.policies.loops.repeats import Run

_PLACES = (Projection.NODE, Projection.STATE)


@dataclass(frozen=True, slots=True)
class Action:
    """What to do about a loop now."""

    rung: Rung
    loop: Loop
    number: int
    """Which one of this rung for this loop, from 1."""
    quota: int
    """How many of this rung a loop is given."""
    delay_s: float = 0.0
    """Seconds to wait before a retry (B21)."""


@dataclass(frozen=True, slots=True)
class LoopStatus:
    """One loop under way, for a screen."""

    loop: Loop
    since: int
    """Step in which it was found."""
    ladder: tuple[RungUse, ...]
    """Every rung in its order."""
    last: Rung | None
    """The last one that was taken in this episode."""
    silent: bool
    """A person has said that it is meant."""


@dataclass(frozen=True, slots=True)
class EscapeStatus:
    """All that is to be seen of the escape room."""

    policy: EscapePolicy
    active: bool
    """Interventions are on: by the policy, and nobody switched them off for this session."""
    stopped: bool
    """The last turn was ended by a stop."""
    runs: tuple[Run, ...]
    loops: tuple[LoopStatus, ...]
    """Under way, first found first."""


@dataclass(slots=True)
class _Episode:
    """One loop from where it was found to where it is left."""

    loop: Loop
    since: int
    told_at: int
    """Copies at the last alarm."""
    ignored: int = 0
    """Calls of it that were asked for and kept from being made: copies that the detectors do not see."""
    handled_at: int = 0
    """Copies at the last intervention; the next one is due with one more."""
    handled_visit: int = 0
    """Visits at the last intervention: a round of places may be found in the midst of a copy, and the next copy has to
    be whole."""
    grown_at: int = 0
    """Observations when its last copy came."""
    silent_until: int = 0
    """Copies before which nothing is said, because a person said that it is meant."""
    last: Rung | None = None
    wanted: Rung | None = None
    """What a person has chosen."""
    ignored_in: int | None = None
    """The last step in which a call of it was kept from being made."""
    veto: str = ""
    """Digest of the call that a substitution keeps from being made."""

    @property
    def copies(self) -> int:
        return self.loop.copies

    def goes_on(self, step: int) -> bool:
        """Without being seen: a reply ends it by itself, and a circle with a call kept out of it takes its time."""
        if self.loop.projection is Projection.TEXT:
            return True
        return self.ignored_in is not None and step - self.ignored_in < self.loop.period


class Orchestrator:
    """The escape room of one session.

    Args:
        policy: the numbers to begin with.
        preferences: what was learnt about rungs of equal mildness.
    """

    def __init__(self, policy: EscapePolicy | None = None, preferences: Preferences | None = None) -> None:
        self._policy = policy or EscapePolicy()
        self._ladder = Ladder(self._policy, preferences)
        self._detectors = Detectors(self._policy.thresholds)
        self._unreturned: Detectors | None = None
        """After a rollback, detectors that did not go back: whoever goes on in the same loop has not begun anew."""
        self._episodes: dict[str, _Episode] = {}
        self._met: set[str] = set()
        """Signatures of all the loops of the session."""
        self._off = False
        self._stopped = False
        self._visits = 0
        self._observed = 0
        """Steps, visits and calls that were ignored."""

    @property
    def policy(self) -> EscapePolicy:
        """The numbers that hold now."""
        return self._policy

    @property
    def active(self) -> bool:
        """Something is done about what is found: by the policy, and the user did not switch it off."""
        return self._active

    # ── what happens ────────────────────────────────────────────────────────────────────────────

    def step(self, calls: Sequence[Call]) -> tuple[Event, ...]:
        """The calls of one reply have ended. Calls that were not made are not among them (B11)."""
        if not calls:
            return ()
        self._observed += 1
        for detectors in self._both():
            detectors.see_step(calls)
        return self._compared(calls[-1].step)

    def visit(self, visit: Visit) -> tuple[Event, ...]:
        """The agent came to a place, or its state was told."""
        self._observed += 1
        self._visits += 1
        for detectors in self._both():
            detectors.see_visit(visit)
        return self._compared(visit.step)

    def reply(self, repeated: Loop | None, step: int) -> tuple[Event, ...]:
        """A reply has ended; `repeated` is what its text said again and again, None where it did not.

        A copy of such a loop is a reply, however often the text stands in it.
        """
        texts = [one for one in self._episodes.values() if one.loop.projection is Projection.TEXT]
        if repeated is None:
            return tuple(self._left(one, step) for one in texts)
        before = self._episodes.get(repeated.signature)
        loop = replace(repeated, copies=before.copies + 1 if before else 1)
        left = [self._left(one, step) for one in texts if one is not before]
        return (*left, *self._seen(loop, step))

    def ignored(self, signature: str, step: int) -> tuple[Event, ...]:
        """A call that a substitution keeps from being made was asked for again: one more copy of that loop.

        The veto itself is no input, and it does not end the loop (B11).
        """
        episode = self._episodes.get(signature)
        if episode is None:
            return ()
        self._observed += 1
        episode.ignored += 1
        episode.ignored_in = step
        return tuple(self._seen(replace(episode.loop, copies=episode.copies + 1), step))

    def answered(self, step: int) -> tuple[Event, ...]:
        """The agent has given its answer, so it goes round no longer."""
        return tuple(self._left(one, step) for one in list(self._episodes.values()))

    def new_prompt(self) -> None:
        """A person said something: every episode is over (B13). What was tried stays known (B14)."""
        self._detectors.forget()
        self._unreturned = None
        self._episodes.clear()
        self._stopped = False

    def snapshot(self) -> DetectorsSnapshot:
        """What `rolled_back` takes when the agent returns to this moment. Immutable."""
        return self._detectors.snapshot()

    def rolled_back(self, snapshot: DetectorsSnapshot) -> None:
        """The agent is where it was at the snapshot: so are the detectors, but not the ladder (B24).

        Loops that are under way stay so until the agent does something else than going on in them.
        """
        ahead = self._unreturned or Detectors(self._policy.thresholds)
        if self._unreturned is None:
            ahead.restore(self._detectors.snapshot())
        self._detectors.restore(snapshot)
        self._unreturned = ahead if self._episodes else None

    def see(self, event: Event) -> None:
        """What was done about a loop, from whoever did it or from the journal. Other events change nothing."""
        match event:
            case Intervened():
                self._intervened(event)
            case LoopAnswered():
                self._answered(event)
            case EscapeSet():
                self._set(announced_policy(event))
            case LoopFound(loop=loop):
                self._met.add(loop.signature)
            case LoopLeft(signature=signature):
                self._met.add(signature)
                self._episodes.pop(signature, None)

    # ── what to do about it ─────────────────────────────────────────────────────────────────────

    @property
    def due(self) -> Loop | None:
        """The loop for which the next rung is due now: when it was found, and after one more copy of it each time."""
        episode = self._governing()
        return episode.loop if episode and self._is_due(episode) else None

    def advise(self, abilities: Abilities, chance: float) -> Action | None:
        """The next rung for the loop that is due; None on a healthy step, and when interventions are off (B18).

        Args:
            abilities: what could be done about that loop now.
            chance: a uniform random number in [0, 1), for the wait before a retry.
        """
        loop = self.due
        if loop is None:
            return None
        wanted = self._episodes[loop.signature].wanted
        rung = wanted if wanted and abilities.applies(wanted) else self._ladder.next_rung(loop, abilities)
        if rung is None:
            return None
        number = self._ladder.used(loop.signature, rung) + 1
        delay = self._delay_s(number, chance) if rung is Rung.RETRY else 0.0
        return Action(rung, loop, number, max(number, self._policy.quota(rung)), delay)

    def kept_from(self, action: str) -> str:
        """The signature of the loop because of which this call is not to be made; empty: it may be."""
        vetoes = (one.loop.signature for one in self._episodes.values() if action and one.veto == action)
        return next(vetoes, "") if self._active else ""

    def status(self) -> EscapeStatus:
        """All that is to be seen."""
        loops = tuple(
            LoopStatus(one.loop, one.since, self._ladder.position(one.loop), one.last, one.copies < one.silent_until)
            for one in self._episodes.values()
        )
        return EscapeStatus(self._policy, self._active, self._stopped, self._detectors.runs(), loops)

    # ── episodes ────────────────────────────────────────────────────────────────────────────────

    def _both(self) -> Iterable[Detectors]:
        return (self._detectors,) if self._unreturned is None else (self._detectors, self._unreturned)

    def _compared(self, step: int) -> tuple[Event, ...]:
        """The verdicts of now beside the episodes: what was left, and what was found."""
        loops = {loop.signature: loop for loop in self._verdicts()}
        gone = [one for one in self._episodes.values() if one.loop.signature not in loops and not one.goes_on(step)]
        events: list[Event] = [self._left(one, step, still_stuck=bool(loops)) for one in gone]
        for loop in loops.values():
            if loop.signature not in self._episodes:
                for one in gone:
                    self._ladder.inherit(loop.signature, one.loop.signature)
            episode = self._episodes.get(loop.signature)
            ignored = episode.ignored if episode else 0
            events += self._seen(replace(loop, copies=loop.copies + ignored) if ignored else loop, step)
        return tuple(events)

    def _verdicts(self) -> Sequence[Loop]:
        found = self._detectors.verdicts()
        if self._unreturned is None:
            return found
        going_on = [loop for loop in self._unreturned.verdicts() if loop.signature in self._episodes]
        if not going_on:
            self._unreturned = None
        known = {loop.signature for loop in going_on}
        return (*going_on, *(loop for loop in found if loop.signature not in known))

    def _seen(self, loop: Loop, step: int) -> Iterable[Event]:
        episode = self._episodes.get(loop.signature)
        if episode is None:
            relapse = loop.signature in self._met
            self._met.add(loop.signature)
            self._episodes[loop.signature] = _Episode(loop, since=step, told_at=loop.copies, grown_at=self._observed)
            return [LoopFound(loop, step, relapse)]
        if loop.copies > episode.copies:
            episode.grown_at = self._observed
        episode.loop = loop
        episode.handled_at = min(episode.handled_at, loop.copies)
        if loop.copies < 2 * episode.told_at:
            return []
        episode.told_at = loop.copies
        return [LoopFound(loop, step)]

    def _left(self, episode: _Episode, step: int, *, still_stuck: bool = False) -> LoopLeft:
        """A loop that gives way to another one was not freed by anything."""
        del self._episodes[episode.loop.signature]
        freed_by = None if still_stuck else episode.last
        return LoopLeft(episode.loop.signature, episode.loop.projection, step, freed_by)

    # ── the ladder ──────────────────────────────────────────────────────────────────────────────

    @property
    def _active(self) -> bool:
        return self._policy.enabled and not self._off

    def _governing(self) -> _Episode | None:
        """The loop that climbs: the first one found that goes on, of the strong ones where there are any."""
        episodes = self._episodes.values()
        strong = [one for one in episodes if not one.loop.weak]
        going_on = (one for one in strong if not any(self._rests_beside(one, other) for other in strong))
        weak = (one for one in episodes if not self._ladder.exhausted(one.loop))
        return next(going_on, None) or next(weak, None)

    def _rests_beside(self, episode: _Episode, other: _Episode) -> bool:
        """No further copy of it came while the other went round three times: it must not keep that one waiting."""
        return other.grown_at > episode.grown_at and self._observed - episode.grown_at > 3 * other.loop.period

    def _is_due(self, episode: _Episode) -> bool:
        if not self._active or self._stopped or self._ladder.exhausted(episode.loop):
            return False
        if episode.wanted:
            return True
        another = episode.copies > episode.handled_at and self._is_whole(episode)
        return another and episode.copies >= episode.silent_until

    def _is_whole(self, episode: _Episode) -> bool:
        if episode.last is None or episode.ignored or episode.loop.projection not in _PLACES:
            return True
        return self._visits - episode.handled_visit >= episode.loop.period

    def _intervened(self, event: Intervened) -> None:
        self._ladder.take(event.signature, event.rung)
        self._met.add(event.signature)
        if event.rung is Rung.STOP and event.applied:
            self._stopped = True
        episode = self._episodes.get(event.signature)
        if episode is None:
            return
        episode.wanted = None
        if event.applied:  # otherwise the next rung is due at once
            episode.handled_at = episode.copies
            episode.handled_visit = self._visits
            episode.last = event.rung
            if event.rung is Rung.SUBSTITUTE:
                episode.veto = event.action

    def _answered(self, event: LoopAnswered) -> None:
        episode = self._episodes.get(event.signature)
        match event.choice:
            case LoopChoice.OFF:
                self._off = True
            case LoopChoice.CONTINUE:
                self._ladder.give_back(
                    event.signature, Rung.HUMAN
                )  # the same person is asked again, and not passed over
                if episode:
                    episode.silent_until = 2 * episode.copies
                    episode.veto = ""
            case LoopChoice.ROLL_BACK:
                if episode:
                    episode.wanted = Rung.ROLLBACK
            case LoopChoice.STOP:
                if episode:
                    episode.wanted = Rung.STOP

    def _set(self, policy: EscapePolicy) -> None:
        """Another policy holds from the next observation on (B27). One that is newer and enabled ends an OFF."""
        if policy.enabled and policy.version > self._policy.version:
            self._off = False
        self._policy = self._ladder.policy = policy
        for detectors in self._both():
            if detectors.thresholds != policy.thresholds:
                detectors.thresholds = policy.thresholds

    def _delay_s(self, number: int, chance: float) -> float:
        """Full jitter up to a limit that doubles each time."""
        return chance * min(self._policy.retry_cap_s, self._policy.retry_base_s * 2.0 ** min(number - 1, 60))
