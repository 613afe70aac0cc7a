"""The shop of s21 behind the learner's breaker: asked before each call, and given each result."""

import asyncio
from collections.abc import Callable
from contextlib import aclosing, suppress
from dataclasses import replace
from types import ModuleType
from typing import Any

from chapters.course import DemoSession
from chapters.s21_circuit_breakers.demo import Shop, shop_tools
from harness import Policies
from harness.events import (
    BreakerChanged,
    BreakerState,
    ChangeReason,
    DispatchLimits,
    FailureCharged,
    StepStarted,
)
from harness.hooks import HookAnswer, HookCall, hook
from harness.tools import Effect, tool
from harness.tools.tool import Tool

NEVER = DispatchLimits(threshold=10_000, budget=10_000)
"""Our own breakers stay closed."""
AWAY = frozenset({1, 3, 4, 5, 8})
"""Steps at which the server of the shop does not listen."""
PATIENCE_S = 1.0


class Watched:
    """The learner's breaker for one tool; each change is shown."""

    def __init__(self, session: DemoSession, work: ModuleType) -> None:
        self.step = 0
        self.failed = asyncio.Event()
        """A call of this step has failed."""
        self.errors: list[Exception] = []
        self._session = session
        self._work = work
        self._breaker = work.Breaker()
        self._generations: dict[str, int] = {}

    def begin(self, step: int) -> None:
        """A step begins."""
        self.step = step
        self.failed.clear()

    async def before(self, call: HookCall) -> HookAnswer | None:
        """Ask the learner whether this call may run."""
        after, allowed = self._kept(self._work.allow, self._breaker, self.step)
        self._change(after, "step")
        if not allowed:
            return HookAnswer(block=f"{call.tool} is not called now: its breaker is {after.state}")
        self._generations[call.call_id] = after.generation
        return None

    async def after(self, call: HookCall) -> None:
        """Give the learner the result of a call that ran."""
        if call.call_id in self._generations:
            ok, generation = call.outcome == "ok", self._generations.pop(call.call_id)
            self._change(self._kept(self._work.record, self._breaker, ok, generation, self.step), "result")
            if not ok:
                self.failed.set()

    def _kept(self, function: Callable[..., Any], *given: Any) -> Any:
        try:
            return function(*given)
        except Exception as error:
            self.errors.append(error)
            raise

    def _change(self, after: Any, on: str) -> None:
        before, self._breaker = self._breaker, after
        if before == after:
            return
        old, new = BreakerState(before.state), BreakerState(after.state)
        due = after.due if new is BreakerState.OPEN else None
        why = _why(old, new)
        self._session.show(BreakerChanged("stock", old, new, why, after.failures, after.generation, self.step, due, on))


def _why(old: BreakerState, new: BreakerState) -> ChangeReason:
    match old, new:
        case BreakerState.HALF_OPEN, BreakerState.OPEN:
            return ChangeReason.PROBE_FAILED
        case BreakerState.HALF_OPEN, BreakerState.CLOSED:
            return ChangeReason.PROBE_SUCCEEDED
        case _, BreakerState.OPEN:
            return ChangeReason.THRESHOLD
        case _, BreakerState.HALF_OPEN:
            return ChangeReason.PROBE_GIVEN
        case _:
            return ChangeReason.FAILED


def _archive_tool(watched: Watched) -> Tool:
    """A slow tool of the same shop: it answers only after another call of its step has failed."""

    @tool(effect=Effect.READ, parallel=True)
    async def archive(item: str) -> str:
        """How many pieces of an item the archive of the shop lists."""
        with suppress(TimeoutError):
            await asyncio.wait_for(watched.failed.wait(), PATIENCE_S)
        return f"0 old pieces of {item}"

    return archive


async def demo(session: DemoSession, work: ModuleType) -> None:
    """An agent whose tool `stock` and its archive have the learner's breaker and no other."""
    shop, watched = Shop(), Watched(session, work)
    await shop.open()
    hooks = [
        hook("before_tool", tools="stock|archive", required=True, name="allow")(watched.before),
        hook("after_tool", tools="stock|archive", name="record")(watched.after),
    ]
    tools, policies = (
        [*(replace(one, parallel=True) for one in shop_tools(shop)), _archive_tool(watched)],
        Policies(breakers=NEVER),
    )
    settings = session.settings(loop_intervention=False)
    try:
        async with session.agent(settings, tools=tools, hooks=hooks, policies=policies) as agent:
            async for prompt in session.prompts():
                async with aclosing(agent.run(prompt)) as events:
                    async for event in events:
                        if watched.errors:
                            raise watched.errors[0]
                        if isinstance(event, StepStarted):
                            watched.begin(event.step)
                            await (shop.close() if event.step in AWAY else shop.open())
                        if not isinstance(event, BreakerChanged | FailureCharged):
                            session.show(event)
    finally:
        await shop.close()
