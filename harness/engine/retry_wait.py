"""The wait before a retry, and what ends it."""

from typing import Literal

from harness.base.concurrency import race
from harness.engine.core import AgentCore
from harness.events import Fault, RetryEnded, RetryScheduled
from harness.policies.recovery import RetryWait

WaitEnd = Literal["due", "asked", "switched", "interrupted"]
"""Why a wait for a retry is over."""


async def wait_for_retry(
    core: AgentCore, wait: RetryWait, fault: Fault, *, scope: Literal["model", "compaction"]
) -> WaitEnd:
    """Announce a retry and wait for it. Returns why the wait is over.

    A user who dropped a silent connection gets the next attempt at once.
    """
    clock, signals = core.clock, core.signals
    core.conversation.emit(
        RetryScheduled(
            scope=scope,
            category=wait.category,
            attempt=wait.retry,
            max_attempts=wait.most or core.limits.retries_per_request,
            delay_s=wait.seconds,
            retry_at=clock.now() + wait.seconds,
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
    core.conversation.emit(RetryEnded(why))
    return why
