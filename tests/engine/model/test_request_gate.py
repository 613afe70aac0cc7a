"""Agents of several sessions before one server: what one is told holds for all."""

import asyncio
from pathlib import Path

import pytest

from harness import Agent
from harness.events import (
    Event,
    HoldReason,
    ModelSwitched,
    RequestHeld,
    RequestLimitSet,
    RetryScheduled,
    TransitionCode,
    TurnEnded,
)
from harness.session import NoAsker, open_session
from tests.agent.stage import settings_of
from tests.fleet.busy_server import BusyServer
from tests.ui.commands.shown import shown_by

pytestmark = pytest.mark.anyio
LARGE, SMALL = "claude-opus-4-8", "claude-haiku-4-5"


def session(folder: Path, server: BusyServer, **values: object) -> Agent:
    return Agent(settings_of(folder, server.base_url, model=LARGE, **values).settings)


async def turn(agent: Agent, events: list[Event] | None = None) -> TurnEnded:
    seen: list[Event] = [] if events is None else events
    async for event in agent.run("hi"):
        seen.append(event)
    assert isinstance(seen[-1], TurnEnded)
    return seen[-1]


async def until(agent: Agent, kind: type[Event], events: list[Event]) -> None:
    """Run a turn as far as an event of this kind, in the background."""
    reached = asyncio.Event()

    async def run() -> None:
        async for event in agent.run("hi"):
            events.append(event)
            if isinstance(event, kind):
                reached.set()

    task = asyncio.create_task(run())
    await asyncio.wait_for(reached.wait(), 60)
    agent.interrupt()
    await task


async def test_one_retry_after_holds_every_session_and_is_reported_by_those_that_wait(tmp_path: Path) -> None:
    async with BusyServer(capacity=0, retry_after="3") as server:
        async with session(tmp_path, server) as one, session(tmp_path, server) as other:
            events, first = list[Event](), one.run("hi")
            async for event in first:
                if isinstance(event, RetryScheduled):
                    break
            server.capacity, refused = 8, server.log[0]
            await one.core.shared.endpoints.refresh()
            assert (await turn(other, events)).code is TransitionCode.COMPLETED
            await first.aclose()
        assert all(one.began - refused.began >= 2.9 for one in server.log[1:])
        held = [event for event in events if isinstance(event, RequestHeld)]
        assert [event.why for event in held] == [HoldReason.RETRY_AFTER]
        limits = [event for event in events if isinstance(event, RequestLimitSet)]
        assert (limits[0].limit, limits[0].most, limits[0].wait_until > 0) == (2, 5, True)


async def test_status_shows_the_limit_that_this_session_and_others_keep(tmp_path: Path) -> None:
    async with BusyServer(capacity=0, retry_after="3600") as server:
        loaded = settings_of(tmp_path, server.base_url, model=LARGE)
        async with await open_session(loaded, NoAsker()) as one, await open_session(loaded, NoAsker()) as other:
            assert "limits" not in await shown_by("/status", one)
            assert [event async for event in one.run("hi")]
            await one.endpoints.refresh()  # what the turn has left is written in the background
            assert f"limits       {LARGE}: at most 2 of 5 requests at a time, refused at" in await shown_by(
                "/status", one
            )
            assert "limits" not in await shown_by("/status", other)
            assert [event async for event in other.run("hi")]
            assert "; the server asked to wait until " in await shown_by("/status", other)


async def test_a_long_retry_after_ends_the_turn_of_another_session_without_a_request(tmp_path: Path) -> None:
    async with (
        BusyServer(capacity=0, retry_after="3600") as server,
        session(tmp_path, server) as one,
        session(tmp_path, server) as other,
    ):
        assert "3,600 s" in (await turn(one)).reason
        ended = await turn(other)
    assert ended.code is TransitionCode.API_ERROR
    assert "the server asked another session to wait" in ended.reason
    assert "--max-wait" in ended.reason
    assert len(server.log) == 1


async def test_an_open_breaker_sends_the_turn_of_another_session_to_its_fallback_at_once(tmp_path: Path) -> None:
    async with BusyServer() as server:
        server.overloaded.add(LARGE)
        async with session(tmp_path, server, fallback_models=(SMALL,)) as one:
            assert (await turn(one)).code is TransitionCode.COMPLETED
        server.log.clear()
        async with session(tmp_path, server, fallback_models=(SMALL,)) as other:
            events = list[Event]()
            assert (await turn(other, events)).code is TransitionCode.COMPLETED
    assert [one.model for one in server.log] == [SMALL]
    (switched,) = [event for event in events if isinstance(event, ModelSwitched)]
    assert "another session found claude-opus-4-8 overloaded; it is not asked again before" in switched.reason


async def test_a_request_that_waits_can_be_interrupted_and_leaves_the_queue(tmp_path: Path) -> None:
    async with BusyServer() as server:
        server.overloaded.add(LARGE)
        async with session(tmp_path, server, fallback_models=(SMALL,)) as one:
            await turn(one)
        server.log.clear()
        async with session(tmp_path, server) as other:
            events = list[Event]()
            await until(other, RequestHeld, events)
            ended = events[-1]
            assert isinstance(ended, TurnEnded)
            assert ended.code is TransitionCode.ABORTED_STREAMING
            await other.core.shared.endpoints.refresh()
            text = await other.core.shared.slots.change(other.core.shared.endpoints._name, lambda text: text)  # type: ignore[union-attr]
            assert '"requests": []' in (text or "")
    assert server.log == []
