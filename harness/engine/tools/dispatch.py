"""Every tool call passes here first: the breakers decide, and each decision is an event.

The dispatcher receives the events that the journal keeps, in their order, so that a replay leads to the same breakers.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import fields, replace

from harness.base.concurrency import race
from harness.base.errors import HarnessError
from harness.engine.core import AgentCore
from harness.engine.tools.results import programs_of
from harness.events import (
    OWN_COMMAND,
    Alternative,
    BreakerCommand,
    BreakerCommanded,
    BreakerState,
    Dispatched,
    DispatchLimits,
    DispatchLimitsSet,
    DispatchReason,
    Event,
    HealthRow,
    McpServerChanged,
    McpState,
    PauseReport,
    PauseReported,
    Score,
    StepStarted,
    ToolCall,
    ToolEnded,
    ToolOutcome,
    ToolScored,
    ToolTally,
    TurnStarted,
)
from harness.policies.breakers import health_table, messages
from harness.policies.breakers.capabilities import routes
from harness.policies.breakers.decisions import Call, DispatchDecision, PauseTurn, Skip
from harness.policies.breakers.dispatcher import BreakerReplay, Dispatcher
from harness.policies.breakers.pause_report import pause_report
from harness.policies.breakers.registry import BreakerRegistry
from harness.tools.tool import Tool, ToolHealth, ToolResult, shorten_line
from harness.tools.toolbox import Toolbox

CHECK_S = 2.0
"""Seconds a check before a call may take; one that takes longer says that its tool is degraded."""
LONGEST_WHY = 300
"""Characters of its reason."""


class ToolDispatcher:
    """Decides about the tool calls of one conversation and records their outcomes."""

    def __init__(
        self,
        core: AgentCore,
        registry: BreakerRegistry,
        toolbox: Toolbox,
    ) -> None:
        self._registry = registry
        self._toolbox = toolbox
        self._attended = core.asker.present  # a user who can type commands; otherwise reports name none
        self._dispatcher = Dispatcher(registry)
        self._conversation = core.conversation
        self._clock = core.clock
        self.announced = False
        """The limits were emitted."""
        self._paused: DispatchReason | None = None
        self._scores: dict[str, str] = {}
        """Why a tool was scored as it was, by tool."""
        self._offered: dict[str, str] = {}
        """Alternatives that were offered in the last step, with the tool that each replaces."""
        self._offering: dict[str, str] = {}
        """The same for this step."""
        self._work: dict[str, ToolTally] = {}
        """What the tools did in this turn."""

    # ── what a session does ─────────────────────────────────────────────────────────────────────

    @property
    def registry(self) -> BreakerRegistry:
        """How the tools are. To be read; what changes it goes through here."""
        return self._registry

    def recall(self, records: Iterable[tuple[Event, float]]) -> None:
        """Fold what an earlier run of this session kept: events and their moments in Unix time."""
        replay = BreakerReplay(self._registry)
        for event, at in records:
            replay.on_event(event, at)

    @property
    def health(self) -> tuple[HealthRow, ...]:
        """The breaker table: one row for each tool."""
        return self._registry.rows()

    @property
    def limits(self) -> DispatchLimits:
        """The numbers of the breakers and of the failure budget."""
        return self._registry.limits

    def announce(self) -> None:
        """Emit the numbers that hold from here on."""
        self._conversation.emit(DispatchLimitsSet(self._registry.limits, self._registry.tools))

    def set_limits(self, **changed: object) -> None:
        """Use other numbers from the next decision on. Raises HarnessError for one that makes no sense."""
        names = [field.name for field in fields(DispatchLimits)]
        for name in changed:
            if name not in names:
                raise HarnessError(f"There is no number called {name}; there are {', '.join(names)}.")
        try:
            limits = replace(self._registry.limits, **changed)  # type: ignore[arg-type]
        except ValueError as error:
            raise HarnessError(f"That cannot be set: {error}.") from error
        self._conversation.emit(DispatchLimitsSet(limits, self._registry.tools))

    def command(self, command: BreakerCommand, tool: str = "") -> None:
        """Move a breaker by hand; no tool: all of them. Raises HarnessError for a tool that does not exist."""
        self._conversation.emit(BreakerCommanded(command, self._known(tool) if tool else ""))

    def alternatives(self, tool: str) -> tuple[Alternative, ...]:
        """The present alternatives of a tool, best first. Raises HarnessError for a tool that does not exist."""
        return self.routes(self._known(tool))

    def _known(self, tool: str) -> str:
        toolbox = self._toolbox
        if tool.partition(":")[0] in (*toolbox.names, *self._registry.tools):  # "bash:npm" is a part of bash
            found = toolbox.get(tool)
            return f"{found.breaker}:{found.part}" if found is not None and found.breaker else tool
        near = toolbox.nearest(tool)
        hint = f"did you mean {near}?" if near else f"there are {', '.join(toolbox.names)}."
        raise HarnessError(f"There is no tool called {tool}; {hint}")

    # ── around a call ───────────────────────────────────────────────────────────────────────────

    async def decide(self, call: ToolCall, tool: Tool | None, place: int, interrupt: asyncio.Event) -> DispatchDecision:
        """The decision about a call; `place` is its index in the reply."""
        if tool is not None:
            await self._check(tool, interrupt)
        parts = programs_of(tool, call.input)
        decision = self._dispatcher.decide(call.id, _key_of(tool) or call.name, place, parts)
        key = decision.permit.tool
        offered = decision.routes if isinstance(decision, Skip) else ()
        usual = isinstance(decision, Call) and decision.reason is DispatchReason.HEALTHY
        explained = "" if usual else messages.explained(decision, self.row(key), self._scores.get(key, ""))
        self._conversation.emit(
            Dispatched(
                call.id,
                call.name,
                decision.dispatch,
                decision.reason,
                decision.permit.generation,
                place,
                explained,
                offered,
                decision.caution,
                "" if offered else self._offered.get(call.name, ""),
                parts,
                "" if key == call.name else key,
            )
        )
        self._emit_events()
        self._offering.update({route.tool: call.name for route in offered if route.tool not in ("", call.name)})
        if isinstance(decision, PauseTurn):
            self._paused = decision.reason
        return decision

    def answer(self, decision: Skip | PauseTurn) -> ToolResult:
        """The result of a call that does not run."""
        tool = decision.permit.tool
        row, why = self.row(tool), self._scores.get(tool, "")
        if isinstance(decision, PauseTurn):
            return ToolResult(messages.paused(decision), ToolOutcome.SKIPPED, "the turn pauses")
        best = messages.best_of(decision.routes)
        summary = messages.because(decision.reason, tool, row, why) + (f" → {best}" if best else "")
        return ToolResult(messages.skipped(decision, row, why), ToolOutcome.SKIPPED, summary)

    def routes(self, tool: str) -> tuple[Alternative, ...]:
        """The present alternatives of a tool, best first."""
        return routes(self._registry.capabilities, tool, self._registry.viable)

    def row(self, tool: str) -> HealthRow | None:
        """The line of one tool, or of a part of one, in the table; None: there is none."""
        return health_table.row(self._registry, tool) if self._registry.has_row(tool) else None

    def closed(self, key: str) -> bool:
        """The breaker of this key, which may be that of a part of a tool, is closed."""
        registry = self._registry
        return registry.knows(key) and (not registry.has_row(key) or registry.breaker(key).state is BreakerState.CLOSED)

    async def _check(self, tool: Tool, interrupt: asyncio.Event) -> None:
        """Ask the tool's own check, if it has one and no result of it holds.

        A tool that was not available is asked again at every call, so that it is used as soon as it works; so is
        one that was available and has failed since.
        """
        key = _key_of(tool)
        before, row = self._registry.scored(key), self.row(key)
        holds = before is Score.DEGRADED or (before is Score.AVAILABLE and row is not None and not row.failures)
        if tool.check is None or self._registry.exhausted or holds:
            return
        asking = asyncio.create_task(_health_of(tool.check), name=f"check of {tool.name}")
        await race(asyncio.wait({asking}, timeout=CHECK_S), interrupt.wait())
        if asking.done():
            health = _degraded("cancelled itself") if asking.cancelled() else asking.result()
        else:  # not waited for: it may ignore its cancellation
            asking.cancel()
            health = _degraded(f"took longer than {CHECK_S:g} s")
        if not interrupt.is_set() and health.score is not before:
            self._conversation.emit(ToolScored(key, health.score, health.why))

    # ── the pause ───────────────────────────────────────────────────────────────────────────────

    @property
    def paused(self) -> str:
        """Why the turn has to end with a report; empty: it continues."""
        if self._registry.exhausted:
            return messages.because(DispatchReason.BUDGET_SPENT, "", None)
        return messages.because(self._paused, "", None) if self._paused else ""

    def report(self) -> PauseReport:
        """The report of a pause: finished and open work, and the state of the tools."""
        registry = self._registry
        return pause_report(
            self.paused,
            registry.items,
            registry.scope.deferred,
            tuple(self._work.values()),
            registry.rows(),
            registry.consumed,
            registry.limits.budget,
            registry.budget.log,
            registry.budget.not_logged,
            groups=registry.cascades,
            attended=self._attended,
        )

    def pause(self) -> None:
        """Say that the turn pauses, and how things are."""
        self._conversation.emit(PauseReported(self.report()))

    # ── what is seen ────────────────────────────────────────────────────────────────────────────

    def on_event(self, event: Event) -> None:
        match event:
            case DispatchLimitsSet():
                self.announced = True
            case TurnStarted():
                self._paused = None
                self._work.clear()
                self._offered, self._offering = {}, {}
            case StepStarted():
                self._offered, self._offering = self._offering, {}
            case ToolScored(tool=tool, why=why):
                self._scores[tool] = why
            case McpServerChanged(server=server, state=McpState.READY):
                self._is_there(server)
            case ToolEnded(call_id=call_id) if call_id.startswith(OWN_COMMAND):
                return  # the user's own command is no work of the turn
            case ToolEnded(tool=tool, outcome=ToolOutcome.OK | ToolOutcome.ERROR | ToolOutcome.BROKEN as outcome):
                done = self._work.get(tool, ToolTally(tool, 0, 0))
                good = outcome is ToolOutcome.OK
                self._work[tool] = ToolTally(tool, done.succeeded + good, done.failed + (not good))
        self._dispatcher.on_event(event, self._clock.now())
        self._emit_events()

    def _is_there(self, server: str) -> None:
        """An MCP server has been reached: what a check said of it before no longer holds."""
        from harness.mcp.names import server_key  # only where there is one

        key = server_key(server)
        if self._registry.scored(key) in (Score.DEGRADED, Score.UNAVAILABLE):
            self._conversation.emit(ToolScored(key, Score.AVAILABLE, ""))

    def _emit_events(self) -> None:
        for event in self._registry.drain_events():
            self._conversation.emit(event)


def _key_of(tool: Tool | None) -> str:
    """The key of the breaker of a tool; empty: there is no such tool."""
    return "" if tool is None else tool.breaker or tool.name


async def _health_of(check: Callable[[], Awaitable[ToolHealth]]) -> ToolHealth:
    """What a check finds; one that fails is advice as well."""
    try:
        health = await check()
        return replace(health, why=shorten_line(health.why, LONGEST_WHY))
    except (Exception, SystemExit) as error:  # noqa: BLE001 (the border to tools)
        return _degraded(shorten_line(f"failed: {type(error).__name__}: {error}", LONGEST_WHY))


def _degraded(what: str) -> ToolHealth:
    return ToolHealth(Score.DEGRADED, f"its check {what}")
