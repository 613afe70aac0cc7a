"""All circuit breakers of one agent: decides whether a tool may be called, and records the results.

It decides what to attempt and never how: it calls no tool, retries nothing and changes no argument
(docs/design/breakers.md#dispatch). `decide` returns CALL, SKIP, PROBE or PAUSE; `record` takes the result of a call
that was let through. There is no clock: distances are steps, and times are kept for the table only. `drain_events`
returns what happened.

Most calls are of healthy tools. For these both methods are a lookup: a decision is reused until something changes.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

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
    FailureCharged,
    HealthRow,
    LateResult,
    PlanItem,
    Score,
    key_of,
    part_key,
)
from harness.policies.breakers import health_table as table
from harness.policies.breakers.availability import LastResults, Scores, judge
from harness.policies.breakers.breaker import Breaker, BreakerLimits
from harness.policies.breakers.capabilities import CapabilityMap, ReducedPlan, reduced, routes
from harness.policies.breakers.cascades import CascadeGroup, Cascades
from harness.policies.breakers.decisions import (
    Call,
    CallPermit,
    DispatchDecision,
    Finish,
    PauseTurn,
    Probe,
    Result,
    Skip,
)
from harness.policies.breakers.failure_budget import FailureBudget
from harness.policies.breakers.failure_signature import suspected_root

KEPT = 1_000
"""Undrained events that are kept; older ones are dropped."""


def moved(tool: str, before: Breaker, after: Breaker, step: int, detail: str) -> BreakerChanged:
    due = None if after.due is None else int(after.due)
    return BreakerChanged(
        tool, before.state, after.state, after.why, after.failures, after.generation, step, due, detail
    )


def grouped(
    before: Cascades, after: Cascades, step: int, window: int, unconfirmed: Callable[[CascadeGroup], bool]
) -> Iterator[CascadeChanged]:
    """The events about common causes: suspected, systemic, recovering and over."""

    def changed(signature: str, phase: CascadePhase, tools: frozenset[str], due: int | None = None) -> CascadeChanged:
        return CascadeChanged(signature, phase, tuple(sorted(tools)), suspected_root(signature), step, due)

    for signature in sorted(after.suspected - before.suspected):
        tools = frozenset(
            name
            for name, opening in after.openings.items()
            if opening.signature == signature and step - opening.step <= window
        )
        yield changed(signature, CascadePhase.SUSPECTED, tools)
    for group in after.groups:
        old = before.group_for(group.signature)
        if old is None or (old.phase, old.due, old.members) != (group.phase, group.due, group.members):
            waits = group.phase is CascadePhase.SYSTEMIC and not unconfirmed(group)
            yield changed(group.signature, group.phase, group.members, group.due if waits else None)
    for group in before.groups:
        if after.group_for(group.signature) is None:
            yield changed(group.signature, CascadePhase.OVER, frozenset())


CLOSED, OPEN, HALF_OPEN = BreakerState.CLOSED, BreakerState.OPEN, BreakerState.HALF_OPEN
MOST_PARTS = 50
"""Breakers of parts of tools that are kept; beyond that the oldest is forgotten."""
DEGRADED_FLOOR = 2
"""Least threshold of a degraded tool."""


@dataclass(frozen=True, slots=True)
class RegistryState:
    """The state of a registry; `BreakerRegistry.restored` makes an equal one of it."""

    step: int
    limits: DispatchLimits
    breakers: tuple[tuple[str, Breaker, LastResults], ...]
    budget: FailureBudget
    cascades: Cascades
    scores: Scores
    items: tuple[PlanItem, ...]


class _Row:
    """One tool. Mutable, because a success on a healthy tool must cost next to nothing."""

    __slots__ = ("breaker", "calls", "decided_at", "decision", "failed", "last_failure", "last_success", "message")

    def __init__(self, breaker: Breaker, seen: LastResults) -> None:
        self.breaker = breaker
        self.last_failure = seen.last_failure
        self.last_success = seen.last_success
        self.message = seen.message
        self.calls = seen.calls
        self.failed = seen.failed
        self.decision: DispatchDecision | None = None
        """Valid while the registry has the version `decided_at`."""
        self.decided_at = -1


class BreakerRegistry:
    """The breakers of the tools of one agent, its failure budget and its cascades."""

    def __init__(
        self,
        tools: Iterable[str],
        capabilities: CapabilityMap | None = None,
        limits: DispatchLimits | None = None,
    ) -> None:
        """Args:
        tools: the names that may be called; all others are skipped.
        capabilities: what each provides, and what can replace it.
        """
        self._capabilities = capabilities or CapabilityMap(())
        self._rows = {tool: _Row(Breaker(), LastResults()) for tool in tools}
        """By key: first the tools, then the parts of tools that have failed, such as "bash:npm"."""
        self._tools = tuple(self._rows)
        self._limits = limits or DispatchLimits()
        self._step = 0
        self._budget = FailureBudget(self._limits.budget)
        self._cascades = Cascades()
        self._scores = Scores()
        self._items: tuple[PlanItem, ...] = ()
        self._events: list[Event] = []
        """Events that were not drained yet."""
        self._unsettled: set[str] = set()
        """Tools that are not closed."""
        self._version = 0
        """Rises with everything that could change a decision."""

    # ── what may happen to a registry ──────────────────────────────────────────────────────────────

    def configure(self, limits: DispatchLimits) -> None:
        """Use other limits from the next decision on."""
        self._version += 1
        if limits.budget != self._limits.budget:
            self._budget = self._budget.of(limits.budget)
        self._limits = limits

    def begin_step(self, step: int) -> None:
        """A new step begins. Probes whose lease is over are lost. Raises ValueError if steps decrease."""
        if step < self._step:
            raise ValueError(f"step {step} comes after step {self._step}")
        self._step = step
        if self._unsettled or self._scores.given:
            self._version += 1
            for tool in sorted(self._unsettled):
                breaker = self._rows[tool].breaker
                if breaker.lease_over(step):
                    self._put(tool, breaker.lost(step), "no outcome came in time")

    def begin_cycle(self) -> None:
        """A turn begins or a session is resumed: the budget is fresh, the breakers stay."""
        self._version += 1
        self._budget = self._budget.next_cycle(frozenset(group.signature for group in self._cascades.groups))

    def plan(self, items: Sequence[PlanItem]) -> None:
        """The items that the turn has declared; empty: none."""
        self._version += 1
        self._items = tuple(items)

    def score(self, tool: str, score: Score, why: str = "") -> None:
        """Record the score of a check before the call."""
        if tool in self._rows:
            self._version += 1
            self._scores = self._scores.with_score(tool, score, self._step + self._limits.score_lasts)

    def decide(self, tool: str, parts: tuple[str, ...] = ()) -> DispatchDecision:
        """Whether this tool may be called now. A probe that is returned is out from here on.

        Args:
            parts: the parts of the tool that the call uses; the call needs all of them.
        """
        decision = self._decide(tool)
        if not parts or not isinstance(decision, Call):
            return decision
        held = [key for key in (part_key(tool, part) for part in parts) if self._held(key)]
        for key in held:
            runs, reason = judge(self, key)
            if not runs:
                return self._skip(CallPermit(key, self._rows[key].breaker.generation, Dispatch.SKIP), reason)
        if held:
            return self._decide(held[0])
        return replace(decision, permit=replace(decision.permit, parts=parts))

    def _held(self, key: str) -> bool:
        row = self._rows.get(key)
        return row is not None and row.breaker.state is not CLOSED

    def _decide(self, tool: str) -> DispatchDecision:
        row = self._rows.get(tool)
        if row is not None and row.decided_at == self._version and row.decision is not None:
            return row.decision
        decision = self._decided(tool, row)
        if row is not None:
            row.decision, row.decided_at = decision, self._version
            if isinstance(decision, Probe):
                row.decision = None
        return decision

    def record(self, permit: CallPermit, result: Result, at: float = 0.0) -> None:
        """Record the result of a call that was let through; `at` is the moment in Unix time, for the table.

        A result of an older generation is recorded as late and changes nothing. Raises ValueError for a call that was
        not let through.
        """
        row = self._rows.get(permit.tool)
        if row is None:
            raise ValueError(f"there is no tool called {permit.tool!r}")
        breaker = row.breaker
        if isinstance(result, Failure) and (key := key_of(permit.tool, result)) != permit.tool:
            # The tool did its work, and what it ran failed.
            self.record(replace(permit, parts=()), Finish.OK, at)
            row.failed += 1
            if permit.generation == breaker.generation:
                self._part_failed(key, result, at)
            return
        if result is Finish.OK and permit.parts and permit.generation == breaker.generation:
            self._parts_succeeded(permit)
        if permit.generation != breaker.generation:
            self._emit(LateResult(permit.tool, permit.generation, breaker.generation))
        elif result is Finish.OK and breaker.state is CLOSED:
            row.last_success = at
            if breaker.failures:
                self._succeeded(permit.tool, breaker)
        elif permit.kind in (Dispatch.SKIP, Dispatch.PAUSE):
            raise ValueError(f"{permit} was not let through; nothing can come of it")
        elif result is Finish.OK:
            row.last_success = at
            self._succeeded(permit.tool, breaker)
        elif isinstance(result, Failure):
            row.last_failure, row.message = at, result.message
            self._failed(permit.tool, breaker, result)
        elif breaker.state is HALF_OPEN:
            self._put(permit.tool, breaker.released(self._step), f"the probe was not run: {result.value}")
        if result is Finish.OK or isinstance(result, Failure):
            row.calls += 1
            row.failed += result is not Finish.OK

    def _part_failed(self, key: str, failure: Failure, at: float) -> None:
        breaker = self._row(key).breaker
        kind = Dispatch.CALL if breaker.state is CLOSED else Dispatch.SKIP
        if kind is Dispatch.SKIP:  # another call has opened it meanwhile
            self._emit(LateResult(key, breaker.generation, breaker.generation))
        else:
            self.record(CallPermit(key, breaker.generation, kind), failure, at)

    def _parts_succeeded(self, permit: CallPermit) -> None:
        """Parts that failed before work again. Several may be involved; all of them count."""
        for key in (part_key(permit.tool, part) for part in permit.parts):
            row = self._rows.get(key)
            if row is not None:
                row.calls += 1
            if row is not None and row.breaker.state is CLOSED and row.breaker.failures:
                self._succeeded(key, row.breaker)

    def _row(self, key: str) -> _Row:
        """The row of a key, created if necessary."""
        if key not in self._rows:
            if len(self._rows) - len(self._tools) >= MOST_PARTS:
                parts = [one for one in self._rows if one not in self._tools]
                oldest = next((one for one in parts if not self._held(one)), parts[0])
                del self._rows[oldest]
                self._unsettled.discard(oldest)
            self._rows[key] = _Row(Breaker(), LastResults())
        return self._rows[key]

    def record_batch(self, results: Iterable[tuple[int, CallPermit, Result, float]]) -> None:
        """Record calls that ran side by side: place in the reply, permit, result, moment.

        They count in the order of their places, whichever ended first.
        """
        for _, permit, result, at in sorted(results, key=lambda entry: entry[0]):
            self.record(permit, result, at)

    def command(self, command: BreakerCommand, tool: str = "") -> None:
        """Carry out a user command. Only RESET and CONFIRM may be for all tools, with an empty name.

        Raises ValueError for an unknown tool.
        """
        if not self.knows(tool) and (tool or command not in (BreakerCommand.RESET, BreakerCommand.CONFIRM)):
            raise ValueError(f"there is no tool called {tool!r}")
        if command is BreakerCommand.CONFIRM:
            self._cascade(self._cascades.confirmed(self._step))
            return
        for name in [tool] if tool else self._rows:
            self._commanded(command, name)

    def drain_events(self) -> tuple[Event, ...]:
        """The events since the last call."""
        events, self._events = tuple(self._events), []
        return events

    # ── what a registry says ───────────────────────────────────────────────────────────────────────

    @property
    def step(self) -> int:
        return self._step

    @property
    def limits(self) -> DispatchLimits:
        return self._limits

    @property
    def tools(self) -> tuple[str, ...]:
        return self._tools

    def knows(self, key: str) -> bool:
        """Whether it is the key of a tool, or of a part of one."""
        tool, _, part = key.partition(":")
        return key in self._rows or (tool in self._tools and bool(part))

    def has_row(self, key: str) -> bool:
        return key in self._rows

    @property
    def budget(self) -> FailureBudget:
        return self._budget

    @property
    def consumed(self) -> int:
        """Failures charged in this cycle."""
        return self._budget.consumed

    @property
    def exhausted(self) -> bool:
        """Whether nothing is called for the rest of this cycle."""
        return self._budget.exhausted

    @property
    def cascades(self) -> tuple[CascadeGroup, ...]:
        """Groups of tools that failed from one cause."""
        return self._cascades.groups

    @property
    def capabilities(self) -> CapabilityMap:
        return self._capabilities

    @property
    def items(self) -> tuple[PlanItem, ...]:
        return self._items

    @property
    def scope(self) -> ReducedPlan:
        """The plan: items done, possible, and not possible now."""
        return reduced(self._items, self._usable, lambda tool: table.why_not(self, tool))

    def breaker(self, tool: str) -> Breaker:
        """The breaker of one key. Raises KeyError for one that has no row."""
        return self._rows[tool].breaker

    def scored(self, tool: str) -> Score | None:
        """The score that holds now; None: the tool was not checked lately."""
        return self._scores.of(tool, self._step)

    def viable(self, tool: str) -> bool:
        """Whether the tool would be called: its breaker is closed and no check speaks against it."""
        row = self._rows.get(tool)
        return row is not None and row.breaker.state is CLOSED and self.scored(tool) is not Score.UNAVAILABLE

    def seen(self, tool: str) -> LastResults:
        """The last results of a tool, for the table."""
        row = self._rows[tool]
        return LastResults(row.last_failure, row.last_success, row.message, row.calls, row.failed)

    def rows(self) -> tuple[HealthRow, ...]:
        """The table: each tool, followed by its failing parts."""
        return tuple(table.row(self, key) for tool in self._tools for key in (tool, *self._failing_parts(tool)))

    def _failing_parts(self, tool: str) -> Iterator[str]:
        for key, row in self._rows.items():
            if key.startswith(f"{tool}:") and (row.breaker.failures or row.breaker.state is not CLOSED):
                yield key

    def group_of(self, tool: str) -> CascadeGroup | None:
        return self._cascades.group_of(tool)

    def unconfirmed(self, group: CascadeGroup) -> bool:
        """Whether the group waits for a user to confirm."""
        waits = group.phase is CascadePhase.SYSTEMIC and not group.confirmed
        return waits and self._limits.cascade is CascadeMode.CONFIRM

    def saved(self) -> RegistryState:
        """The whole state."""
        rows = ((tool, row.breaker, self.seen(tool)) for tool, row in self._rows.items())
        return RegistryState(
            self._step, self._limits, tuple(rows), self._budget, self._cascades, self._scores, self._items
        )

    @classmethod
    def restored(cls, state: RegistryState, capabilities: CapabilityMap | None = None) -> "BreakerRegistry":
        """The registry with a saved state."""
        registry = cls((tool for tool, _, _ in state.breakers if ":" not in tool), capabilities, state.limits)
        for tool, breaker, seen in state.breakers:
            registry._rows[tool] = _Row(breaker, seen)
        registry._unsettled = {tool for tool, breaker, _ in state.breakers if breaker.state is not CLOSED}
        registry._step, registry._budget, registry._items = state.step, state.budget, state.items
        registry._cascades, registry._scores = state.cascades, state.scores
        return registry

    # ── deciding ────────────────────────────────────────────────────────────────────────────────

    def _decided(self, tool: str, row: _Row | None) -> DispatchDecision:
        if row is None:
            return self._skip(CallPermit(tool, 0, Dispatch.SKIP), DispatchReason.UNKNOWN_TOOL)
        generation = row.breaker.generation
        if self._budget.exhausted:
            return PauseTurn(CallPermit(tool, generation, Dispatch.PAUSE), DispatchReason.BUDGET_SPENT, caution=True)
        runs, reason = judge(self, tool)
        if runs and row.breaker.state is OPEN:
            return self._probe(tool, row.breaker, reason)
        if runs:
            return Call(CallPermit(tool, generation, Dispatch.CALL), reason, self._caution)
        if self._items and self.scope.nothing_left:
            return PauseTurn(CallPermit(tool, generation, Dispatch.PAUSE), DispatchReason.NOTHING_LEFT, self._caution)
        return self._skip(CallPermit(tool, generation, Dispatch.SKIP), reason)

    def _usable(self, tool: str) -> bool:
        """Whether the tool or an alternative through another tool is available."""
        return self.viable(tool) or any(route.tool for route in routes(self._capabilities, tool, self.viable))

    @property
    def _caution(self) -> bool:
        return self._budget.caution or self._cascades.systemic

    def _skip(self, permit: CallPermit, reason: DispatchReason) -> Skip:
        return Skip(permit, reason, self._caution, routes(self._capabilities, permit.tool, self.viable))

    def _probe(self, tool: str, breaker: Breaker, reason: DispatchReason) -> Probe:
        probing = breaker.probing(self._step, self._breaker_limits())
        self._cascade(self._cascades.probing(tool, self._step))
        self._put(tool, probing)
        permit = CallPermit(tool, probing.generation, Dispatch.PROBE)
        return Probe(permit, reason, self._caution, probing.lease_until)

    # ── learning ────────────────────────────────────────────────────────────────────────────────

    def _failed(self, tool: str, breaker: Breaker, failure: Failure) -> None:
        before = self.consumed
        self._budget = self._budget.charged(tool, failure, self._step)
        cost = self.consumed - before
        after = breaker.failed(self._step, self._breaker_limits(self.scored(tool)))
        self._put(tool, after, failure.message)
        cascades = self._cascades
        if after.state is OPEN:
            cascades = cascades.opened(tool, failure.signature, self._step, self._limits.window)
            for group in cascades.groups:
                self._budget = self._budget.one_cause(group.signature)
        charged = FailureCharged(tool, failure, self._step, cost, self.consumed, self._limits.budget)
        self._emit(charged)
        self._cascade(cascades)

    def _succeeded(self, tool: str, breaker: Breaker) -> None:
        self._put(tool, breaker.succeeded())
        if breaker.state is HALF_OPEN:
            self._cascade(self._cascades.closed(tool))

    def _commanded(self, command: BreakerCommand, tool: str) -> None:
        breaker = self._row(tool).breaker
        match command:
            case BreakerCommand.TRIP:
                after = breaker.tripped(self._step, self._breaker_limits())
            case BreakerCommand.ISOLATE:
                after = breaker.isolate(self._step)
            case BreakerCommand.RELEASE:
                after = breaker.release(self._step)
            case _:
                after = breaker.reset()
        if after is not breaker:
            self._put(tool, after, "by hand")
            self._cascade(self._cascades.left(tool))

    def _breaker_limits(self, score: Score | None = None) -> BreakerLimits:
        limits = self._limits
        threshold = limits.threshold
        if score is Score.DEGRADED:
            threshold = min(threshold, max(DEGRADED_FLOOR, threshold - 1))
        return BreakerLimits(threshold, (limits.probe_distance,), limits.lease)

    def _put(self, tool: str, after: Breaker, detail: str = "") -> None:
        """Set the breaker of a tool."""
        row = self._rows[tool]
        before, row.breaker = row.breaker, after
        self._version += 1
        if after.state is CLOSED:
            self._unsettled.discard(tool)
        else:
            self._unsettled.add(tool)
        self._emit(moved(tool, before, after, self._step, detail))

    def _cascade(self, after: Cascades) -> None:
        """Set the groups and suspicions."""
        before, self._cascades = self._cascades, after
        if after is before:
            return
        self._version += 1
        if any(before.group_for(group.signature) is None for group in after.groups):
            self._scores = Scores()  # what was found before may not hold any more
        self._emit(*grouped(before, after, self._step, self._limits.window, self.unconfirmed))

    def _emit(self, *events: Event) -> None:
        self._events += events
        if len(self._events) > KEPT:
            del self._events[: -KEPT // 2]
