"""Thinking that led to a call which was never made is not kept."""

from pathlib import Path

import pytest

from harness.events import Event, HistoryRepaired, ToolCallDelta
from tests.agent.stage import run, says, stage

pytestmark = pytest.mark.anyio


async def test_an_interruption_after_thinking_and_a_call_needs_no_repair(tmp_path: Path) -> None:
    script = f'\n[[reply]]\nthinking = "I need a tool."\ntools = [{run("one")}, {run("two")}]\nevent_delay = 0.01\n'
    async with stage(tmp_path, script + says("Well.")) as here:
        written: list[int] = []

        def stop_at_the_second_call(event: Event) -> None:
            if isinstance(event, ToolCallDelta):
                if event.characters == 0 and any(written):
                    here.agent.interrupt()
                written.append(event.characters)

        await here.turn(on_event=stop_at_the_second_call)
        assert any(written)
        assert (await here.turn("And?")).of(HistoryRepaired) == []
