"""Waits that are shown, and end early when somebody wishes it."""

import asyncio
from collections.abc import Awaitable
from typing import Literal, TypeVar

from harness.base.clock import Clock
from harness.engine.conversation import Conversation
from harness.events import Fault, RetryEnded, RetryScheduled
from harness.policies.recovery import RecoveryLimits, TurnState, Wait

T = TypeVar("T")
Ended = Literal["due", "asked", "switched", "interrupted"]
"""Why a wait for a retry is over."""


class Signals:
    """What a person can wish for while a turn runs. Each is set by the front end and read by the executor."""

    def __init__(self) -> None:
        self.interrupt = asyncio.Event()
        """End the turn."""
        self.retry_now = asyncio.Event()
        """Do not wait any longer."""
        self.reconnect = asyncio.Event()
        """Drop the silent connection and try again."""
        self.other_model = asyncio.Event()
        """Go on with the next fallback instead of waiting."""

    def reset(self) -> None:
        """Forget all wishes, before a new turn."""
        for signal in (self.interrupt, self.retry_now, self.reconnect, self.other_model):
            signal.clear()


async def pause(
    wait: Wait,
    fault: Fault,
    state: TurnState,
    limits: RecoveryLimits,
    *,
    scope: Literal["model", "compaction"],
    conversation: Conversation,
    clock: Clock,
    signals: Signals,
) -> Ended:
    """Announce a retry and wait for it. Returns why that is over: it is due, asked for, or not wanted any more.

    Whoever dropped a silent connection by hand wants the next one at once, not after a wait.
    """
    conversation.emit(
        RetryScheduled(
            scope=scope,
            category=wait.category,
            attempt=wait.retry,
            max_attempts=wait.most or limits.retries_per_request,
            delay_s=wait.seconds,
            retry_at=clock.now() + wait.seconds,
            elapsed_s=max(0.0, state.waited_s - wait.seconds),
            status=fault.status,
            request_id=fault.request_id,
            detail=fault.message,
        )
    )
    if fault.error_code != "reconnect_asked":
        signals.retry_now.clear()
    why = await _first(clock.sleep(wait.seconds), signals, heed_other_model=scope == "model")
    conversation.emit(RetryEnded(why))
    return why


async def _first(sleep: Awaitable[None], signals: Signals, *, heed_other_model: bool) -> Ended:
    due = asyncio.ensure_future(sleep)
    heeded = [signals.retry_now, signals.interrupt, *([signals.other_model] if heed_other_model else [])]
    wishes = [asyncio.ensure_future(wish.wait()) for wish in heeded]
    try:
        await asyncio.wait({due, *wishes}, return_when=asyncio.FIRST_COMPLETED)
        if signals.interrupt.is_set():
            return "interrupted"
        if heed_other_model and signals.other_model.is_set():
            return "switched"
        return "due" if due.done() else "asked"
    finally:
        for task in (due, *wishes):
            task.cancel()


async def unless(stop: asyncio.Event, work: Awaitable[T]) -> T | None:
    """The result of `work`, or None when `stop` is set first; then `work` is cancelled."""
    working, stopped = asyncio.ensure_future(work), asyncio.ensure_future(stop.wait())
    try:
        await asyncio.wait({working, stopped}, return_when=asyncio.FIRST_COMPLETED)
        return working.result() if working.done() else None
    finally:
        working.cancel()
        stopped.cancel()
