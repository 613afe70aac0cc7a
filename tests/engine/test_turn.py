"""What a user asks for while a turn runs holds for that turn, and for one wait."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from harness.engine.conversation import Conversation
from harness.engine.retry_wait import wait_for_retry
from harness.engine.turn import Signals
from harness.events import Event, Fault, FaultKind, RetryEnded
from harness.policies.recovery import RetryWait, TurnState
from tests.engine.cores import core_in
from tests.engine.hand_clock import HandClock, quiet

pytestmark = pytest.mark.anyio


def names(signals: Signals) -> list[str]:
    """The requests that are open."""
    every = ("interrupt", "retry_now", "reconnect", "other_model")
    return [name for name in every if getattr(signals, name).is_set()]


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
        return asyncio.create_task(wait_for_retry(core, wait, fault, TurnState("practice", ()), scope="model"))

    return begin


def test_a_new_turn_drops_every_request() -> None:
    signals = Signals()
    for name in ("interrupt", "retry_now", "reconnect", "other_model"):
        getattr(signals, name).set()
    signals.reset()
    assert names(signals) == []


def test_what_is_closed_stays_interrupted() -> None:
    signals = Signals()
    signals.close()
    signals.reset()
    assert names(signals) == ["interrupt"]


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
