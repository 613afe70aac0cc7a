"""The loops of one session: observations in, loops and the next intervention out.

    step, visit, reply, ignored ──▶ LoopFound, LoopLeft        due? ──▶ advise ──▶ LoopAction
            on_event ◀── Intervened, LoopAnswered, LoopPolicySet ◀── the engine

The state is a fold over observations and events, so a resumed session continues where it was. Asking for advice changes
nothing; only the event of an intervention does.

One problem may show as several loops and must not be treated several times. Of several loops the first one found climbs
the ladder, strong ones before weak ones; a loop that replaces another continues at its rung. See
docs/design/loops.md#episodes and docs/design/loops.md#ladder.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from harness.events import (
    Event,
    Intervened,
    Loop,
    LoopAnswered,
    LoopChoice,
    LoopFound,
    LoopLeft,
    LoopPolicySet,
    Projection,
    Rung,
)
from harness.policies.loops.detector_set import Detectors, DetectorsSnapshot
from harness.policies.loops.ladder import Abilities, Ladder, RungUse
from harness.policies.loops.limits import LoopLimits, announced_limits
from harness.policies.loops.observations import ObservedCall, Visit
from harness.policies.loops.repeat_detector import RepeatRun

_PLACES = (Projection.NODE, Projection.STATE)


@dataclass(frozen=True, slots=True)
class LoopAction:
    """The next intervention."""

    rung: Rung
    loop: Loop
    number: int
    """Which use of this rung for this loop, from 1."""
    quota: int
    """Uses of this rung for one loop."""
    delay_s: float = 0.0
    """Seconds to wait before a retry."""


@dataclass(frozen=True, slots=True)
class LoopStatus:
    """One active loop, for display."""

    loop: Loop
    since: int
    """First step of the episode."""
    ladder: tuple[RungUse, ...]
    """Every rung in its order."""
    last: Rung | None
    """The last rung of this episode."""
    silent: bool
    """A user said that it is intended."""


@dataclass(frozen=True, slots=True)
class LoopOverview:
    """The state of the monitor, for display."""

    policy: LoopLimits
    active: bool
    """Interventions are on: enabled by the limits and not switched off for this session."""
    stopped: bool
    """The last turn ended with a stop."""
    runs: tuple[RepeatRun, ...]
    loops: tuple[LoopStatus, ...]
    """Active loops, first found first."""


@dataclass(slots=True)
class _Episode:
    """One loop from its detection to its end."""

    loop: Loop
    since: int
    reported_at: int
    """Copies at the last report."""
    ignored: int = 0
    """Rejected calls of the loop: copies that the detectors do not see."""
    handled_at: int = 0
    """Copies at the last intervention; the next is due with one more."""
    handled_visit: int = 0
    """Visits at the last intervention. A cycle of places may be found in the middle of a copy, and the next copy must
    be whole."""
    grown_at: int = 0
    """Observations at its last copy."""
    silent_until: int = 0
    """Copies below which there is no intervention, because a user said that it is intended."""
    last: Rung | None = None
    wanted: Rung | None = None
    """The rung that a user chose."""
    ignored_in: int | None = None
    """Step of its last rejected call."""
    veto: str = ""
    """Digest of the call that a substitution rejects."""

    @property
    def copies(self) -> int:
        return self.loop.copies

    def goes_on(self, step: int) -> bool:
        """Whether it is active although the detectors do not see it: text loops end with a reply, and a cycle with a
        rejected call takes its time."""
        if self.loop.projection is Projection.TEXT:
            return True
        return self.ignored_in is not None and step - self.ignored_in < self.loop.period


class LoopMonitor:
    """The loops and interventions of one session.

    Args:
        policy: the limits to begin with.
    """

    def __init__(self, policy: LoopLimits | None = None) -> None:
        self._policy = policy or LoopLimits()
        self._ladder = Ladder(self._policy)
        self._detectors = Detectors(self._policy.thresholds)
        self._unreturned: Detectors | None = None
        """After a rollback, detectors that did not go back, because continuing the same loop is not a new one."""
        self._episodes: dict[str, _Episode] = {}
        self._met: set[str] = set()
        """Signatures of all loops of the session."""
        self._off = False
        self._stopped = False
        self._visits = 0
        self._observed = 0
        """Steps, visits and rejected calls."""

    @property
    def policy(self) -> LoopLimits:
        return self._policy

    @property
    def active(self) -> bool:
        """Whether interventions are on: enabled, and not switched off by the user."""
        return self._active

    # ── what happens ────────────────────────────────────────────────────────────────────────────

    def step(self, calls: Sequence[ObservedCall]) -> tuple[Event, ...]:
        """Observe the calls of one reply. Calls that were not run are not among them
        (docs/design/loops.md#own-actions)."""
        if not calls:
            return ()
        self._observed += 1
        for detectors in self._both():
            detectors.observe_step(calls)
        return self._compared(calls[-1].step)

    def visit(self, visit: Visit) -> tuple[Event, ...]:
        """Observe a place or a state of the agent."""
        self._observed += 1
        self._visits += 1
        for detectors in self._both():
            detectors.observe_visit(visit)
        return self._compared(visit.step)

    def reply(self, repeated: Loop | None, step: int) -> tuple[Event, ...]:
        """Observe the end of a reply; `repeated` is the repetition in its text, if any. One reply is one copy of such a
        loop."""
        texts = [one for one in self._episodes.values() if one.loop.projection is Projection.TEXT]
        if repeated is None:
            return tuple(self._left(one, step) for one in texts)
        before = self._episodes.get(repeated.signature)
        loop = replace(repeated, copies=before.copies + 1 if before else 1)
        left = [self._left(one, step) for one in texts if one is not before]
        return (*left, *self._seen(loop, step))

    def ignored(self, signature: str, step: int) -> tuple[Event, ...]:
        """Observe another request for a call that a substitution rejects: one more copy of that loop. The rejection
        itself is not observed and does not end the loop."""
        episode = self._episodes.get(signature)
        if episode is None:
            return ()
        self._observed += 1
        episode.ignored += 1
        episode.ignored_in = step
        return tuple(self._seen(replace(episode.loop, copies=episode.copies + 1), step))

    def answered(self, step: int) -> tuple[Event, ...]:
        """The agent has given its answer: all episodes end."""
        return tuple(self._left(one, step) for one in list(self._episodes.values()))

    def new_prompt(self, *, by_user: bool = True) -> None:
        """A turn begins: all episodes end. With a prompt of the user the ladder begins at its first rung again."""
        if by_user:
            self._ladder.forget()
        self._detectors.forget()
        self._unreturned = None
        self._episodes.clear()
        self._stopped = False

    def snapshot(self) -> DetectorsSnapshot:
        """The state for `rolled_back`. Immutable."""
        return self._detectors.snapshot()

    def rolled_back(self, snapshot: DetectorsSnapshot) -> None:
        """The agent was returned to the snapshot: the detectors go back, the ladder does not
        (docs/design/loops.md#rollback).

        Active loops stay active until the agent does something other than continuing them.
        """
        ahead = self._unreturned or Detectors(self._policy.thresholds)
        if self._unreturned is None:
            ahead.restore(self._detectors.snapshot())
        self._detectors.restore(snapshot)
        self._unreturned = ahead if self._episodes else None

    def on_event(self, event: Event) -> None:
        """Record an intervention, live or from the journal. Other events are ignored."""
        match event:
            case Intervened():
                self._intervened(event)
            case LoopAnswered():
                self._answered(event)
            case LoopPolicySet():
                self._set(announced_limits(event))
            case LoopFound(loop=loop):
                self._met.add(loop.signature)
            case LoopLeft(signature=signature):
                self._met.add(signature)
                self._episodes.pop(signature, None)

    # ── what to do about it ─────────────────────────────────────────────────────────────────────

    @property
    def due(self) -> Loop | None:
        """The loop whose next rung is due: when it is found, and after each further copy."""
        episode = self._governing()
        return episode.loop if episode and self._is_due(episode) else None

    def advise(self, abilities: Abilities, chance: float) -> LoopAction | None:
        """The next rung for the loop that is due; None: no loop, or interventions are off.

        Args:
            abilities: the interventions that are possible for this loop now.
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
        return LoopAction(rung, loop, number, max(number, self._policy.quota(rung)), delay)

    def kept_from(self, action: str) -> str:
        """Signature of the loop because of which this call must not run; empty: it may."""
        vetoes = (one.loop.signature for one in self._episodes.values() if action and one.veto == action)
        return next(vetoes, "") if self._active else ""

    def status(self) -> LoopOverview:
        loops = tuple(
            LoopStatus(one.loop, one.since, self._ladder.position(one.loop), one.last, one.copies < one.silent_until)
            for one in self._episodes.values()
        )
        return LoopOverview(self._policy, self._active, self._stopped, self._detectors.runs(), loops)

    # ── episodes ────────────────────────────────────────────────────────────────────────────────

    def _both(self) -> Iterable[Detectors]:
        return (self._detectors,) if self._unreturned is None else (self._detectors, self._unreturned)

    def _compared(self, step: int) -> tuple[Event, ...]:
        """Compare the current verdicts with the episodes: which ended, which began."""
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
            self._episodes[loop.signature] = _Episode(
                loop, since=step, reported_at=loop.copies, grown_at=self._observed
            )
            return [LoopFound(loop, step, relapse)]
        if loop.copies > episode.copies:
            episode.grown_at = self._observed
        episode.loop = loop
        episode.handled_at = min(episode.handled_at, loop.copies)
        if loop.copies < 2 * episode.reported_at:
            return []
        episode.reported_at = loop.copies
        return [LoopFound(loop, step)]

    def _left(self, episode: _Episode, step: int, *, still_stuck: bool = False) -> LoopLeft:
        """End an episode. A loop that was replaced by another was not ended by an intervention."""
        del self._episodes[episode.loop.signature]
        freed_by = None if still_stuck else episode.last
        if freed_by is not None:
            self._ladder.learn(episode.loop, freed_by, freed=True)
        return LoopLeft(episode.loop.signature, episode.loop.projection, step, freed_by)

    # ── the ladder ──────────────────────────────────────────────────────────────────────────────

    @property
    def _active(self) -> bool:
        return self._policy.enabled and not self._off

    def _governing(self) -> _Episode | None:
        """The loop that climbs the ladder: the first active one, strong before weak."""
        episodes = self._episodes.values()
        strong = [one for one in episodes if not one.loop.weak]
        going_on = (one for one in strong if not any(self._stalled_beside(one, other) for other in strong))
        weak = (one for one in episodes if not self._ladder.exhausted(one.loop))
        return next(going_on, None) or next(weak, None)

    def _stalled_beside(self, episode: _Episode, other: _Episode) -> bool:
        """It had no further copy while the other had three, so it must not hold that one up."""
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
            self._ladder.learn(episode.loop, event.rung, freed=False)
            if event.rung is Rung.SUBSTITUTE:
                episode.veto = event.action

    def _answered(self, event: LoopAnswered) -> None:
        episode = self._episodes.get(event.signature)
        match event.choice:
            case LoopChoice.OFF:
                self._off = True
            case LoopChoice.CONTINUE:
                self._ladder.give_back(event.signature, Rung.HUMAN)  # so the user can be asked again
                if episode:
                    episode.silent_until = 2 * episode.copies
                    episode.veto = ""
            case LoopChoice.ROLL_BACK:
                if episode:
                    episode.wanted = Rung.ROLLBACK
            case LoopChoice.STOP:
                if episode:
                    episode.wanted = Rung.STOP

    def _set(self, policy: LoopLimits) -> None:
        """Other limits hold from the next observation on. Newer enabled limits end an OFF."""
        if policy.enabled and policy.version > self._policy.version:
            self._off = False
        self._policy = self._ladder.policy = policy
        for detectors in self._both():
            if detectors.thresholds != policy.thresholds:
                detectors.thresholds = policy.thresholds

    def _delay_s(self, number: int, chance: float) -> float:
        """Full jitter below a limit that doubles each time."""
        return chance * min(self._policy.retry_cap_s, self._policy.retry_base_s * 2.0 ** min(number - 1, 60))
