"""An agent that asks again and again how something stands is advised and held up, and is no agent in a loop."""

from pathlib import Path

import pytest

from harness.events import Event, LoopFound, MessageAdded, Notice, Origin, ToolEnded, TransitionCode
from tests.agent.stage import Played, calls, says, stage
from tests.agent.test_tool_rounds import call

pytestmark = pytest.mark.anyio


def notices(turn: Played) -> list[str]:
    return [event.text for event in turn.of(Notice)]


async def test_a_wait_is_advised_then_stretched_and_the_turn_ends_as_usual(tmp_path: Path) -> None:
    script = calls(call("bash", command="sleep 0; cat status")) * 10 + says("It is still running.")
    async with stage(tmp_path, script) as here:
        (here.workspace / "status").write_text("running\n")
        turn = await here.turn()
        assert turn.end.code is TransitionCode.COMPLETED
        assert turn.of(LoopFound) == []
        assert here.clock.waits == pytest.approx([2, 4, 8, 32, 60], abs=0.1)
        assert [text.partition(": ")[2] for text in notices(turn)] == [
            "the model is advised how",
            *(f"pausing for {seconds} s before it may ask again" for seconds in (2, 4, 8)),
            "the model is advised how",
            *(f"pausing for {seconds} s before it may ask again" for seconds in (32, 60)),
        ]
        nudges = [one.message.text for one in turn.of(MessageAdded) if one.origin is Origin.NUDGE]
        assert len(nudges) == 2
        assert "send what takes long to the background" in nudges[0]
        here.check()


async def test_a_wait_that_does_not_end_ends_the_turn_by_its_limit(tmp_path: Path) -> None:
    script = calls(call("bash", command="test -f done"), times='"forever"')
    async with stage(tmp_path, script) as here:
        turn = await here.turn()
        assert turn.end.code is TransitionCode.WAIT_LIMIT
        assert turn.end.reason.startswith("stopped waiting: bash test -f done gave the same answer ")
        assert sum(here.clock.waits) > 3_500
        assert len(turn.of(ToolEnded)) < 80
        assert turn.of(LoopFound) == []


async def test_an_interruption_ends_a_pause(tmp_path: Path) -> None:
    script = calls(call("bash", command="test -f done"), times='"forever"')
    async with stage(tmp_path, script) as here:

        def interrupt(event: Event) -> None:
            if isinstance(event, Notice) and "pausing" in event.text:
                here.agent.interrupt()

        turn = await here.turn(on_event=interrupt)
        assert turn.end.code is TransitionCode.ABORTED_TOOLS
        assert len(turn.of(ToolEnded)) == 5
