"""The board as a fold over events: what a session does to it live, and what its journal does to it again.

Requests, results, steps, turns and commands are the inputs; each is an event that the journal keeps. So the state
of the breakers is never stored: it is folded from the events, at any prefix (A26).

Calls of one batch run side by side. Their results are held back until the last of them has come, and then count in
the order of the reply (A29).
"""

from collections.abc import Callable

from harness.events import (
    BreakerCommanded,
    Dispatch,
    Dispatched,
    DispatchLimitsSet,
    Event,
    PlanChanged,
    SessionResumed,
    StepStarted,
    ToolEnded,
    ToolOutcome,
    ToolScored,
    TurnStarted,
)
from harness.policies.breakers.board import Board
from harness.policies.breakers.decisions import Decision, Finish, Result, Ticket

RUNS = (Dispatch.CALL, Dispatch.PROBE)
FINISHES = {
    ToolOutcome.CANCELLED: Finish.CANCELLED,
    ToolOutcome.DENIED: Finish.DENIED,
    ToolOutcome.INVALID: Finish.INVALID,
}
"""Outcomes that say nothing about the tool. All others are results: a failure if one is named, else a success."""


class Dispatcher:
    """Gives the board its inputs in the right order."""

    def __init__(self, board: Board) -> None:
        self.board = board
        self._out: dict[str, tuple[int, Ticket]] = {}
        """Calls that were let through and have not ended, by id: place and ticket."""
        self._ended: list[tuple[int, Ticket, Result, float]] = []

    def decide(self, call_id: str, tool: str, place: int, parts: tuple[str, ...] = ()) -> Decision:
        """The decision about a call; `place` is where it stands in its reply, `parts` what of the tool it uses."""
        decision = self.board.decide(tool, parts)
        if decision.dispatch in RUNS:
            self._out[call_id] = place, decision.ticket
        return decision

    def see(self, event: Event, at: float = 0.0) -> None:
        """Take in an event that is an input of the board; every other one is nothing to it.

        Args:
            at: when it happened, in Unix time; for the table only.
        """
        match event:
            case ToolEnded():
                self._end(event, at)
            case StepStarted(step=step):
                self._settle()
                self.board.begin_step(step)
            case TurnStarted() | SessionResumed():
                self._settle()
                self.board.begin_cycle()
                if isinstance(event, TurnStarted) and event.prompt:
                    self.board.plan(())  # a new task; a turn without a prompt goes on with the old one
            case PlanChanged(items=items):
                self.board.plan(items)
            case ToolScored(tool=tool, score=score, why=why):
                self.board.score(tool, score, why)
            case BreakerCommanded(command=command, tool=tool) if not tool or self.board.knows(tool):
                self.board.command(command, tool)  # a tool that is gone since then has no breaker
            case DispatchLimitsSet(limits=limits):
                self.board.configure(limits)

    def _end(self, event: ToolEnded, at: float) -> None:
        out = self._out.pop(event.call_id, None)
        if out is None:
            return  # it was answered without being let through
        place, ticket = out
        result = event.failure or FINISHES.get(event.outcome, Finish.OK)
        self._ended.append((place, ticket, result, at))
        if not self._out:
            self._settle()

    def _settle(self) -> None:
        """The batch is over. What has no result by now will not get one: a probe among it is lost with its lease."""
        ended, self._ended = self._ended, []
        self._out.clear()
        self.board.record_batch(ended)


class Replay:
    """The board of a journal: decides again what was decided, and tells where it differs."""

    def __init__(self, board: Board, differs: Callable[[Dispatched, Decision], None] | None = None) -> None:
        """`differs` is told of a recorded decision that would now be another one, as after a change of the rules."""
        self.dispatcher = Dispatcher(board)
        self._differs = differs

    @property
    def board(self) -> Board:
        """The board as it stands after what was seen."""
        return self.dispatcher.board

    def see(self, event: Event, at: float = 0.0) -> tuple[Event, ...]:
        """Take in the next event of the journal; returns what the board has to say about it."""
        if isinstance(event, Dispatched):
            decision = self.dispatcher.decide(event.call_id, event.tool, event.place, event.parts)
            if self._differs and (decision.dispatch, decision.reason) != (event.dispatch, event.reason):
                self._differs(event, decision)
        else:
            self.dispatcher.see(event, at)
        return self.board.news()
