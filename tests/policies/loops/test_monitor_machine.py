"""The monitor beside the oracle, after everything that can happen in any order; and rebuilt from its journal."""

import os
from collections.abc import Callable, Sequence
from operator import methodcaller

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from harness.events import (
    ErrorClass,
    Event,
    Loop,
    LoopAnswered,
    LoopChoice,
    LoopFound,
    LoopLeft,
    Projection,
    Rung,
)
from harness.policies.loops.detector_set import Detectors, DetectorsSnapshot
from harness.policies.loops.ladder import Abilities
from harness.policies.loops.limits import QUOTAS, LoopLimits
from harness.policies.loops.monitor import LoopMonitor
from harness.policies.loops.observations import ObservedCall, Visit
from tests.policies.loops.ignoring import done, observed
from tests.policies.loops.ladder_oracle import Entry, World, seen_in

EXAMPLES = int(os.environ.get("HARNESS_TEST_LOOP_EXAMPLES", "60"))

TEXTS = [Loop(Projection.TEXT, name, 1, 9, name) for name in ("la la", "and so on")]
names = st.sampled_from(["read", "list", "grep!", "bash?"])
"""A call that ends with ! fails for a while, one with ? for an unknown reason."""
abilities = st.builds(
    Abilities,
    retry=st.booleans(),
    explore=st.sampled_from([(), ("north",)]),
    substitute=st.sampled_from(["", "sed"]),
    rollback=st.booleans(),
    breaker=st.booleans(),
    human=st.booleans(),
)
policies = st.builds(LoopLimits, **{name: st.integers(0, 2) for name in QUOTAS.values()})


def made(name: str, step: int) -> ObservedCall:
    error = {"!": ErrorClass.TRANSIENT, "?": ErrorClass.UNKNOWN}.get(name[-1])
    return observed(name, step, ok=error is None, error=error)


class MonitorBesideOracle(RuleBasedStateMachine):
    """Does the same to both and compares them after each thing done."""

    def __init__(self) -> None:
        super().__init__()
        self.step = 0
        self.asked = ""
        """The loop about which the user was asked last."""
        self.saved: list[tuple[DetectorsSnapshot, int]] = []
        """Each with the number of observations before it."""
        self.done: list[Callable[[LoopMonitor], object]] = []
        self.after: list[object] = []
        self.able = Abilities()
        self.applied = True

    @initialize(policy=policies)
    def begins(self, policy: LoopLimits) -> None:
        self.policy = self.first = policy
        self.monitor = LoopMonitor(self.policy)
        self.world = World(self.policy)
        self.now: list[Sequence[ObservedCall] | Visit] = []
        """The observations that count after the last rollback."""
        self.detectors = Detectors()
        self.ahead: Detectors | None = None
        """Detectors with the full history, kept while a loop from before a rollback continues in it."""

    # ── what happens ────────────────────────────────────────────────────────────────────────────

    @rule(word=st.lists(names, min_size=1, max_size=3), times=st.integers(1, 6))
    def goes_round(self, word: list[str], times: int) -> None:
        for name in word * times:
            self._step([name])

    @rule(name=names, times=st.integers(3, 9))
    def calls_the_same(self, name: str, times: int) -> None:
        for _ in range(times):
            self._step([name])

    @rule(pair=st.lists(names, min_size=2, max_size=2, unique=True), times=st.integers(1, 5))
    def calls_side_by_side(self, pair: list[str], times: int) -> None:
        for _ in range(times):
            self._step(pair)

    @rule()
    def does_something_new(self) -> None:
        self._step([f"new{self.step}"])

    @rule(nodes=st.lists(st.sampled_from("abc"), min_size=1, max_size=3), times=st.integers(1, 4))
    def walks(self, nodes: list[str], times: int) -> None:
        for node in nodes * times:
            self.step += 1
            self._observes(Visit(self.step, self.step, float(self.step), 0.0, node))

    @rule(loop=st.sampled_from([*TEXTS, None]), times=st.integers(1, 3))
    def replies(self, loop: Loop | None, times: int) -> None:
        for _ in range(times):
            self.step += 1
            self._is_told(("text", self.step, loop), self._does("reply", loop, self.step))
            self._acts("")

    @rule(able=abilities, applied=st.sampled_from([True, True, False]))
    def can(self, able: Abilities, *, applied: bool) -> None:
        """From now on."""
        self.able, self.applied = able, applied

    @precondition(lambda self: self.asked)
    @rule(choice=st.sampled_from(LoopChoice))
    def answers(self, choice: LoopChoice) -> None:
        self.world.happens(("answer", self.asked, choice))
        self._does("on_event", LoopAnswered(self.asked, choice))
        self._acts("")

    @rule(by_user=st.booleans())
    def prompt(self, *, by_user: bool) -> None:
        self.world.happens(("prompt", by_user))
        self._does("new_prompt", by_user=by_user)
        self.detectors.forget()
        self.now, self.ahead, self.saved = [], None, []

    @rule(quotas=policies, copies=st.integers(2, 6), enabled=st.sampled_from([True, True, False]))
    def hot_change(self, quotas: LoopLimits, copies: int, *, enabled: bool) -> None:
        numbers: dict[str, object] = {name: getattr(quotas, name) for name in QUOTAS.values()}
        self.policy = self.policy.with_changes(**numbers, copies=copies, enabled=enabled)
        self.world.happens(("policy", self.policy))
        event = self.policy.announced()
        self._does("on_event", event)
        for detectors in filter(None, (self.detectors, self.ahead)):
            detectors.thresholds = self.policy.thresholds

    @rule()
    def save(self) -> None:
        self.saved.append((self.monitor.snapshot(), len(self.now)))

    # ── what must hold ──────────────────────────────────────────────────────────────────────────

    @invariant()
    def the_monitor_is_where_the_oracle_is(self) -> None:
        world, status = self.world, self.monitor.status()
        assert status.policy == world.policy
        assert [
            (one.loop.signature, one.loop.copies if one.loop.projection is not Projection.TEXT else 0, one.last)
            for one in status.loops
        ] == [
            (signature, life.copies() if life.loop.projection is not Projection.TEXT else 0, life.last())
            for signature, life in world.lives.items()
        ]
        assert {(one.loop.signature, use.rung): use.used for one in status.loops for use in one.ladder if use.used} == {
            (signature, rung): world.used[signature, rung]
            for signature, life in world.lives.items()
            for rung in ((Rung.NUDGE,) if life.loop.weak else Rung)
            if world.used[signature, rung]
        }
        due = world.due()
        assert (self.monitor.due and self.monitor.due.signature) == (due and due.loop.signature)
        held = {life.veto() for life in world.lives.values() if life.veto()} if status.active else set()
        assert {name for name in ("read", "list", "grep!", "bash?") if self.monitor.kept_from(name)} <= held
        assert all(self.monitor.kept_from(name) for name in held)

    def teardown(self) -> None:
        """Built anew from what happened and from the events, it is after each of them where it was then."""
        if not self.done:
            return
        again = LoopMonitor(self.first)
        for act, expected in zip(self.done, self.after, strict=True):
            events = act(again)
            for event in events if isinstance(events, tuple) else ():
                again.on_event(event)  # as a journal gives them back
            assert (again.status(), again.due) == expected

    # ── doing it ────────────────────────────────────────────────────────────────────────────────

    def _does(self, method: str, *arguments: object, **named: object) -> tuple[Event, ...]:
        act: Callable[[LoopMonitor], object] = methodcaller(method, *arguments, **named)
        events = act(self.monitor)
        self.done.append(act)
        self.after.append((self.monitor.status(), self.monitor.due))
        return events if isinstance(events, tuple) else ()

    def _step(self, wanted: list[str]) -> None:
        self.step += 1
        step = self.step
        for name in wanted:
            if signature := self.monitor.kept_from(name):
                self._is_told(("ignored", signature, step), self._does("ignored", signature, step))
        calls = [made(name, step) for name in wanted if not self.monitor.kept_from(name)]
        if calls:
            self._observes(calls)
        self._acts(wanted[-1])

    def _observes(self, what: Sequence[ObservedCall] | Visit) -> None:
        self.now.append(what)
        for detectors in filter(None, (self.detectors, self.ahead)):
            shown(detectors, what)
        loops = self.detectors.verdicts()
        if self.ahead is not None:
            going_on = tuple(loop for loop in self.ahead.verdicts() if loop.signature in self.world.lives)
            known = {loop.signature for loop in going_on}
            loops = (*going_on, *(loop for loop in loops if loop.signature not in known))
            self.ahead = self.ahead if going_on else None
        self._is_told(
            ("saw", self.step, loops, isinstance(what, Visit)),
            self._does("visit" if isinstance(what, Visit) else "step", what),
        )

    def _acts(self, name: str) -> None:
        """Carries out the advice and compares it with the oracle's."""
        rung = self.world.rung(self.able)
        action = self.monitor.advise(self.able, 0.5)
        assert (action and action.rung) == rung
        if action is None:
            return
        event = done(action, self.step, applied=self.applied or action.rung is Rung.STOP, call=name)
        self.world.happens(("did", action.rung, action.loop.signature, event.applied, event.action))
        self.asked = event.signature if action.rung is Rung.HUMAN else self.asked
        self._does("on_event", event)
        if action.rung is Rung.ROLLBACK and event.applied and self.saved:
            self._goes_back()

    def _goes_back(self) -> None:
        snapshot, length = self.saved[-1]
        alive = bool(self.world.lives)
        self._does("rolled_back", snapshot)
        self.ahead = (self.ahead or self.detectors) if alive else None
        self.now = self.now[:length]
        self.detectors = Detectors(self.policy.thresholds)
        for what in self.now:
            shown(self.detectors, what)

    def _is_told(self, entry: Entry, events: tuple[Event, ...]) -> None:
        """Each loop once when it is found, again at double length, and once when it is left."""
        before = {signature: (life, life.last()) for signature, life in self.world.lives.items()}
        met = set(self.world.met)
        self.world.happens(entry)
        after = self.world.lives
        begun = {signature for signature, life in after.items() if before.get(signature, (None,))[0] is not life}
        told = {signature for signature in seen_in(entry) & after.keys() if after[signature].reported_now()}
        found = [event for event in events if isinstance(event, LoopFound)]
        assert {event.loop.signature for event in found} == begun | told
        assert {event.loop.signature for event in found if event.relapse} == begun & met
        left = [event for event in events if isinstance(event, LoopLeft)]
        assert {event.signature for event in left} == before.keys() - after.keys()
        assert len(found) + len(left) == len(events)
        stuck = bool(entry[0] == "saw" and entry[2])
        assert all(event.freed_by is (None if stuck else before[event.signature][1]) for event in left)


def shown(detectors: Detectors, what: Sequence[ObservedCall] | Visit) -> None:
    if isinstance(what, Visit):
        detectors.observe_visit(what)
    else:
        detectors.observe_step(what)


TestMonitor = MonitorBesideOracle.TestCase
TestMonitor.settings = settings(max_examples=EXAMPLES, stateful_step_count=15, deadline=None)
