"""Tools that hang, in the real loop: the turn goes on, the prompt comes back, and the program ends."""

import asyncio
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.events import (
    BreakerChanged,
    BreakerState,
    Event,
    FailureCategory,
    Notice,
    ToolEnded,
    ToolOutcome,
    ToolStarted,
    TransitionCode,
)
from harness.tools import Effect, Tool, tool
from tests.agent.stage import calls, says, stage
from tests.agent.test_tool_rounds import call

pytestmark = pytest.mark.anyio


@pytest.fixture
def door() -> Iterator[threading.Event]:
    opened = threading.Event()
    yield opened
    opened.set()


def blocking(door: threading.Event, timeout_s: float | None = None) -> Tool:
    @tool(effect=Effect.READ, timeout_s=timeout_s)
    def fetch() -> str:
        """Fetch something."""
        door.wait(30)
        return "late"

    return fetch


async def test_a_tool_that_hangs_costs_its_time_limit_and_its_breaker_a_failure(
    tmp_path: Path, door: threading.Event
) -> None:
    script = calls(call("fetch")) * 4 + says("It does not answer.")
    async with stage(tmp_path, script, tools=[blocking(door, timeout_s=0.05)]) as here:
        turn = await here.turn()
        assert turn.end.code is TransitionCode.COMPLETED
        ended = turn.of(ToolEnded)
        assert [one.outcome for one in ended] == [*[ToolOutcome.BROKEN] * 3, ToolOutcome.SKIPPED]
        assert ended[0].failure is not None
        assert ended[0].failure.category is FailureCategory.TIMEOUT
        assert turn.of(BreakerChanged)[-1].after is BreakerState.OPEN
        assert turn.results[0]["content"].startswith("fetch timed out after 0.05 s, its time limit")


async def test_an_interruption_returns_at_once_and_the_late_end_is_a_notice_and_no_result(
    tmp_path: Path, door: threading.Event
) -> None:
    script = calls(call("fetch")) + says("Hello again.")
    async with stage(tmp_path, script, tools=[blocking(door)]) as here:
        took: list[float] = []

        def interrupt(event: Event) -> None:
            if isinstance(event, ToolStarted):
                took.append(time.monotonic())
                here.agent.interrupt()

        turn = await here.turn(on_event=interrupt)
        assert time.monotonic() - took[0] < 5
        assert turn.end.code is TransitionCode.ABORTED_TOOLS
        (ended,) = turn.of(ToolEnded)
        assert (ended.outcome, ended.summary) == (ToolOutcome.CANCELLED, "interrupted, still runs")
        before = len(here.recorded)
        told = asyncio.Event()
        here.agent.conversation.subscribe(lambda event: told.set() if isinstance(event, Notice) else None)
        door.set()
        await asyncio.wait_for(told.wait(), 10)
        (notice,) = [event for event in here.recorded[before:] if isinstance(event, Notice)]
        assert notice.text.startswith("fetch, which had been given up, ended ")
        assert not [event for event in here.recorded[before:] if isinstance(event, ToolEnded | BreakerChanged)]
        assert (await here.turn("hello")).end.code is TransitionCode.COMPLETED


PROGRAM = """
import asyncio, sys, time
from harness import Agent, tool
from harness.events import TurnEnded
from harness.tools import Effect

@tool(effect=Effect.READ, timeout_s=0.05)
def blocks() -> str:
    "Blocks."
    time.sleep(600)

@tool(effect=Effect.READ, timeout_s=0.05)
async def stubborn() -> str:
    "Catches its cancellation."
    while True:
        try:
            await asyncio.sleep(600)
        except asyncio.CancelledError:
            pass

async def main():
    async with Agent(tools=[blocks, stubborn], practice_script=sys.argv[1]) as agent:
        async for event in agent.run("go"):
            if isinstance(event, TurnEnded):
                print(event.code.value)

asyncio.run(main())
"""


def test_a_program_ends_although_its_tools_do_not(tmp_path: Path) -> None:
    script = tmp_path / "script.toml"
    script.write_text(calls(call("blocks"), call("stubborn")) + says("Both hang."))
    command = [sys.executable, "-c", PROGRAM, str(script)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=True)
    assert (done.stdout, done.stderr) == ("completed\n", "")
