"""The detectors: five projections of the agent's behaviour, and two weaker signs (docs/design/loops.md#projections).

A step is all calls of one reply, in any order. Actions of the program itself, such as nudges, rejections and skips,
must not be observed.
"""

from collections import deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from harness.events import Loop, Projection
from harness.policies.loops.digests import digest
from harness.policies.loops.limits import LoopThresholds
from harness.policies.loops.observations import ObservedCall, Visit
from harness.policies.loops.polls import Asked, Polls
from harness.policies.loops.repeat_detector import (
    MOST,
    CallMark,
    RepeatRun,
    RepeatStream,
    StreamSnapshot,
    Wanted,
    mark_of,
    wanted_runs,
)


@dataclass(frozen=True, slots=True)
class StagnationSnapshot:
    """The window as it was at some moment."""

    steps: tuple[tuple[str, ...], ...]
    last: tuple[tuple[str, tuple[str, CallMark]], ...]


class Stagnation:
    """The interactions of the last steps since something changed.

    Something changed when a call says so, and also when a call gives another result than it gave before.

    Args:
        window: steps that are looked at.
    """

    def __init__(self, window: int) -> None:
        self._steps: deque[tuple[str, ...]] = deque(maxlen=window)
        """The actions of each step; in the window each of them has one result."""
        self._counts: dict[str, int] = {}
        self._last: dict[str, tuple[str, CallMark]] = {}
        """By action its interaction and its description."""

    def observe(self, step: Mapping[str, tuple[str, CallMark]], *, changed: bool) -> None:
        """Add a step.

        Args:
            step: by action its interaction and its description; without polls.
            changed: a call of it changed something. Such a step is not part of the window.
        """
        if changed:
            self.clear()
            return
        if any(self._last.get(action, now)[0] != now[0] for action, now in step.items()):
            self.clear()
        if len(self._steps) == self._steps.maxlen:
            self._drop()
        self._last.update(step)
        self._steps.append(tuple(step))
        for action in self._steps[-1]:
            self._counts[action] = self._counts.get(action, 0) + 1

    def clear(self) -> None:
        """Forget everything."""
        self._steps.clear()
        self._counts.clear()
        self._last.clear()

    def loops(self, copies: int) -> tuple[Loop, ...]:
        """The interactions that came `copies` times, the most frequent first."""
        if len(self._steps) < copies:
            return ()
        often = [action for action, count in self._counts.items() if count >= copies]
        return tuple(self._loop(action) for action in sorted(often, key=lambda one: (-self._counts[one], one)))

    def most(self) -> int:
        """How often the most frequent interaction came."""
        return max(self._counts.values(), default=0)

    def resize(self, window: int) -> None:
        """Look at this many steps from now on."""
        while len(self._steps) > window:
            self._drop()
        self._steps = deque(self._steps, maxlen=window)

    def snapshot(self) -> StagnationSnapshot:
        """What can be given to `restore` later."""
        return StagnationSnapshot(tuple(self._steps), tuple(self._last.items()))

    def restore(self, snapshot: StagnationSnapshot) -> None:
        """Be as at the snapshot; the window stays as long as it is now."""
        window = self._steps.maxlen or 1
        self.clear()
        self._last = dict(snapshot.last)
        self._steps = deque(snapshot.steps, maxlen=max(window, len(snapshot.steps)))
        for step in snapshot.steps:
            for action in step:
                self._counts[action] = self._counts.get(action, 0) + 1
        self.resize(window)

    def _drop(self) -> None:
        for action in self._steps.popleft():
            self._counts[action] -= 1
            if not self._counts[action]:
                del self._counts[action], self._last[action]

    def _loop(self, action: str) -> Loop:
        _, mark = self._last[action]
        return Loop(
            projection=Projection.STAGNATION,
            signature=digest(Projection.STAGNATION, action),
            period=1,
            copies=self._counts[action],
            summary=mark.summary,
            tools=(mark.tool,),
            failing=mark.failing,
            error=mark.error,
            weak=True,
        )


MarkedCall = tuple[ObservedCall, CallMark]
"""A call and its description."""


@dataclass(frozen=True, slots=True)
class DetectorLimits:
    """For each projection and period, the matched length of a loop."""

    interaction: Wanted
    interaction_failing: Wanted
    calls: Wanted
    error: Wanted
    walk: Wanted
    action: Wanted


@dataclass(frozen=True, slots=True)
class DetectorsSnapshot:
    """The detectors at some moment."""

    streams: tuple[StreamSnapshot, ...]
    calls: StreamSnapshot | None
    stagnation: StagnationSnapshot
    polls: tuple[Asked, ...]
    state: str


class Detectors:
    """All detectors of one agent."""

    def __init__(self, thresholds: LoopThresholds = LoopThresholds()) -> None:  # noqa: B008 (frozen)
        longest = thresholds.longest_period
        self._thresholds = thresholds
        self._limits = _limits_of(thresholds)
        self._interactions = RepeatStream(Projection.INTERACTION, longest)
        self._errors = RepeatStream(Projection.ERROR, longest)
        self._states = RepeatStream(Projection.STATE, longest)
        self._nodes = RepeatStream(Projection.NODE, longest)
        self._actions = RepeatStream(Projection.ACTION, longest, weak=True)
        self._streams = (self._interactions, self._errors, self._states, self._nodes, self._actions)
        self._calls: RepeatStream | None = None
        """The single calls, from the first reply with more than one; until then they are the steps."""
        self._stagnation = Stagnation(thresholds.stagnation_window)
        self._polls = Polls()
        self._state = ""
        """The last known state."""

    @property
    def thresholds(self) -> LoopThresholds:
        """A new value holds from the next verdict on."""
        return self._thresholds

    @thresholds.setter
    def thresholds(self, thresholds: LoopThresholds) -> None:
        self._thresholds = thresholds
        self._limits = _limits_of(thresholds)
        for stream in self._every_stream():
            stream.resize(thresholds.longest_period)
        self._stagnation.resize(thresholds.stagnation_window)

    def observe_step(self, calls: Sequence[ObservedCall]) -> None:
        """Observe the calls of one reply with their results. A reply without calls is not a step."""
        if not calls:
            return
        progress = self._polls.observe([call for call in calls if call.poll is not None])
        step = [(call, mark_of(call)) for call in calls]
        work = {_interaction(call): (call, mark) for call, mark in step if call.poll is None}
        marks = tuple([mark for _, mark in work.values()])
        self._see_failures(step, marks, progress=progress)
        if work or progress:
            self._see_work(work, marks, progress=progress)

    def observe_visit(self, visit: Visit) -> None:
        """Observe a place or a state. An unchanged state is not an event: different things may be done in it."""
        if visit.node:
            self._nodes.push(visit.node)
        if visit.state and visit.state != self._state:
            self._states.push(visit.state)
            self._state = visit.state

    def verdicts(self) -> tuple[Loop, ...]:
        """The loops at the end of the behaviour, the strongest first.

        A repeated interaction is not reported a second time as a repeated failure or a weak sign.
        """
        repeats = self._repeated_interaction()
        failures = None if repeats and repeats.failing else self._errors.loop(self._limits.error)
        found = [repeats, failures, self._states.loop(self._limits.walk), self._nodes.loop(self._limits.walk)]
        found += self._polls.loops(self._thresholds.poll_copies)
        if repeats is None:
            found += self._stagnation.loops(self._thresholds.stagnation_copies)
            found.append(self._actions.loop(self._limits.action))
        return tuple(sorted((loop for loop in found if loop is not None), key=lambda loop: loop.weak))

    def runs(self) -> tuple[RepeatRun, ...]:
        """How near each projection is to a loop."""
        wanted, limits = self._limits, self._thresholds
        return (
            self._interactions.nearest(self._wanted_of_interactions()),
            self._errors.nearest(wanted.error),
            self._states.nearest(wanted.walk),
            self._nodes.nearest(wanted.walk),
            RepeatRun(Projection.POLL, 1, self._polls.most_hurried(), limits.poll_copies),
            RepeatRun(Projection.STAGNATION, 1, self._stagnation.most(), limits.stagnation_copies),
            self._actions.nearest(wanted.action),
        )

    def forget(self) -> None:
        """Start again, after a prompt of the user."""
        for stream in self._streams:
            stream.clear()
        self._calls = None
        self._stagnation.clear()
        self._polls.clear()
        self._state = ""

    def snapshot(self) -> DetectorsSnapshot:
        """The state, for `restore`."""
        return DetectorsSnapshot(
            tuple(stream.snapshot() for stream in self._streams),
            self._calls.snapshot() if self._calls is not None else None,
            self._stagnation.snapshot(),
            self._polls.snapshot(),
            self._state,
        )

    def restore(self, snapshot: DetectorsSnapshot) -> None:
        """Return to a snapshot; the current thresholds stay."""
        for stream, kept in zip(self._streams, snapshot.streams, strict=True):
            stream.restore(kept)
        self._calls = self._forked(snapshot.calls) if snapshot.calls is not None else None
        self._stagnation.restore(snapshot.stagnation)
        self._polls.restore(snapshot.polls)
        self._state = snapshot.state
        for stream in self._every_stream():
            if stream.tail.longest != self._thresholds.longest_period:
                stream.resize(self._thresholds.longest_period)

    # ── how a step becomes symbols ──────────────────────────────────────────────────────────────

    def _see_work(self, work: dict[str, MarkedCall], marks: tuple[CallMark, ...], *, progress: bool) -> None:
        """Observe everything but polls. A new answer of a poll is progress, whatever else happened."""
        interaction = None if progress else _batch(work)
        if interaction is not None and not self._interactions.tail.last(interaction):
            self._polls.restart()
        if len(work) > 1 and self._calls is None:
            self._calls = self._forked(self._interactions.snapshot())
        self._interactions.push(interaction, marks)
        if self._calls is not None:
            self._see_single(self._calls, work, progress=progress)
        self._actions.push(None if progress else _batch({call.action for call, _ in work.values()}), marks)
        step = {call.action: (interaction, mark) for interaction, (call, mark) in work.items()}
        self._stagnation.observe(step, changed=any(call.mutates and call.ok for call, _ in work.values()))

    def _see_single(self, calls: RepeatStream, work: dict[str, MarkedCall], *, progress: bool) -> None:
        """Observe the calls one by one, the least recent first, so that a cycle stays one however it is divided into
        replies. A loop of whole replies is not reported again by its calls."""
        if self._interactions.tail.shortest(self._wanted_of_interactions()):
            calls.clear()
            return
        if progress:
            calls.push(None)
        ages = {interaction: calls.tail.last(interaction) or MOST + 1 for interaction in work}
        for interaction in sorted(work, key=lambda one: (-ages[one], one)):
            calls.push(interaction, (work[interaction][1],))

    def _see_failures(self, step: Sequence[MarkedCall], work: tuple[CallMark, ...], *, progress: bool) -> None:
        """Observe failures in a row. A success breaks the row, except a poll without a new answer."""
        failed = [one for one in step if not one[0].ok]
        quiet = not progress and all(call.poll is not None for call, _ in step if call.ok)
        if not failed and quiet:
            return
        if not quiet or not all(call.error for call, _ in failed):
            self._errors.push(None)
            return
        symbols = {digest(call.tool, call.error) for call, _ in failed}
        marks = tuple([mark for _, mark in failed])
        self._errors.push(_batch(symbols), work if work == marks else marks)  # one tuple in memory for both

    # ── verdicts ────────────────────────────────────────────────────────────────────────────────

    def _repeated_interaction(self) -> Loop | None:
        found = self._interactions.loop(self._wanted_of_interactions())
        return self._calls.loop(self._limits.calls) if found is None and self._calls is not None else found

    def _wanted_of_interactions(self) -> Wanted:
        return self._limits.interaction_failing if self._interactions.failing else self._limits.interaction

    def _every_stream(self) -> tuple[RepeatStream, ...]:
        return self._streams if self._calls is None else (*self._streams, self._calls)

    def _forked(self, snapshot: StreamSnapshot) -> RepeatStream:
        stream = RepeatStream(Projection.INTERACTION, self._thresholds.longest_period, single=True)
        stream.restore(snapshot)
        return stream


@lru_cache(maxsize=8)
def _limits_of(thresholds: LoopThresholds) -> DetectorLimits:
    longest, cycle = thresholds.longest_period, thresholds.copies_cycle
    walk = wanted_runs(longest, copies=cycle, copies_cycle=cycle, least=thresholds.walk_length)
    return DetectorLimits(
        interaction=wanted_runs(longest, copies=thresholds.copies, copies_cycle=cycle),
        interaction_failing=wanted_runs(longest, copies=thresholds.copies_failing, copies_cycle=cycle),
        calls=wanted_runs(longest, copies=thresholds.copies, copies_cycle=thresholds.copies),
        error=wanted_runs(longest, copies=thresholds.copies_error, copies_cycle=cycle),
        walk=walk,
        action=wanted_runs(longest, copies=cycle, copies_cycle=cycle, least=thresholds.action_length),
    )


def _interaction(call: ObservedCall) -> str:
    return digest(call.action, call.result, "ok" if call.ok else "failed")


def _batch(symbols: Collection[str]) -> str | None:
    """One symbol for all, whatever their order; None: there are none."""
    if len(symbols) == 1:
        return next(iter(symbols))
    return digest(*sorted(symbols)) if symbols else None
