"""Every tool call passes here first: the board decides, and each decision is an event.

The dispatcher sees the very events that the journal keeps, in their order. What the breakers know is therefore what
a replay of the journal knows, and a resumed session goes on with it.
"""

import asyncio
from collections.abc import Iterable
from dataclasses import replace

from harness.base.clock import Clock
from harness.engine.conversation import Conversation
from harness.engine.signals import unless
from harness.engine.tools.programs import programs_of
from harness.events import (
    OWN_COMMAND,
    BreakerCommand,
    BreakerCommanded,
    BreakerState,
    Dispatched,
    DispatchLimitsSet,
    DispatchReason,
    Done,
    Event,
    HealthRow,
    PauseReport,
    PauseReported,
    Route,
    Score,
    StepStarted,
    ToolCall,
    ToolEnded,
    ToolOutcome,
    ToolScored,
    TurnStarted,
)
from harness.policies.breakers import messages, rows
from harness.policies.breakers.alternatives import routes
from harness.policies.breakers.board import Board
from harness.policies.breakers.decisions import Decision, Pause, Skip
from harness.policies.breakers.dispatcher import Dispatcher, Replay
from harness.policies.breakers.pause_report import pause_report
from harness.tools.tool import Tool, ToolHealth, ToolResult

CHECK_S = 2.0
"""Seconds a check before a call may take; one that takes longer says that its tool is degraded."""


class Dispatching:
    """Asks the board about the calls of one conversation, and tells it what came of them."""

    def __init__(self, board: Board, conversation: Conversation, clock: Clock, *, attended: bool = True) -> None:
        """`attended`: a user is there who can type commands; otherwise reports name none."""
        self._board = board
        self._attended = attended
        self._dispatcher = Dispatcher(board)
        self._conversation = conversation
        self._clock = clock
        self.announced = False
        """The numbers it works with stand in the events."""
        self._paused: DispatchReason | None = None
        self._scores: dict[str, str] = {}
        """Why a tool was scored as it was, by tool."""
        self._offered: dict[str, str] = {}
        """Tools that were offered in the last step, and in place of which."""
        self._offering: dict[str, str] = {}
        """The same for this step."""
        self._work: dict[str, Done] = {}
        """What the tools did in this turn."""
        conversation.observe(self._see)

    # ── what a session does ─────────────────────────────────────────────────────────────────────

    @property
    def board(self) -> Board:
        """How the tools are. To be read; what changes it goes through here."""
        return self._board

    def recall(self, records: Iterable[tuple[Event, float]]) -> None:
        """Fold what an earlier run of this session kept: events and their moments in Unix time."""
        replay = Replay(self._board)
        for event, at in records:
            replay.see(event, at)

    def announce(self, **changed: object) -> None:
        """Say which numbers hold from here on; `changed` ones are other than before. Raises ValueError, TypeError."""
        limits = replace(self._board.limits, **changed)  # type: ignore[arg-type]
        self._conversation.emit(DispatchLimitsSet(limits, self._board.tools))

    def command(self, command: BreakerCommand, tool: str = "") -> None:
        """Do what a person wants. Raises ValueError for a tool that does not exist."""
        if tool and not self._board.knows(tool):
            raise ValueError(f"there is no tool called {tool}")
        self._conversation.emit(BreakerCommanded(command, tool))

    # ── around a call ───────────────────────────────────────────────────────────────────────────

    async def decide(self, call: ToolCall, tool: Tool | None, place: int, interrupt: asyncio.Event) -> Decision:
        """What to do about a call; `place` is where it stands in its reply."""
        if tool is not None:
            await self._check(tool, interrupt)
        parts = programs_of(tool, call.input)
        decision = self._dispatcher.decide(call.id, call.name, place, parts)
        key = decision.ticket.tool
        offered = decision.routes if isinstance(decision, Skip) else ()
        self._conversation.emit(
            Dispatched(
                call.id,
                call.name,
                decision.dispatch,
                decision.reason,
                decision.ticket.generation,
                place,
                messages.explained(decision, self.row(key), self._scores.get(key, "")),
                offered,
                decision.caution,
                "" if offered else self._offered.get(call.name, ""),
                parts,
                "" if key == call.name else key,
            )
        )
        self._tell()
        self._offering.update({route.tool: call.name for route in offered if route.tool not in ("", call.name)})
        if isinstance(decision, Pause):
            self._paused = decision.reason
        return decision

    def answer(self, decision: Skip | Pause) -> ToolResult:
        """What the model and the person are told about a call that is not run."""
        tool = decision.ticket.tool
        row, why = self.row(tool), self._scores.get(tool, "")
        if isinstance(decision, Pause):
            return ToolResult(messages.paused(decision), ToolOutcome.SKIPPED, "the turn pauses")
        best = messages.best_of(decision.routes)
        summary = messages.because(decision.reason, tool, row, why) + (f" → {best}" if best else "")
        return ToolResult(messages.skipped(decision, row, why), ToolOutcome.SKIPPED, summary)

    def routes(self, tool: str) -> tuple[Route, ...]:
        """The ways round a tool as things stand, best first."""
        return routes(self._board.capabilities, tool, self._board.viable)

    def row(self, tool: str) -> HealthRow | None:
        """The line of one tool, or of a part of one, in the table; None: there is none."""
        return rows.row(self._board, tool) if self._board.has_row(tool) else None

    def closed(self, key: str) -> bool:
        """The breaker of this key, which may be that of a part of a tool, is closed."""
        board = self._board
        return board.knows(key) and (not board.has_row(key) or board.breaker(key).state is BreakerState.CLOSED)

    async def _check(self, tool: Tool, interrupt: asyncio.Event) -> None:
        """Ask the tool's own check, if it has one and was not asked lately."""
        if tool.check is None or self._board.exhausted or self._board.scored(tool.name) is not None:
            return
        try:
            async with asyncio.timeout(CHECK_S):
                health = await unless(interrupt, tool.check())
        except TimeoutError:
            health = ToolHealth(Score.DEGRADED, f"its check took longer than {CHECK_S:g} s")
        except Exception as error:  # noqa: BLE001 (the border to tools: a check that fails is advice as well)
            health = ToolHealth(Score.DEGRADED, f"its check failed: {type(error).__name__}: {error}")
        if health is not None:
            self._conversation.emit(ToolScored(tool.name, health.score, health.why))

    # ── the pause ───────────────────────────────────────────────────────────────────────────────

    @property
    def paused(self) -> str:
        """Why the turn has to end with a report; empty while it may go on."""
        if self._board.exhausted:
            return messages.because(DispatchReason.BUDGET_SPENT, "", None)
        return messages.because(self._paused, "", None) if self._paused else ""

    def report(self) -> PauseReport:
        """How things are, as the report of a pause says it: what is done, what is not, and the state of the tools."""
        board = self._board
        return pause_report(
            self.paused,
            board.items,
            board.scope.deferred,
            tuple(self._work.values()),
            board.rows(),
            board.consumed,
            board.limits.budget,
            board.budget.log,
            board.budget.not_logged,
            groups=board.cascades,
            attended=self._attended,
        )

    def pause(self) -> None:
        """Say that the turn pauses, and how things are."""
        self._conversation.emit(PauseReported(self.report()))

    # ── what is seen ────────────────────────────────────────────────────────────────────────────

    def _see(self, event: Event) -> None:
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
            case ToolEnded(call_id=call_id) if call_id.startswith(OWN_COMMAND):
                return  # the person's own command is no work of the turn
            case ToolEnded(tool=tool, outcome=ToolOutcome.OK | ToolOutcome.ERROR | ToolOutcome.BROKEN as outcome):
                done = self._work.get(tool, Done(tool, 0, 0))
                good = outcome is ToolOutcome.OK
                self._work[tool] = Done(tool, done.succeeded + good, done.failed + (not good))
        self._dispatcher.see(event, self._clock.now())
        self._tell()

    def _tell(self) -> None:
        for event in self._board.news():
            self._conversation.emit(event)
