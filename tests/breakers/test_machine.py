"""The board beside the oracle, after everything that can happen in any order (A1-A29)."""

import os
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, multiple, precondition, rule

from harness.breakers.board import Board
from harness.breakers.capabilities import Alternative, Capability, CapabilityMap
from harness.breakers.decisions import Decision, Finish, Result, Ticket
from harness.events import (
    BreakerCommand,
    BreakerState,
    CascadeMode,
    CascadePhase,
    Dispatch,
    DispatchLimits,
    DispatchReason,
    Failure,
    FailureCategory,
    ItemStatus,
    PlanItem,
    Score,
    Severity,
)
from tests.breakers.oracle import Oracle

EXAMPLES = int(os.environ.get("HARNESS_TEST_BREAKER_EXAMPLES", "700"))
"""Of each of the three machines."""

TOOLS = ["bash", "edit", "grep", "read", "fetch"]
ALTERNATIVES = {"grep": ["bash", "read"], "read": ["bash"], "edit": ["bash"], "fetch": ["bash"]}
DEPENDS_ON = {"fetch": ["bash"], "edit": ["read"]}
SIGNATURES = ["", "transport: refused", "system: full"]
CAPABILITIES = CapabilityMap(
    Capability(
        tool,
        "x",
        "by hand",
        tuple(Alternative(other, "so", "much", Severity.LOW) for other in ALTERNATIVES.get(tool, [])),
        tuple(DEPENDS_ON.get(tool, [])),
    )
    for tool in TOOLS
)
FINISHES = {"cancelled": Finish.CANCELLED, "denied": Finish.DENIED, "invalid": Finish.INVALID, "ok": Finish.OK}

tools = st.sampled_from(TOOLS)
failures = st.builds(Failure, st.just(FailureCategory.TRANSPORT), st.just("it failed"), st.sampled_from(SIGNATURES))
outcomes = st.one_of(st.sampled_from(sorted(FINISHES)), failures)


def limits_of(**values: Any) -> st.SearchStrategy[DispatchLimits]:
    """Numbers for a board, small ones among them."""
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


class BoardBesideOracle(RuleBasedStateMachine):
    """Does the same to both and compares them after each thing done."""

    numbers: st.SearchStrategy[DispatchLimits] = limits_of()
    out = Bundle("out")
    """Calls that were let through and have not come back: number of the request, and its ticket."""

    def __init__(self) -> None:
        super().__init__()
        self.board = Board(TOOLS, CAPABILITIES)
        self.oracle = Oracle(TOOLS, ALTERNATIVES, DEPENDS_ON)
        self.requests = 0
        self.paused = False
        self.generations = dict.fromkeys(TOOLS, 0)

    @initialize(data=st.data())
    def begins(self, data: st.DataObject) -> None:
        self.configured(data.draw(self.numbers))

    # ── what happens ────────────────────────────────────────────────────────────────────────────

    @rule(steps=st.integers(1, 7))
    def tick(self, steps: int) -> None:
        for _ in range(steps):
            number = self.board.step + 1
            self.board.begin_step(number)
            self.oracle.happens("step", number)

    @rule(target=out, tool=tools)
    def request(self, tool: str) -> Any:
        return self._asked(tool)

    @rule(target=out, tool=tools, failure=failures, times=st.integers(1, 4))
    def fail(self, tool: str, failure: Failure, times: int) -> Any:
        """A tool is called some times and fails each time."""
        for _ in range(times):
            for number, ticket in self._asked(tool).values:
                self._answered(number, ticket, failure)
        return multiple()

    @rule(target=out, tool=tools)
    def ok(self, tool: str) -> Any:
        for number, ticket in self._asked(tool).values:
            self._answered(number, ticket, "ok")
        return multiple()

    @rule(call=st.one_of(out), outcome=outcomes)
    def comes_back(self, call: tuple[int, Ticket], outcome: Any) -> None:
        """One of the calls that are out, in time or late, or a second time: a result that was lost is not drawn."""
        self._answered(*call, outcome)

    @rule(
        names=st.lists(tools, min_size=1, max_size=6), drawn=st.lists(outcomes, min_size=6, max_size=6), data=st.data()
    )
    def batch(self, names: list[str], drawn: list[Any], data: st.DataObject) -> None:
        """Calls side by side: whichever ends first, the reply's order counts."""
        called = [call for name in names for call in self._asked(name).values]
        results: list[tuple[int, Ticket, Result, float]] = [
            (place, ticket, FINISHES[what] if isinstance(what, str) else what, 0.0)
            for place, ((_, ticket), what) in enumerate(zip(called, drawn, strict=False))
        ]
        self.board.record_batch(data.draw(st.permutations(results)))
        for (number, _), what in zip(called, drawn, strict=False):
            self.oracle.happens("result", number, what)

    @rule()
    def cycle(self) -> None:
        self.board.begin_cycle()
        self.oracle.happens("cycle")
        self.paused = False

    @rule()
    def resume(self) -> None:
        """The state is saved and read again (A26)."""
        self.board = Board.restored(self.board.saved(), CAPABILITIES)
        self.cycle()

    @rule(command=st.sampled_from(BreakerCommand), tool=tools)
    def command(self, command: BreakerCommand, tool: str) -> None:
        self.board.command(command, tool)
        self.oracle.happens("command", command.value, tool)

    @rule()
    def reset_all(self) -> None:
        self.board.command(BreakerCommand.RESET)
        self.oracle.happens("command", "reset", "")

    @rule(tool=tools, score=st.sampled_from(Score))
    def score(self, tool: str, score: Score) -> None:
        self.board.score(tool, score)
        self.oracle.happens("score", tool, score.value)

    @rule(items=st.lists(st.tuples(st.sampled_from(ItemStatus), st.lists(tools, max_size=2).map(tuple)), max_size=3))
    def plan(self, items: list[tuple[ItemStatus, tuple[str, ...]]]) -> None:
        self.board.plan([PlanItem(str(at), status, needs) for at, (status, needs) in enumerate(items)])
        self.oracle.happens("plan", [(status.value, needs) for status, needs in items])

    @precondition(lambda self: self.requests > 3)
    @rule(data=st.data())
    def hot_change(self, data: st.DataObject) -> None:
        self.configured(data.draw(self.numbers))

    def configured(self, limits: DispatchLimits) -> None:
        self.board.configure(limits)
        self.oracle.happens("limits", limits)
        self.paused = self.paused and self.board.exhausted

    # ── what must hold ──────────────────────────────────────────────────────────────────────────

    @invariant()
    def the_board_is_where_the_oracle_is(self) -> None:
        world = self.oracle.world()
        for name in TOOLS:
            breaker, expected = self.board.breaker(name), world.tools[name]
            assert (breaker.state.value, breaker.failures, breaker.generation, breaker.due) == (
                expected["state"],
                expected["failures"],
                expected["generation"],
                expected["due"],
            ), name
            assert breaker.generation >= self.generations[name]
            self.generations[name] = breaker.generation
            if breaker.state is BreakerState.HALF_OPEN:
                assert breaker.lease_until > self.board.step  # never stuck (A8)
        assert (self.board.consumed, self.board.exhausted) == (self.oracle.consumed(world), world.exhausted)
        groups = {group.signature: (group.phase.value, group.members) for group in self.board.cascades}
        assert groups == {
            signature: (group["phase"], frozenset(group["members"])) for signature, group in world.groups.items()
        }
        for group in self.board.cascades:
            if group.phase is CascadePhase.SYSTEMIC:
                assert group.due == world.groups[group.signature]["due"]
        log = self.board.budget.log
        assert len(log) + self.board.budget.not_logged == len(world.charges)

    def _asked(self, tool: str) -> Any:
        """Ask both; the call, if it is let through."""
        decision: Decision = self.board.decide(tool)
        self.oracle.happens("ask", tool)
        world = self.oracle.world()
        expected = world.asked[-1]
        assert (decision.dispatch.value, decision.reason.value) == (expected["dispatch"], expected["reason"])
        assert decision.ticket.generation == expected["generation"]
        assert decision.caution == self.oracle.caution(world)
        assert decision.ticket.tool == tool
        self.requests += 1
        if (
            decision.reason in (DispatchReason.CANARY, DispatchReason.RECOVERING)
            and decision.dispatch is Dispatch.PROBE
        ):
            group = self.board.group_of(tool)
            assert group is not None  # and nobody else of it is being probed (A16, A17)
            states = [self.board.breaker(name).state for name in group.members]
            assert states.count(BreakerState.HALF_OPEN) == 1
        if decision.dispatch is Dispatch.PAUSE and self.board.exhausted:
            self.paused = True
        if decision.dispatch in (Dispatch.CALL, Dispatch.PROBE):
            assert not self.paused  # nothing runs after the budget was used up (A12)
            return multiple((self.requests - 1, decision.ticket))
        return multiple()

    def _answered(self, number: int, ticket: Ticket, outcome: Any) -> None:
        self.board.record(ticket, FINISHES[outcome] if isinstance(outcome, str) else outcome)
        self.oracle.happens("result", number, outcome)


class WithTheDefaults(BoardBesideOracle):
    """The numbers of the seed."""

    numbers = st.just(DispatchLimits())


class WithALargeBudget(BoardBesideOracle):
    """Cascades live long."""

    numbers = limits_of(budget=10_000, threshold=1)


PROFILE = settings(max_examples=EXAMPLES, stateful_step_count=25, deadline=None)
for machine in (BoardBesideOracle, WithTheDefaults, WithALargeBudget):
    machine.TestCase.settings = PROFILE

TestAnyNumbers = BoardBesideOracle.TestCase
TestTheDefaults = WithTheDefaults.TestCase
TestALargeBudget = WithALargeBudget.TestCase
