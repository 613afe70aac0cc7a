"""The one way to the tools: every call of a watched agent goes through here, and after the end none does.

The breaker is asked before each call, what a call brought goes back to it and to the detectors, and a
substitution puts another tool in the place of one. All of it leaves events.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from chapters.s22_loops.graph_agents.failures import class_of, failure_of
from chapters.s22_loops.graph_agents.protocols import Answer, Arguments, Tool
from harness.base.clock import Clock
from harness.events import (
    Alternative,
    BreakerCommand,
    BreakerCommanded,
    Dispatch,
    Dispatched,
    Event,
    StepStarted,
    ToolEnded,
    ToolOutcome,
    ToolStarted,
)
from harness.policies.breakers.capabilities import routes
from harness.policies.breakers.decisions import DispatchDecision
from harness.policies.breakers.dispatcher import RUNS, Dispatcher
from harness.policies.breakers.registry import BreakerRegistry
from harness.policies.loops.digests import action_of, result_of
from harness.policies.loops.observations import ObservedCall

LONGEST_SUMMARY = 60


class Tell(Protocol):
    """Where events go."""

    def __call__(self, event: Event) -> None:
        """This happened."""
        ...


Chance = Callable[[], float]
"""Gives numbers from 0 up to but not including 1."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A call as the agent asked for it."""

    tool: str
    arguments: Arguments
    action: str
    """The digest of both."""


@dataclass(frozen=True, slots=True)
class Made:
    """A call that was made, and what came of it."""

    asked: Asked
    call: ObservedCall
    answer: Answer
    place: int
    """Where it stands among the calls of its step, from 0."""


class Stopped(RuntimeError):  # noqa: N818 (reads better where it is raised)
    """A call was asked for after the end; it is not made."""


class Desk:
    """Takes the calls of one agent. What an agent is handed as its `Caller`."""

    def __init__(self, tools: Iterable[Tool], board: BreakerRegistry, clock: Clock, tell: Tell) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._board = board
        self._dispatcher = Dispatcher(board)
        self._clock = clock
        self._tell = tell
        self._step = 0
        self._asked = 0
        """Calls of this step."""
        self._number = 0
        self._made: list[Made] = []
        self._instead: dict[str, Alternative] = {}
        """What takes the place of a call, by its action."""
        self._closed = False
        self.refused: set[str] = set()
        """Tools that were asked for in this step while their breaker was open, or that of their substitute."""
        self.waited_s = 0.0
        """Pauses before calls that were made again."""
        self.failed = 0

    # ── what an agent does ──────────────────────────────────────────────────────────────────────

    async def __call__(self, tool: str, arguments: Arguments) -> Answer:
        """See `Caller`."""
        if tool not in self._tools:
            raise KeyError(tool)
        asked = Asked(tool, dict(arguments), action_of(tool, arguments))
        place, self._asked = self._asked, self._asked + 1
        return await self._call(asked, self._standing_in(asked), place)

    # ── what is done to it ──────────────────────────────────────────────────────────────────────

    def begin(self, step: int) -> None:
        """The next step begins."""
        self._step, self._asked = step, 0
        self._made.clear()
        self.refused.clear()
        self._happened(StepStarted(step))

    def made(self) -> Sequence[Made]:
        """The calls of this step so far, in the order in which they were asked for."""
        return sorted(self._made, key=lambda made: made.place)

    async def again(self, made: Made, delay_s: float) -> Made | None:
        """Make a call again after a pause; None: its breaker does not let it."""
        await self._clock.sleep(delay_s)
        self.waited_s += delay_s
        place, self._asked = self._asked, self._asked + 1
        await self._call(made.asked, made.answer.tool, place)
        return next((one for one in self._made if one.place == place), None)

    def open_breaker(self, tool: str) -> None:
        """From now on only probes of it get through."""
        self._happened(BreakerCommanded(BreakerCommand.TRIP, tool))

    def substitute(self, asked: Asked, route: Alternative) -> None:
        """From now on this call goes to another tool."""
        self._instead[asked.action] = route

    def route_round(self, asked: Asked) -> Alternative | None:
        """The best other tool for a call that has none in its place yet; None: there is none."""
        if asked.action in self._instead:
            return None
        found = routes(self._board.capabilities, asked.tool, self._board.viable)
        return next((route for route in found if route.tool in self._tools), None)

    def close(self) -> None:
        """The end: no call of any kind from here on."""
        self._closed = True

    @property
    def calls(self) -> int:
        """Calls that were made so far."""
        return self._number

    def tool(self, name: str) -> Tool:
        """The tool of that name. Raises KeyError."""
        return self._tools[name]

    # ── one call ────────────────────────────────────────────────────────────────────────────────

    def _standing_in(self, asked: Asked) -> str:
        """The tool that is called: the substitute, unless its breaker is open and that of the original is not."""
        route = self._instead.get(asked.action)
        if route is None or (self._board.viable(asked.tool) and not self._board.viable(route.tool)):
            return asked.tool
        return route.tool

    async def _call(self, asked: Asked, tool: str, place: int) -> Answer:
        if self._closed:
            raise Stopped(f"{tool} was asked for after the end; nothing is called any more")
        call_id = f"{self._step}.{place + 1}"
        decision = self._dispatcher.decide(call_id, tool, place)
        self._happened(_dispatched(call_id, tool, place, decision))
        if decision.dispatch not in RUNS:
            self.refused |= {asked.tool, tool}
            return Answer(ok=False, text=f"{tool} was not called: its breaker is open", tool=tool, called=False)
        return await self._run(asked, self._tools[tool], place, call_id)

    async def _run(self, asked: Asked, tool: Tool, place: int, call_id: str) -> Answer:
        summary = _summary(tool.name, asked.arguments)
        self._number += 1
        number = self._number
        self._tell(ToolStarted(call_id, tool.name, summary, dict(asked.arguments)))
        began = self._clock.now()
        error: Exception | None = None
        try:
            text = await tool.run(asked.arguments)
        except Exception as raised:  # noqa: BLE001 (the border to tools of others: whatever they raise is a failure)
            error, text = raised, str(raised) or type(raised).__name__
        took = self._clock.now() - began
        failure = None if error is None else failure_of(error, tool.name)
        outcome = ToolOutcome.OK if failure is None else ToolOutcome.BROKEN
        self._happened(ToolEnded(call_id, tool.name, outcome, _line(text), took, failure=failure))
        self.failed += failure is not None
        answer = Answer(ok=failure is None, text=text, tool=tool.name)
        call = ObservedCall(
            number,
            self._step,
            self._clock.now() - self.waited_s,
            self._clock.now(),
            call_id,
            tool.name,
            asked.action if tool.name == asked.tool else action_of(tool.name, asked.arguments),
            result_of(text),
            answer.ok,
            failure.signature if failure else "",
            class_of(error) if error is not None else None,
            mutates=tool.mutates,
            idempotent=tool.idempotent,
            poll=tool.poll,
            summary=summary,
        )
        self._made.append(Made(asked, call, answer, place))
        return answer

    def _happened(self, event: Event) -> None:
        """Tell it, show it to the breakers, and tell what became of them."""
        self._tell(event)
        self._dispatcher.on_event(event, self._clock.now())
        for news in self._board.drain_events():
            self._tell(news)


def _dispatched(call_id: str, tool: str, place: int, decision: DispatchDecision) -> Dispatched:
    detail = "" if decision.dispatch is Dispatch.CALL else decision.reason.value.replace("_", " ")
    return Dispatched(
        call_id, tool, decision.dispatch, decision.reason, decision.ticket.generation, place, detail,
        caution=decision.caution,
    )  # fmt: skip


def _summary(tool: str, arguments: Arguments) -> str:
    return _line(f"{tool}({', '.join(f'{name}={value}' for name, value in arguments.items())})")


def _line(text: str) -> str:
    """The first line, not too long."""
    first = text.strip().partition("\n")[0]
    return first if len(first) <= LONGEST_SUMMARY else f"{first[: LONGEST_SUMMARY - 1]}…"
