"""Watches an agent that is not ours: breakers before its calls, loop detection after them, advice between its steps.

    watch = Watch(["fetch"])
    with watch.call("fetch", {"url": url}) as call:      raises CallRefused where the call must not run
        call.result = fetch(url)                         an exception is a failure, and is raised again
    if advice := watch.step():                           the mildest intervention that is due, or None
        ...

The agent carries the advice out; a stop is enforced here, because no further call is let through. Each call, loop and
intervention is an event of `harness.events`, handed to `on_event`. See docs/library.md#watch-any-agent.
"""

import random
import threading
import time
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from operator import itemgetter

from harness.events import (
    Attempt,
    BreakerCommand,
    BreakerCommanded,
    Dispatch,
    Dispatched,
    DispatchLimits,
    ErrorClass,
    Event,
    Failure,
    FailureCategory,
    Intervened,
    Loop,
    LoopAnswered,
    LoopAsked,
    LoopChoice,
    Projection,
    RolledBack,
    Rung,
    StepStarted,
    StuckReported,
    ToolEnded,
    ToolOutcome,
    ToolStarted,
)
from harness.policies.breakers.capabilities import Capability, CapabilityMap, DeclaredAlternative, routes
from harness.policies.breakers.decisions import PauseTurn, Skip
from harness.policies.breakers.dispatcher import Dispatcher
from harness.policies.breakers.failure_signature import signature_of
from harness.policies.breakers.messages import paused, skipped
from harness.policies.breakers.registry import BreakerRegistry
from harness.policies.loops import messages
from harness.policies.loops.detector_set import DetectorsSnapshot
from harness.policies.loops.digests import action_of, canonical, digest, result_of
from harness.policies.loops.error_classes import classify
from harness.policies.loops.ladder import Abilities
from harness.policies.loops.limits import LoopLimits
from harness.policies.loops.monitor import LoopAction, LoopMonitor
from harness.policies.loops.observations import ObservedCall, Poll, Visit

LONGEST_SUMMARY = 60
"""Characters of a call or a result in one line."""
SNAPSHOTS = 100
"""Steps that the detectors can be rolled back."""
_PLACES = (Projection.NODE, Projection.STATE)


class CallRefused(Exception):  # noqa: N818 (reads better where it is caught)
    """A call that must not run: its breaker is open, another tool replaces it, no such tool, or the agent was stopped.

    The text is written for the model of the agent, with alternatives where there are any.
    """


@dataclass(frozen=True, slots=True)
class Advice:
    """The intervention that is due, for the agent to carry out."""

    rung: Rung
    loop: Loop
    text: str
    """For the model: what repeats, and what to do now. Of a stop: the reason, for the user."""
    since: int
    """The step in which the loop began."""
    tool: str = ""
    """The tool to call again or to use instead, or whose breaker was opened; empty for the other rungs."""
    delay_s: float = 0.0
    """Seconds to wait before the retry."""


@dataclass(slots=True)
class WatchedCall:
    """A running call. Set `result`, or `error` where the failure is not raised."""

    tool: str
    arguments: Mapping[str, object]
    result: object = ""
    error: Exception | None = None


@dataclass(slots=True)
class _Step:
    """The calls of the current step."""

    begun: bool = False
    asked: int = 0
    ended: list[tuple[int, ObservedCall]] = field(default_factory=list)
    """Finished calls, each with its position in the step, from 0."""
    refused: set[str] = field(default_factory=set)
    """Tools whose calls did not run."""


class Watch:
    """Watches one agent. It needs no event loop and starts no thread; calls may overlap, also in several threads."""

    def __init__(
        self,
        tools: Iterable[str],
        *,
        alternatives: Mapping[str, Mapping[str, str]] | None = None,
        loops: LoopLimits | None = None,
        breakers: DispatchLimits | None = None,
        on_event: Callable[[Event], None] | None = None,
        clock: Callable[[], float] = time.time,
        chance: Callable[[], float] = random.random,
    ) -> None:
        """
        Args:
            tools: names of the tools of the agent.
            alternatives: for a tool the tools that can replace it, each with what is lost.
            loops: what counts as a loop, and how often each intervention is tried.
            breakers: when a failing tool is left alone, and the failure budget of a task.
            on_event: receives each event.
            clock: Unix time in seconds.
            chance: a random number in [0, 1), for the pause before a retry.
        """
        if isinstance(tools, str):
            raise TypeError(f"tools is a list of names, not the text {tools!r}")
        known, replaced = tuple(tools), alternatives or {}
        named = {*replaced, *(other for others in replaced.values() for other in others)}
        if unknown := sorted(named.difference(known)):
            raise ValueError(f"alternatives names tools that are not in tools: {', '.join(unknown)}")
        capabilities = CapabilityMap(
            Capability(
                tool,
                tool,
                f"do without {tool}",
                tuple(
                    DeclaredAlternative(other, f"use {other}", loss) for other, loss in replaced.get(tool, {}).items()
                ),
            )
            for tool in known
        )
        self.breakers = BreakerRegistry(known, capabilities, breakers)
        """The breakers; `breakers.rows()` is the table of the panel."""
        self.loops = LoopMonitor(loops)
        """The detectors and the ladder; `loops.status()` is what `/loops` shows."""
        self._lock = threading.RLock()
        self._refusal = ""
        """Why no call runs; empty: calls run."""
        self._dispatcher = Dispatcher(self.breakers)
        self._on_event = on_event
        self._clock = clock
        self._chance = chance
        self._number = 1
        self._step = _Step()
        self._observations = 0
        self._call_steps: list[int] = []
        self._visit_steps: list[int] = []
        """The step of each observation, for the beginning of a loop."""
        self._snapshots: dict[int, DetectorsSnapshot] = {}
        self._tried: list[Intervened] = []
        self._last: dict[str, ObservedCall] = {}
        """The last call of each tool, the newest last."""
        self._came_back = ""

    @property
    def stopped(self) -> bool:
        """The ladder ended with a stop, or the failure budget is used up; only `new_task` lets calls through again."""
        return bool(self._refusal)

    # ── what the agent reports ──────────────────────────────────────────────────────────────────

    @contextmanager
    def call(
        self,
        tool: str,
        arguments: Mapping[str, object],
        *,
        repeatable: bool = False,
        mutates: bool = False,
        poll: Poll | None = None,
    ) -> Iterator[WatchedCall]:
        """Watch a call, which runs in the body of the `with` statement. Raises CallRefused where it must not run.

        Args:
            repeatable: calling it again with the same arguments does no harm; only then a retry is advised.
            mutates: it changes something outside the agent.
            poll: limits of a call that is meant to be repeated until something happens.
        """
        action = action_of(tool, arguments)
        summary = _line(f"{tool}({', '.join(f'{name}={value}' for name, value in arguments.items())})")
        with self._lock:
            self._begin()
            index, self._step.asked = self._step.asked, self._step.asked + 1
            call_id = f"{self._number}.{index + 1}"
            self._admit(call_id, tool, action, summary, index)
            self._emit(ToolStarted(call_id, tool, summary, dict(arguments)))
            began, call = self._clock(), WatchedCall(tool, arguments)
            seen = ObservedCall(
                *(0, self._number, began, began, call_id, tool, action, "", True),
                *("", None, "", "", mutates, repeatable, poll, summary),
            )
        try:
            yield call
        except Exception as error:
            call.error = error
            with self._lock:
                self._ended(index, call, seen)
            raise
        except BaseException:
            with self._lock:
                self._take(ToolEnded(call_id, tool, ToolOutcome.CANCELLED, "cancelled", self._clock() - began))
            raise
        with self._lock:
            self._ended(index, call, seen)

    def visit(self, place: str, state: object = None) -> None:
        """The agent reached a place of a graph, or stayed there without doing anything.

        Args:
            state: its state there, any value; None: unknown.
        """
        with self._lock:
            self._begin()
            self._observations += 1
            self._visit_steps.append(self._number)
            now, known = self._clock(), "" if state is None else digest(place, canonical(state))
            self._note(self.loops.visit(Visit(self._observations, self._number, now, now, place, known)))

    def step(self, *, explore: Sequence[str] = (), rollback: bool = False, human: bool = False) -> Advice | None:
        """End the step. Returns the intervention that is due, if any; it counts as carried out.

        Args:
            explore: paths out of a loop that the agent can take.
            rollback: the agent can return to the beginning of an earlier step.
            human: a user can be asked.
        """
        with self._lock:
            self._begin()
            calls = [call for _, call in sorted(self._step.ended, key=itemgetter(0))]
            if calls:
                self._call_steps.append(self._number)
                for call in calls:
                    self._last.pop(call.tool, None)
                    self._last[call.tool] = call
                self._note(self.loops.step(calls))
            for one in self.loops.status().loops:
                if self._step.refused.intersection(one.loop.tools):
                    self._note(self.loops.ignored(one.loop.signature, self._number))
            advice = self._advice(explore, rollback=rollback, human=human)
            self._number += 1
            self._step = _Step()
            return advice

    def answer(self, advice: Advice, choice: LoopChoice) -> None:
        """The answer of the user to the question about a loop."""
        answered = LoopAnswered(advice.loop.signature, LoopChoice(choice))
        with self._lock:
            self._emit(answered)
            self.loops.on_event(answered)

    def rolled_back(self, step: int, not_undone: Sequence[str] = ()) -> None:
        """The agent returned to the beginning of an earlier step; `not_undone`: effects that remain, one line each."""
        with self._lock:
            if step > max(self._snapshots, default=0):
                raise ValueError(f"step {step} has not begun, so the agent cannot return to it")
            snapshot = self._snapshots.get(step) or next(iter(self._snapshots.values()))
            self.loops.rolled_back(snapshot)
            for steps in (self._call_steps, self._visit_steps):
                del steps[bisect_left(steps, step) :]
            self._last.clear()
            self._emit(RolledBack(turn=1, step=step, not_undone=tuple(not_undone)))

    def new_task(self) -> None:
        """A new task of a user: calls are let through again, the ladder and the failure budget begin anew."""
        with self._lock:
            self._refusal = ""
            self._tried.clear()
            self.loops.new_prompt()
            self.breakers.begin_cycle()

    # ── before and after a call ─────────────────────────────────────────────────────────────────

    def _begin(self) -> None:
        if self._step.begun:
            return
        self._step.begun = True
        self._take(StepStarted(self._number))
        self._snapshots[self._number] = self.loops.snapshot()
        while len(self._snapshots) > SNAPSHOTS:
            del self._snapshots[next(iter(self._snapshots))]

    def _admit(self, call_id: str, tool: str, action: str, summary: str, index: int) -> None:
        if self._refusal:
            raise CallRefused(self._refusal)
        if self.loops.kept_from(action):
            self._step.refused.add(tool)
            raise CallRefused(messages.not_made(summary, self._replacement(tool) or "another tool"))
        decision = self._dispatcher.decide(call_id, tool, index)
        detail = "" if decision.dispatch is Dispatch.CALL else decision.reason.value.replace("_", " ")
        made = (decision.dispatch, decision.reason, decision.permit.generation)
        self._emit(Dispatched(call_id, tool, *made, index, detail, caution=decision.caution))
        if isinstance(decision, PauseTurn):
            self._refusal = paused(decision)
            raise CallRefused(self._refusal)
        if isinstance(decision, Skip):
            self._step.refused.add(tool)
            row = next((row for row in self.breakers.rows() if row.tool == tool), None)
            raise CallRefused(skipped(decision, row))

    def _ended(self, index: int, call: WatchedCall, started: ObservedCall) -> None:
        now, error = self._clock(), call.error
        text = str(call.result) if error is None else str(error) or type(error).__name__
        failure = None if error is None else _failure(error, text, call.tool)
        outcome = ToolOutcome.OK if failure is None else ToolOutcome.BROKEN
        took = now - started.at
        self._take(ToolEnded(started.call_id, call.tool, outcome, _line(text), took, failure=failure))
        if started.step != self._number:
            return  # it outlived its step
        self._came_back = text
        self._observations += 1
        seen = replace(started, number=self._observations, at=now, wall=now, result=result_of(text), ok=failure is None)
        if error is not None and failure is not None:
            seen = replace(seen, error=failure.signature, error_class=_class(error, text), mutates=False)
        self._step.ended.append((index, seen))

    # ── advice ──────────────────────────────────────────────────────────────────────────────────

    def _advice(self, explore: Sequence[str], *, rollback: bool, human: bool) -> Advice | None:
        loop = self.loops.due
        if loop is None:
            return None
        failed = self._failed_in(loop)
        viable = failed is not None and self.breakers.viable(failed.tool)
        abilities = Abilities(
            retry=viable and failed is not None and failed.idempotent,
            explore=tuple(explore),
            substitute=self._replacement(failed.tool) if failed else "",
            rollback=rollback and loop.projection is not Projection.TEXT,
            breaker=viable,
            human=human,
        )
        action = self.loops.advise(abilities, self._chance())
        if action is None:
            return None
        tool, vetoed = "", ""
        if failed is not None and action.rung in (Rung.RETRY, Rung.BREAKER):
            tool = failed.tool
        elif failed is not None and action.rung is Rung.SUBSTITUTE:
            tool, vetoed = abilities.substitute, failed.action
        self._intervened(action, tool, vetoed)
        text = self._carried_out(action, tool, failed, explore)
        return Advice(action.rung, loop, text, self._began(loop), tool, action.delay_s)

    def _intervened(self, action: LoopAction, tool: str, vetoed: str) -> None:
        loop, what = action.loop, messages.taken(action.rung, tool)
        place = (loop.signature, loop.projection, action.rung, action.number, action.quota, self._number)
        event = Intervened(*place, what, tool, vetoed)
        self._tried.append(event)
        self._emit(event)
        self.loops.on_event(event)

    def _carried_out(self, action: LoopAction, tool: str, failed: ObservedCall | None, explore: Sequence[str]) -> str:
        """Carry out our part of an intervention. Returns the text for the agent."""
        loop = action.loop
        match action.rung:
            case Rung.RETRY:
                return f"Call {tool} once more after {action.delay_s:.2f} s: the failure may pass."
            case Rung.NUDGE:
                return messages.nudge(loop, self._came_back)
            case Rung.EXPLORE:
                return messages.other_ways(loop, explore)
            case Rung.SUBSTITUTE:
                return messages.other_tool(loop, failed.summary if failed else loop.summary, tool)
            case Rung.ROLLBACK:
                return messages.put_back(loop, self._came_back)
            case Rung.BREAKER:
                self._take(BreakerCommanded(BreakerCommand.TRIP, tool))
                return messages.tool_off(tool)
            case Rung.HUMAN:
                self._emit(LoopAsked(loop, tuple(LoopChoice)))
                return messages.question(loop)
            case Rung.STOP:
                self._refusal = "Not run: the agent was stopped because it was in a loop."
                tried = tuple(Attempt(one.rung, one.step, one.detail) for one in self._tried if one.rung != Rung.STOP)
                steps, next_steps = loop.period * loop.copies, messages.next_steps(loop, tried, attended=False)
                self._emit(StuckReported(loop, self._number, tried, steps, next_steps))
                return f"Stopped in a loop: {messages.described(loop)}. What you can do: {'; '.join(next_steps)}."

    def _failed_in(self, loop: Loop) -> ObservedCall | None:
        """The last call of a tool of the loop, if it failed."""
        last = next((call for call in reversed(self._last.values()) if call.tool in loop.tools), None)
        return last if last is not None and not last.ok else None

    def _replacement(self, tool: str) -> str:
        found = (route.tool for route in routes(self.breakers.capabilities, tool, self.breakers.viable))
        return next((name for name in found if name and self.breakers.knows(name)), "")

    def _began(self, loop: Loop) -> int:
        steps = self._visit_steps if loop.projection in _PLACES else self._call_steps
        back = loop.period * loop.copies
        return steps[-back] if back <= len(steps) else 1

    # ── events ──────────────────────────────────────────────────────────────────────────────────

    def _note(self, events: Iterable[Event]) -> None:
        for event in events:
            self._emit(event)

    def _take(self, event: Event) -> None:
        """Emit an input of the breakers, and what became of them."""
        self._emit(event)
        self._dispatcher.on_event(event, self._clock())
        for followed in self.breakers.drain_events():
            self._emit(followed)

    def _emit(self, event: Event) -> None:
        if self._on_event is not None:
            self._on_event(event)


def _failure(error: Exception, text: str, tool: str) -> Failure:
    match error:
        case TimeoutError():
            category = FailureCategory.TIMEOUT
        case FileNotFoundError() | PermissionError():
            category = FailureCategory.CANNOT_START
        case OSError() if not isinstance(error, ConnectionError):
            category = FailureCategory.SYSTEM
        case _:
            outside = isinstance(error, ConnectionError) or _status(error) is not None
            category = FailureCategory.TRANSPORT if outside else FailureCategory.CRASHED
    return Failure(category, text, signature_of(category, text, tool))


def _class(error: Exception, text: str) -> ErrorClass:
    code, errno = getattr(error, "code", None), error.errno if isinstance(error, OSError) else None
    known = code if isinstance(code, str) else None
    return classify(kind=type(error).__name__, errno=errno, status=_status(error), code=known, text=text)


def _status(error: Exception) -> int | None:
    """The status of HTTP, as most clients attach it to their exceptions."""
    found = getattr(error, "status", None) or getattr(error, "status_code", None)
    return found if isinstance(found, int) else None


def _line(text: str) -> str:
    """The first line, not too long."""
    first = text.strip().partition("\n")[0]
    return first if len(first) <= LONGEST_SUMMARY else f"{first[: LONGEST_SUMMARY - 1]}…"
