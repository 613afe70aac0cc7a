"""The registry compared with its oracle after any sequence of events."""

import os
from collections.abc import Callable
from itertools import product
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, multiple, precondition, rule

from harness.events import (
    BreakerChanged,
    BreakerCommand,
    BreakerState,
    CascadeChanged,
    CascadeMode,
    CascadePhase,
    Dispatch,
    DispatchLimits,
    DispatchReason,
    Event,
    Failure,
    FailureCategory,
    FailureCharged,
    ItemStatus,
    LateResult,
    PlanItem,
    Rank,
    Score,
    Severity,
)
from harness.policies.breakers.capabilities import Capability, CapabilityMap, DeclaredAlternative
from harness.policies.breakers.decisions import CallPermit, DispatchDecision, Finish, Result, Skip
from harness.policies.breakers.registry import BreakerRegistry, RegistryState
from tests.policies.breakers.oracle import Oracle, World
from tests.whole import WHOLE

EXAMPLES = int(os.environ.get("HARNESS_TEST_BREAKER_EXAMPLES", "700" if WHOLE else "100"))
"""Of each of the three machines."""

TOOLS = ["bash", "edit", "grep", "read", "fetch"]
NOWHERE = "nowhere"
"""A tool that the agent does not have."""
ALTERNATIVES = {"grep": ["bash", "read"], "read": ["bash"], "edit": ["bash"], "fetch": ["bash"], "bash": ["grep"]}
DEPENDS_ON = {"fetch": ["bash"], "edit": ["read"], "read": ["grep"], "grep": ["read", NOWHERE]}
CAPABILITIES = CapabilityMap(
    Capability(
        tool,
        "x",
        "by hand",
        tuple(DeclaredAlternative(other, "so", "much", Severity.LOW) for other in ALTERNATIVES.get(tool, [])),
        tuple(DEPENDS_ON.get(tool, [])),
    )
    for tool in TOOLS
)
FINISHES = {finish.value: finish for finish in Finish}
FAILURES = [
    Failure(FailureCategory.TRANSPORT, "it failed", signature)
    for signature in ("", "transport: refused", "system: full")
]
RUNS = (Dispatch.CALL, Dispatch.PROBE)
ORDERS: list[Callable[[list[Any]], list[Any]]] = [
    lambda results: results,
    lambda results: results[::-1],
    lambda results: results[1:] + results[:1],
    lambda results: results[::2] + results[1::2],
]
"""In which the calls of one reply may come back."""

tools = st.sampled_from(TOOLS)
outcomes = st.sampled_from([*FAILURES, *FINISHES])
answers = st.sampled_from(list(product(TOOLS, [*FAILURES, *FAILURES, *FINISHES])))
"""A tool and the outcome of a call; weighted towards failures."""


def limits_of(**values: Any) -> st.SearchStrategy[DispatchLimits]:
    """Numbers for a registry, small ones among them."""
    small = {
        "threshold": st.integers(1, 4),
        "budget": st.integers(1, 12),
        "probe_distance": st.integers(1, 5),
        "lease": st.integers(1, 4),
        "window": st.integers(1, 12),
        "score_lasts": st.integers(1, 4),
        "cascade": st.sampled_from(CascadeMode),
    }
    return st.builds(DispatchLimits, **(small | {name: st.just(value) for name, value in values.items()}))


class RegistryBesideOracle(RuleBasedStateMachine):
    """Does the same to both and compares them after each thing done."""

    out = Bundle("out")
    """Permitted calls without a result: number of the request, and its permit."""

    def __init__(self) -> None:
        super().__init__()
        self.registry = BreakerRegistry(TOOLS, CAPABILITIES)
        self.oracle = Oracle(TOOLS, ALTERNATIVES, DEPENDS_ON)
        self.requests = 0
        self.paused = False
        self.done: list[Callable[[BreakerRegistry], object]] = []
        self.saves: list[tuple[int, RegistryState]] = [(0, self.registry.saved())]
        """Each with how much had been done by then."""
        self.reported = dict.fromkeys(TOOLS, (BreakerState.CLOSED, 0, 0))
        """State, failures and generation, derived from published events."""
        self.reported_charges: list[tuple[str, str]] = []
        self.reported_groups: dict[str, CascadeChanged] = {}
        self.reported_suspected: set[str] = set()
        self.reported_late = 0

    @initialize(data=st.data())
    def begins(self, data: st.DataObject) -> None:
        cascades = limits_of(budget=10_000, threshold=1)
        self._configured(data.draw(st.one_of(limits_of(), st.just(DispatchLimits()), cascades)))

    # ── what happens ────────────────────────────────────────────────────────────────────────────

    @rule(steps=st.integers(1, 7))
    def tick(self, steps: int) -> None:
        for number in range(self.registry.step + 1, self.registry.step + steps + 1):
            self._step(number)

    @rule(steps=st.integers(2, 30))
    def leap(self, steps: int) -> None:
        """Skip steps without telling the registry."""
        self._step(self.registry.step + steps)

    @rule(target=out, tool=st.sampled_from([*TOOLS, NOWHERE]))
    def request(self, tool: str) -> Any:
        """Whose outcome comes later, or never."""
        return multiple(*self._asked(tool))

    @rule(answer=answers, times=st.integers(1, 4))
    def answered_at_once(self, answer: tuple[str, Any], times: int) -> None:
        """A tool is called some times, and the same comes of it each time."""
        tool, what = answer
        for _ in range(times):
            called = self._asked(tool)
            if not called:
                break
            for call in called:
                self._answered(*call, what)

    @rule(failure=st.sampled_from(FAILURES), names=st.permutations(TOOLS), many=st.integers(2, len(TOOLS)))
    def several_fail(self, failure: Failure, names: list[str], many: int) -> None:
        """As often as it takes to open each."""
        for name in names[:many]:
            self.answered_at_once((name, failure), 4)

    @rule(call=out, outcome=outcomes)
    def comes_back(self, call: tuple[int, CallPermit], outcome: Any) -> None:
        """One of the calls that are out, in time, late, or a second time."""
        self._answered(*call, outcome)

    @rule(drawn=st.lists(answers, min_size=2, max_size=6), order=st.sampled_from(ORDERS))
    def batch(self, drawn: list[tuple[str, Any]], order: Callable[[list[Any]], list[Any]]) -> None:
        """Calls side by side: whichever ends first, their order in the reply counts."""
        called = [(call, what) for tool, what in drawn for call in self._asked(tool)]
        results: list[tuple[int, CallPermit, Result, float]] = [
            (place, permit, self._result(what), 0.0) for place, ((_, permit), what) in enumerate(called)
        ]
        self._does(lambda registry: registry.record_batch(order(results)))
        for (number, _), what in called:
            self.oracle.happens("result", number, what)

    @rule()
    def cycle(self) -> None:
        self._does(BreakerRegistry.begin_cycle)
        self.oracle.happens("cycle")
        self.paused = False
        self.reported_charges = []

    @rule()
    def save(self) -> None:
        self.saves.append((len(self.done), self.registry.saved()))

    @rule()
    def resume(self) -> None:
        """The state is saved and read again."""
        self.registry = BreakerRegistry.restored(self.registry.saved(), CAPABILITIES)
        self.cycle()

    @rule(command=st.sampled_from(BreakerCommand), tool=tools)
    def command(self, command: BreakerCommand, tool: str) -> None:
        self._does(lambda registry: registry.command(command, tool))
        self.oracle.happens("command", command.value, tool)

    @rule()
    def reset_all(self) -> None:
        self._does(lambda registry: registry.command(BreakerCommand.RESET))
        self.oracle.happens("command", "reset", "")

    @rule(tool=tools, score=st.sampled_from(Score))
    def score(self, tool: str, score: Score) -> None:
        self._does(lambda registry: registry.score(tool, score))
        self.oracle.happens("score", tool, score.value)

    @rule(
        items=st.lists(
            st.tuples(st.sampled_from(ItemStatus), st.lists(st.sampled_from([*TOOLS, NOWHERE]), max_size=2).map(tuple)),
            max_size=3,
        )
    )
    def plan(self, items: list[tuple[ItemStatus, tuple[str, ...]]]) -> None:
        declared = [PlanItem(str(at), status, needs) for at, (status, needs) in enumerate(items)]
        self._does(lambda registry: registry.plan(declared))
        self.oracle.happens("plan", [(status.value, needs) for status, needs in items])

    @precondition(lambda self: self.requests > 3)
    @rule(data=st.data())
    def hot_change(self, data: st.DataObject) -> None:
        cascades = limits_of(budget=10_000, threshold=1)
        self._configured(data.draw(st.one_of(limits_of(), st.just(DispatchLimits()), cascades)))

    # ── what must hold ──────────────────────────────────────────────────────────────────────────

    @invariant()
    def the_registry_is_where_the_oracle_is(self) -> None:
        world = self.oracle.world()
        for name in TOOLS:
            breaker, expected = self.registry.breaker(name), world.tools[name]
            assert (breaker.state.value, breaker.failures, breaker.generation, breaker.due) == (
                expected["state"],
                expected["failures"],
                expected["generation"],
                expected["due"],
            ), name
            if breaker.state is BreakerState.HALF_OPEN:
                assert breaker.lease_until > self.registry.step  # never stuck
        assert (self.registry.consumed, self.registry.exhausted) == (self.oracle.consumed(world), world.exhausted)
        groups = {group.signature: (group.phase.value, group.members) for group in self.registry.cascades}
        assert groups == {
            signature: (group["phase"], frozenset(group["members"])) for signature, group in world.groups.items()
        }
        for group in self.registry.cascades:
            if group.phase is CascadePhase.SYSTEMIC:
                assert group.due == world.groups[group.signature]["due"]
        log = [(one.failure.signature, one.tool) for one in self.registry.budget.log]
        assert log == world.charges[-200:]
        assert len(log) + self.registry.budget.not_logged == len(world.charges)
        self._what_was_published_is_so(world)

    def teardown(self) -> None:
        """Replaying the calls made since any saved state gives the same final state."""
        for at, state in (self.saves[0], *self.saves[-2:]):
            registry = BreakerRegistry.restored(state, CAPABILITIES)
            for act in self.done[at:]:
                act(registry)
            assert registry.saved() == self.registry.saved()

    def _what_was_published_is_so(self, world: World) -> None:
        for event in self.registry.drain_events():
            self._reported(event)
        for name in TOOLS:
            breaker = self.registry.breaker(name)
            assert self.reported[name] == (breaker.state, breaker.failures, breaker.generation)
        assert self.reported_charges == world.charges
        assert self.reported_suspected == world.suspected
        assert self.reported_late == world.late
        assert {signature: event.phase.value for signature, event in self.reported_groups.items()} == {
            signature: group["phase"] for signature, group in world.groups.items()
        }

    def _reported(self, event: Event) -> None:
        match event:
            case BreakerChanged():
                state, _, generation = self.reported[event.key]
                assert event.before is state
                assert event.generation - generation in (0, 1)  # each change is published, and none falls
                assert event.generation > generation or event.after is state
                self.reported[event.key] = event.after, event.failures, event.generation
            case FailureCharged():
                self.reported_charges.append((event.failure.signature, event.tool))
                assert event.cost in (0, 1)
            case LateResult():
                self.reported_late += 1
            case CascadeChanged(phase=CascadePhase.SUSPECTED):
                self.reported_suspected.add(event.signature)
                assert len(event.tools) == 2
            case CascadeChanged(phase=CascadePhase.OVER):
                del self.reported_groups[event.signature]
            case CascadeChanged():
                self.reported_groups[event.signature] = event

    # ── both ────────────────────────────────────────────────────────────────────────────────────

    def _does(self, act: Callable[[BreakerRegistry], object]) -> Any:
        self.done.append(act)
        return act(self.registry)

    def _configured(self, limits: DispatchLimits) -> None:
        self._does(lambda registry: registry.configure(limits))
        self.oracle.happens("limits", limits)
        self.paused = self.paused and self.registry.exhausted

    def _step(self, number: int) -> None:
        self._does(lambda registry: registry.begin_step(number))
        self.oracle.happens("step", number)

    def _asked(self, tool: str) -> list[tuple[int, CallPermit]]:
        """Ask registry and oracle; return the call if it may run."""
        probe_at = {row.tool: row.probe_at for row in self.registry.rows()}.get(tool)
        decision: DispatchDecision = self._does(lambda registry: registry.decide(tool))
        self.oracle.happens("ask", tool)
        world = self.oracle.world()
        expected = world.asked[-1]
        assert (decision.dispatch.value, decision.reason.value) == (expected["dispatch"], expected["reason"])
        assert decision.permit == CallPermit(tool, expected["generation"], decision.dispatch)
        assert decision.caution == self.oracle.caution(world)
        self.requests += 1
        if isinstance(decision, Skip):
            self._ways_round(decision, world)
        if decision.dispatch is Dispatch.PROBE:
            assert probe_at is not None
            assert probe_at <= self.registry.step  # the table had said so
        elif decision.reason in (DispatchReason.OPEN, DispatchReason.DEPENDENCY):
            assert probe_at is not None
            assert probe_at > self.registry.step
        group = self.registry.group_of(tool) if tool in TOOLS else None
        if group and decision.dispatch is Dispatch.PROBE:  # and no other member is being probed
            states = [self.registry.breaker(name).state for name in group.members]
            assert states.count(BreakerState.HALF_OPEN) == 1
        if decision.dispatch is Dispatch.PAUSE and self.registry.exhausted:
            self.paused = True
        if decision.dispatch not in RUNS:
            return []
        assert not self.paused  # nothing runs after the budget was used up
        return [(self.requests - 1, decision.permit)]

    def _ways_round(self, skip: Skip, world: World) -> None:
        """The last two go through no tool, the others through one that would be called."""
        assert [route.rank for route in skip.routes[-2:]] == [Rank.MANUAL, Rank.SCOPE]
        through = {route.tool for route in skip.routes[:-2]}
        assert all(self.oracle.viable(world, tool) for tool in through)
        direct = {
            tool for tool in self.oracle.alternatives.get(skip.permit.tool, []) if self.oracle.viable(world, tool)
        }
        assert direct <= through

    def _answered(self, number: int, permit: CallPermit, what: Any) -> None:
        self._does(lambda registry: registry.record(permit, self._result(what)))
        self.oracle.happens("result", number, what)

    def _result(self, what: Any) -> Result:
        return FINISHES[what] if isinstance(what, str) else what


TestBreakers = RegistryBesideOracle.TestCase
TestBreakers.settings = settings(max_examples=EXAMPLES, stateful_step_count=16, deadline=None)
