"""The board: one pure answer to "may this tool be called now?", and what is learnt from how it went.

It is the expeditor of seed 000: it decides what to attempt and never how. It calls no tool, retries nothing,
rewrites nothing, and excuses nothing. `decide` gives CALL, SKIP, PROBE or PAUSE; `record` takes what came of the
calls that were let through. There is no clock here: distances are steps, and a moment that is handed in is kept
for the table and decides nothing. What happened is read with `news`, or not; the board does not care.

Most calls are of healthy tools on a calm board. For these both methods are a lookup: a decision is made once
and stands until something changes.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from harness.events import (
    BreakerCommand,
    BreakerState,
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
from harness.policies.breakers import rows as table
from harness.policies.breakers.alternatives import routes
from harness.policies.breakers.availability import judge
from harness.policies.breakers.board_events import News, grouped, moved
from harness.policies.breakers.board_view import Seen
from harness.policies.breakers.breaker import Breaker, BreakerLimits
from harness.policies.breakers.budget import Budget
from harness.policies.breakers.capabilities import CapabilityMap
from harness.policies.breakers.cascade import Cascades, Group
from harness.policies.breakers.decisions import Call, Decision, Finish, Pause, Probe, Result, Skip, Ticket
from harness.policies.breakers.scope_reduction import Scope, reduced
from harness.policies.breakers.scores import Scores

CLOSED, OPEN, HALF_OPEN = BreakerState.CLOSED, BreakerState.OPEN, BreakerState.HALF_OPEN
MOST_PARTS = 50
"""Parts of tools whose breakers are kept; of more the one that failed first is forgotten."""
DEGRADED_FLOOR = 2
"""A degraded tool still may fail once (Q6)."""


@dataclass(frozen=True, slots=True)
class BoardState:
    """A board, as it can be kept: `Board.restored` makes the same one of it (A26)."""

    step: int
    limits: DispatchLimits
    breakers: tuple[tuple[str, Breaker, Seen], ...]
    budget: Budget
    cascades: Cascades
    scores: Scores
    items: tuple[PlanItem, ...]


class _Row:
    """One tool. Mutable, because a success on a calm board must cost next to nothing."""

    __slots__ = ("breaker", "decided_at", "decision", "last_failure", "last_success", "message")

    def __init__(self, breaker: Breaker, seen: Seen) -> None:
        self.breaker = breaker
        self.last_failure = seen.last_failure
        self.last_success = seen.last_success
        self.message = seen.message
        self.decision: Decision | None = None
        """Stands while the board has the version `decided_at`."""
        self.decided_at = -1


class Board:
    """The breakers of the tools of one agent, its failure budget, and what they have in common."""

    def __init__(
        self,
        tools: Iterable[str],
        capabilities: CapabilityMap | None = None,
        limits: DispatchLimits | None = None,
    ) -> None:
        """
        Args:
            tools: the names that may be called; all others are skipped (seed 000, step 10).
            capabilities: what each provides, and what can take its place.
        """
        self._capabilities = capabilities or CapabilityMap(())
        self._rows = {tool: _Row(Breaker(), Seen()) for tool in tools}
        """By key: first the tools, then the parts of tools that have failed, such as "bash:npm"."""
        self._tools = tuple(self._rows)
        self._limits = limits or DispatchLimits()
        self._step = 0
        self._budget = Budget(self._limits.budget)
        self._cascades = Cascades()
        self._scores = Scores()
        self._items: tuple[PlanItem, ...] = ()
        self._news = News()
        self._unsettled: set[str] = set()
        """Tools that are not closed."""
        self._version = 0
        """Rises with whatever could change a decision."""

    # ── what may happen to a board ──────────────────────────────────────────────────────────────

    def configure(self, limits: DispatchLimits) -> None:
        """Work with other numbers from the next decision on."""
        self._version += 1
        if limits.budget != self._limits.budget:
            self._budget = self._budget.of(limits.budget)
        self._limits = limits

    def begin_step(self, step: int) -> None:
        """The loop goes round. Probes that had their time are lost (A8).

        Raises ValueError when steps fall.
        """
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
        """A turn of the user begins, or a session is resumed: the budget is fresh, the breakers stay (A13)."""
        self._version += 1
        self._budget = self._budget.next_cycle(frozenset(group.signature for group in self._cascades.groups))

    def plan(self, items: Sequence[PlanItem]) -> None:
        """The sub-tasks that the turn has declared; empty: none."""
        self._version += 1
        self._items = tuple(items)

    def score(self, tool: str, score: Score, why: str = "") -> None:
        """What a check before the call said about a tool (A24). `why` is for those who listen."""
        if tool in self._rows:
            self._version += 1
            self._scores = self._scores.with_score(tool, score, self._step + self._limits.score_lasts)

    def decide(self, tool: str, parts: tuple[str, ...] = ()) -> Decision:
        """May this tool be called now? A probe that is given is out from here on.

        Args:
            parts: what of the tool the call uses. Where the tool itself may be called, it also needs all of these.
        """
        decision = self._decide(tool)
        if not parts or not isinstance(decision, Call):
            return decision
        held = [key for key in (part_key(tool, part) for part in parts) if self._held(key)]
        for key in held:
            runs, reason = judge(self, key)
            if not runs:
                return self._skip(Ticket(key, self._rows[key].breaker.generation, Dispatch.SKIP), reason)
        if held:
            return self._decide(held[0])
        return replace(decision, ticket=replace(decision.ticket, parts=parts))

    def _held(self, key: str) -> bool:
        row = self._rows.get(key)
        return row is not None and row.breaker.state is not CLOSED

    def _decide(self, tool: str) -> Decision:
        row = self._rows.get(tool)
        if row is not None and row.decided_at == self._version and row.decision is not None:
            return row.decision
        decision = self._decided(tool, row)
        if row is not None:
            row.decision, row.decided_at = decision, self._version
            if isinstance(decision, Probe):
                row.decision = None
        return decision

    def record(self, ticket: Ticket, result: Result, at: float = 0.0) -> None:
        """What came of a call that was let through; `at` is the moment in Unix time, for the table.

        A result of an older generation is late: it is noted and changes nothing (A9). Raises ValueError for a call
        that was not let through.
        """
        row = self._rows.get(ticket.tool)
        if row is None:
            raise ValueError(f"there is no tool called {ticket.tool!r}")
        breaker = row.breaker
        if isinstance(result, Failure) and (key := key_of(ticket.tool, result)) != ticket.tool:
            # The tool did its work, and what it ran failed.
            self.record(replace(ticket, parts=()), Finish.OK, at)
            if ticket.generation == breaker.generation:
                self._part_failed(key, result, at)
            return
        if result is Finish.OK and ticket.parts and ticket.generation == breaker.generation:
            self._parts_succeeded(ticket)
        if ticket.generation != breaker.generation:
            self._news.tell(LateResult(ticket.tool, ticket.generation, breaker.generation))
        elif result is Finish.OK and breaker.state is CLOSED:
            row.last_success = at
            if breaker.failures:
                self._succeeded(ticket.tool, breaker)
        elif ticket.kind in (Dispatch.SKIP, Dispatch.PAUSE):
            raise ValueError(f"{ticket} was not let through; nothing can come of it")
        elif result is Finish.OK:
            row.last_success = at
            self._succeeded(ticket.tool, breaker)
        elif isinstance(result, Failure):
            row.last_failure, row.message = at, result.message
            self._failed(ticket.tool, breaker, result)
        elif breaker.state is HALF_OPEN:
            self._put(ticket.tool, breaker.released(self._step), f"the probe was not run: {result.value}")

    def _part_failed(self, key: str, failure: Failure, at: float) -> None:
        breaker = self._row(key).breaker
        kind = Dispatch.CALL if breaker.state is CLOSED else Dispatch.SKIP
        if kind is Dispatch.SKIP:  # another call has opened it meanwhile
            self._news.tell(LateResult(key, breaker.generation, breaker.generation))
        else:
            self.record(Ticket(key, breaker.generation, kind), failure, at)

    def _parts_succeeded(self, ticket: Ticket) -> None:
        """What the call used has failed before and works; it is not known which of several, so all of them do."""
        for key in (part_key(ticket.tool, part) for part in ticket.parts):
            row = self._rows.get(key)
            if row is not None and row.breaker.state is CLOSED and row.breaker.failures:
                self._succeeded(key, row.breaker)

    def _row(self, key: str) -> _Row:
        """The row of a key that may have none yet."""
        if key not in self._rows:
            if len(self._rows) - len(self._tools) >= MOST_PARTS:
                parts = [one for one in self._rows if one not in self._tools]
                oldest = next((one for one in parts if not self._held(one)), parts[0])
                del self._rows[oldest]
                self._unsettled.discard(oldest)
            self._rows[key] = _Row(Breaker(), Seen())
        return self._rows[key]

    def record_batch(self, results: Iterable[tuple[int, Ticket, Result, float]]) -> None:
        """What came of calls that ran side by side: place in the reply, ticket, result, moment.

        They count in the order of their places, whichever ended first (A29).
        """
        for _, ticket, result, at in sorted(results, key=lambda entry: entry[0]):
            self.record(ticket, result, at)

    def command(self, command: BreakerCommand, tool: str = "") -> None:
        """Do what a person wants; only RESET and CONFIRM can be meant for all, with an empty name.

        Raises ValueError for a tool that does not exist.
        """
        if not self.knows(tool) and (tool or command not in (BreakerCommand.RESET, BreakerCommand.CONFIRM)):
            raise ValueError(f"there is no tool called {tool!r}")
        if command is BreakerCommand.CONFIRM:
            self._cascade(self._cascades.confirmed(self._step))
            return
        for name in [tool] if tool else self._rows:
            self._commanded(command, name)

    def news(self) -> tuple[Event, ...]:
        """What happened since this was asked last."""
        return self._news.read()

    # ── what a board says ───────────────────────────────────────────────────────────────────────

    @property
    def step(self) -> int:
        """The step it is in."""
        return self._step

    @property
    def limits(self) -> DispatchLimits:
        """The numbers it works with."""
        return self._limits

    @property
    def tools(self) -> tuple[str, ...]:
        """The tools it knows."""
        return self._tools

    def knows(self, key: str) -> bool:
        """It is the key of a tool, or of a part of one."""
        tool, _, part = key.partition(":")
        return key in self._rows or (tool in self._tools and bool(part))

    def has_row(self, key: str) -> bool:
        """There is something to say of this key."""
        return key in self._rows

    @property
    def budget(self) -> Budget:
        """What this cycle has cost."""
        return self._budget

    @property
    def consumed(self) -> int:
        """Failures charged in this cycle."""
        return self._budget.consumed

    @property
    def exhausted(self) -> bool:
        """Nothing is called any more in this cycle."""
        return self._budget.exhausted

    @property
    def cascades(self) -> tuple[Group, ...]:
        """Tools that failed from one cause."""
        return self._cascades.groups

    @property
    def capabilities(self) -> CapabilityMap:
        """What the tools provide, and what can take their place."""
        return self._capabilities

    @property
    def items(self) -> tuple[PlanItem, ...]:
        """The sub-tasks that were declared."""
        return self._items

    @property
    def scope(self) -> Scope:
        """Which of the sub-tasks are done, possible, and not possible now (A21)."""
        return reduced(self._items, self._usable, lambda tool: table.why_not(self, tool))

    def breaker(self, tool: str) -> Breaker:
        """Where one key stands. Raises KeyError for one that has no row."""
        return self._rows[tool].breaker

    def scored(self, tool: str) -> Score | None:
        """The score that is believed now; None: the tool was not checked lately."""
        return self._scores.of(tool, self._step)

    def viable(self, tool: str) -> bool:
        """The tool would be called if it were asked for: its breaker is closed and no check speaks against it."""
        row = self._rows.get(tool)
        return row is not None and row.breaker.state is CLOSED and self.scored(tool) is not Score.UNAVAILABLE

    def seen(self, tool: str) -> Seen:
        """What the table shows of a tool besides its breaker."""
        row = self._rows[tool]
        return Seen(row.last_failure, row.last_success, row.message)

    def rows(self) -> tuple[HealthRow, ...]:
        """The table of seed 000, step 2: the tools, and below each what of it fails."""
        return tuple(table.row(self, key) for tool in self._tools for key in (tool, *self._failing_parts(tool)))

    def _failing_parts(self, tool: str) -> Iterator[str]:
        for key, row in self._rows.items():
            if key.startswith(f"{tool}:") and (row.breaker.failures or row.breaker.state is not CLOSED):
                yield key

    def group_of(self, tool: str) -> Group | None:
        """The group of which a tool is a member."""
        return self._cascades.group_of(tool)

    def unconfirmed(self, group: Group) -> bool:
        """The group waits for a person."""
        waits = group.phase is CascadePhase.SYSTEMIC and not group.confirmed
        return waits and self._limits.cascade is CascadeMode.CONFIRM

    def saved(self) -> BoardState:
        """All that decides anything."""
        rows = ((tool, row.breaker, self.seen(tool)) for tool, row in self._rows.items())
        return BoardState(
            self._step, self._limits, tuple(rows), self._budget, self._cascades, self._scores, self._items
        )

    @classmethod
    def restored(cls, state: BoardState, capabilities: CapabilityMap | None = None) -> "Board":
        """The board that `saved` gave."""
        board = cls((tool for tool, _, _ in state.breakers if ":" not in tool), capabilities, state.limits)
        for tool, breaker, seen in state.breakers:
            board._rows[tool] = _Row(breaker, seen)
        board._unsettled = {tool for tool, breaker, _ in state.breakers if breaker.state is not CLOSED}
        board._step, board._budget, board._items = state.step, state.budget, state.items
        board._cascades, board._scores = state.cascades, state.scores
        return board

    # ── deciding ────────────────────────────────────────────────────────────────────────────────

    def _decided(self, tool: str, row: _Row | None) -> Decision:
        if row is None:
            return self._skip(Ticket(tool, 0, Dispatch.SKIP), DispatchReason.UNKNOWN_TOOL)
        generation = row.breaker.generation
        if self._budget.exhausted:
            return Pause(Ticket(tool, generation, Dispatch.PAUSE), DispatchReason.BUDGET_SPENT, caution=True)
        runs, reason = judge(self, tool)
        if runs and row.breaker.state is OPEN:
            return self._probe(tool, row.breaker, reason)
        if runs:
            return Call(Ticket(tool, generation, Dispatch.CALL), reason, self._caution)
        if self._items and self.scope.nothing_left:
            return Pause(Ticket(tool, generation, Dispatch.PAUSE), DispatchReason.NOTHING_LEFT, self._caution)
        return self._skip(Ticket(tool, generation, Dispatch.SKIP), reason)

    def _usable(self, tool: str) -> bool:
        """What needs the tool is possible: by the tool itself, or by a way round through another one."""
        return self.viable(tool) or any(route.tool for route in routes(self._capabilities, tool, self.viable))

    @property
    def _caution(self) -> bool:
        return self._budget.caution or self._cascades.systemic

    def _skip(self, ticket: Ticket, reason: DispatchReason) -> Skip:
        return Skip(ticket, reason, self._caution, routes(self._capabilities, ticket.tool, self.viable))

    def _probe(self, tool: str, breaker: Breaker, reason: DispatchReason) -> Probe:
        probing = breaker.probing(self._step, self._breaker_limits())
        self._cascade(self._cascades.probing(tool, self._step))
        self._put(tool, probing)
        ticket = Ticket(tool, probing.generation, Dispatch.PROBE)
        return Probe(ticket, reason, self._caution, probing.lease_until)

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
        self._news.tell(charged)
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
        """The breaker of a tool is this from now on."""
        row = self._rows[tool]
        before, row.breaker = row.breaker, after
        self._version += 1
        if after.state is CLOSED:
            self._unsettled.discard(tool)
        else:
            self._unsettled.add(tool)
        self._news.tell(moved(tool, before, after, self._step, detail))

    def _cascade(self, after: Cascades) -> None:
        """Groups and suspicions are these from now on."""
        before, self._cascades = self._cascades, after
        if after is before:
            return
        self._version += 1
        if any(before.group_for(group.signature) is None for group in after.groups):
            self._scores = Scores()  # what was found before may not hold any more (A24)
        self._news.tell(*grouped(before, after, self._step, self._limits.window, self.unconfirmed))
