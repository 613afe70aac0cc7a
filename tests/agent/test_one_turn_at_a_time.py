"""An agent has one conversation, so its turns do not overlap."""

import asyncio
from pathlib import Path

import pytest

from harness.agent import Agent
from harness.events import TextDelta, TurnEnded, TurnStarted
from harness.practice.script import Script
from harness.practice.server import PracticeServer
from tests.agent.stage import played, says, settings_of, stage

pytestmark = pytest.mark.anyio


async def test_a_turn_asked_for_while_another_runs_comes_after_it(tmp_path: Path) -> None:
    async with stage(tmp_path, says("One.") + says("Two.")) as here:
        first, second = await asyncio.gather(here.turn("first"), here.turn("second"))
        assert (first.end.answer, second.end.answer) == ("One.", "Two.")
        for turn in (first, second):
            assert len(turn.of(TurnStarted)) == len(turn.of(TurnEnded)) == 1


async def test_a_loop_that_was_left_early_takes_nothing_from_the_next_turn(tmp_path: Path) -> None:
    script = Script.parse(says("The first of two answers.", event_delay="0.05") + says("Two."))
    async with PracticeServer(script=script) as server, Agent(settings_of(tmp_path, server.base_url).settings) as agent:
        async for event in agent.run("first"):
            if isinstance(event, TextDelta):
                break
        assert (await played(agent.run("second"))).end.answer == "Two."


async def test_a_turn_that_is_given_up_while_it_waits_for_another_never_begins(tmp_path: Path) -> None:
    async with stage(tmp_path, says("One.", event_delay="0.02") + says("Three.")) as here:
        first, second = asyncio.create_task(here.turn("first")), asyncio.create_task(here.turn("second"))
        await asyncio.sleep(0)
        second.cancel()
        assert (await first).end.answer == "One."
        assert (await here.turn("third")).end.answer == "Three."
        assert here.agent.conversation.turn == 2
