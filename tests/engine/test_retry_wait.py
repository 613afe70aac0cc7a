"""The wait before a retry: how it is announced, and what ends it."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from harness.engine.conversation import Conversation
from harness.engine.core import Signals
from harness.engine.retry_wait import wait_for_retry
from harness.events import Event, Fault, FaultKind, RetryEnded, RetryScheduled
from harness.policies.recovery import RecoveryLimits, RetryWait
from tests.engine.cores import core_in
from tests.engine.hand_clock import HandClock, quiet

pytestmark = pytest.mark.anyio


Waiting = Callable[..., "asyncio.Task[str]"]


@pytest.fixture
def waiting(tmp_path: Path) -> Waiting:
    """Begins a wait of ten seconds."""

    def begin(
        signals: Signals, clock: HandClock, events: list[Event] | None = None, error_code: str | None = None
    ) -> "asyncio.Task[str]":
        told: list[Event] = [] if events is None else events
        core = replace(core_in(tmp_path, Conversation(told.append), clock=clock), signals=signals)
        fault = Fault(FaultKind.NETWORK, "refused", error_code=error_code)
        wait = RetryWait(10.0, 1, FaultKind.NETWORK)
        return asyncio.create_task(wait_for_retry(core, wait, fault, scope="model"))

    return begin


async def test_retry_now_that_was_pressed_before_a_wait_does_not_end_it(waiting: Waiting) -> None:
    signals, clock, events = Signals(), HandClock(), list[Event]()
    signals.retry_now.set()
    task = waiting(signals, clock, events)
    await quiet()
    assert not task.done()
    clock.move(10.0)
    assert await task == "due"
    assert [event.why for event in events if isinstance(event, RetryEnded)] == ["due"]
    assert clock.sleepers == []


async def test_retry_now_that_dropped_a_silent_connection_ends_the_wait_behind_it(waiting: Waiting) -> None:
    signals = Signals()
    signals.retry_now.set()
    assert await waiting(signals, HandClock(), error_code="reconnect_asked") == "asked"


@pytest.mark.parametrize(
    ("pressed", "why"),
    [("interrupt", "interrupted"), ("other_model", "switched"), ("retry_now", "asked")],
)
async def test_each_request_ends_a_wait_and_leaves_no_timer(waiting: Waiting, pressed: str, why: str) -> None:
    signals, clock = Signals(), HandClock()
    task = waiting(signals, clock)
    await quiet()
    getattr(signals, pressed).set()
    assert await task == why
    await quiet()
    assert clock.sleepers == []


@pytest.mark.parametrize(("most", "announced"), [(3, 3), (None, RecoveryLimits().retries_per_request)])
async def test_a_wait_is_announced_with_its_attempts_its_end_and_its_fault(
    tmp_path: Path, most: int | None, announced: int
) -> None:
    clock, events = HandClock(), list[Event]()
    clock.time = 1_000.0
    core = core_in(tmp_path, Conversation(events.append), clock=clock)
    signals = core.signals
    task = asyncio.create_task(
        wait_for_retry(
            core,
            RetryWait(10.0, 2, FaultKind.OVERLOADED, **({} if most is None else {"most": most})),
            Fault(FaultKind.OVERLOADED, "overloaded", status=529, request_id="req_1"),
            scope="compaction",
        )
    )
    await quiet()
    assert events == [
        RetryScheduled(*("compaction", FaultKind.OVERLOADED, 2, announced, 10.0, 1_010.0, 529, "req_1", "overloaded"))
    ]
    signals.other_model.set()  # a summary has no other model
    await quiet()
    assert not task.done()
    clock.move(10.0)
    assert await task == "due"
    assert events[1:] == [RetryEnded("due")]
