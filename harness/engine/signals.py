"""What a user can ask for while a turn runs, and the waits that these requests end."""

import asyncio
from typing import Literal

from harness.base.clock import Clock
from harness.base.race import race
from harness.engine.conversation import Conversation
from harness.events import Fault, RetryEnded, RetryScheduled
from harness.policies.recovery import RecoveryLimits, RetryWait, TurnState

WaitEnd = Literal["due", "asked", "switched", "interrupted"]
"""Why a wait for a retry is over."""


class Signals:
    """Requests of the user during a turn, set by the front end and read by the engine."""

    def __init__(self) -> None:
        self.interrupt = asyncio.Event()
        """End the turn."""
        self.retry_now = asyncio.Event()
        """End the wait for a retry."""
        self.reconnect = asyncio.Event()
        """Drop the silent connection and try again."""
        self.other_model = asyncio.Event()
        """Go on with the next fallback instead of waiting."""
        self._closed = False

    def close(self) -> None:
        """Interrupt this turn and every later one."""
        self._closed = True
        self.interrupt.set()

    def reset(self) -> None:
        """Clear all requests, before a new turn."""
        for signal in (self.interrupt, self.retry_now, self.reconnect, self.other_model):
            signal.clear()
        if self._closed:
            self.interrupt.set()


async def wait_for_retry(
    wait: RetryWait,
    fault: Fault,
    state: TurnState,
    limits: RecoveryLimits,
    *,
    scope: Literal["model", "compaction"],
    conversation: Conversation,
    clock: Clock,
    signals: Signals,
) -> WaitEnd:
    """Announce a retry and wait for it. Returns why the wait is over.

    A user who dropped a silent connection gets the next attempt at once.
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
    can_switch = scope == "model"
    requests = [signals.interrupt, signals.retry_now, *([signals.other_model] if can_switch else [])]
    due, *_ = await race(clock.sleep(wait.seconds), *(signal.wait() for signal in requests))
    why: WaitEnd = "asked" if due is None else "due"
    if signals.interrupt.is_set():
        why = "interrupted"
    elif can_switch and signals.other_model.is_set():
        why = "switched"
    conversation.emit(RetryEnded(why))
    return why
