"""The wait of a request for the other sessions that ask the same model."""

import asyncio
import random
from collections.abc import Callable
from dataclasses import replace

from harness.base.clock import time_of_day
from harness.base.concurrency import race
from harness.engine.core import AgentCore
from harness.events import Fault, FaultKind, HoldReason, RequestHeld
from harness.policies.admission.shared_endpoint import Hold, RequestAsk
from harness.policies.recovery import TurnState

LOOK_AGAIN_S = (0.1, 0.2)
"""Shortest and longest delay after which the first request of the queue asks again; those behind it ask less often."""
SLOWEST_LOOK_S = 2.0
"""Longest delay of all; less than their lease."""

UNSAID_S = 0.3
"""A shorter wait is not reported."""


async def admitted(
    core: AgentCore, state: TurnState, ask: RequestAsk, report: Callable[[], None], *, summary: bool
) -> Fault | None:
    """Wait until the request may go out; a fault instead where it is not to be sent.

    Args:
        report: emits the limits that have changed.
        summary: no turn waits that could continue with a fallback.
    """
    endpoints, signals, said = core.shared.endpoints, core.signals, None
    ask = replace(ask, fallback=bool(state.fallbacks) and not summary)
    wishes = (signals.interrupt, signals.retry_now, *((signals.other_model,) if ask.fallback else ()))
    began = asyncio.get_running_loop().time()
    try:
        while (hold := await endpoints.ask(state.model, ask, core.limits.endpoint)) is not None:
            until = None if hold.until is None else core.clock.now() + max(0.0, hold.until - endpoints.time())
            waited = asyncio.get_running_loop().time() - began
            if fault := _not_sent(core, state, ask, replace(hold, until=until), waited):
                endpoints.leave(state.model, ask, None, waited=True)
                return fault
            report()
            if said != hold.why and waited > UNSAID_S:
                said = hold.why
                signals.retry_now.clear()
                core.conversation.emit(RequestHeld(state.model, hold.why, until, hold.before))
            look = random.uniform(*LOOK_AGAIN_S) * (1 + hold.before if hold.why is HoldReason.LIMIT else 4)
            await race(core.clock.sleep(min(SLOWEST_LOOK_S, look)), *(wish.wait() for wish in wishes))
            ask = replace(ask, early=ask.early or signals.retry_now.is_set())
            signals.retry_now.clear()
    except asyncio.CancelledError:
        endpoints.leave(state.model, ask, None, waited=True)
        raise
    return None


def _not_sent(core: AgentCore, state: TurnState, ask: RequestAsk, hold: Hold, waited: float) -> Fault | None:
    """The fault that ends the wait; None: it goes on."""
    if core.signals.interrupt.is_set():
        return Fault(FaultKind.CANCELLED, "interrupted")
    left = 0.0 if hold.until is None else hold.until - core.clock.now()
    if hold.why is HoldReason.RETRY_AFTER and left > core.limits.long_wait_s:
        text = "the server asked another session to wait"
        return Fault(FaultKind.RATE_LIMIT, text, retry_after_s=left, unsent=True)
    if ask.fallback and core.signals.other_model.is_set():
        return Fault(FaultKind.OVERLOADED, "chosen instead of waiting", unsent=True)
    if hold.why not in (HoldReason.OPEN, HoldReason.PROBE):
        return None
    if ask.fallback or waited > core.limits.waiting_per_turn_s:
        when = "" if hold.until is None else f" before {time_of_day(hold.until)}"
        text = f"another session found {state.model} overloaded; it is not asked again{when}"
        if hold.why is HoldReason.PROBE:
            text = f"{state.model} was overloaded, and another request tests whether it still is"
        return Fault(FaultKind.OVERLOADED, text, unsent=True)
    return None
