"""Time limits of tool calls, and what becomes of calls that do not end."""

import asyncio
import os
import threading
from math import inf
from pathlib import Path
from typing import Any

import pytest

from harness.engine.tools.time_limits import CallStillRunning, TimeLimits
from harness.events import FailureCategory, ToolOutcome
from harness.tools import Effect, Tool, ToolContext, ToolResult, Workspace, standard_tools, tool
from harness.tools.files import on_disk

pytestmark = pytest.mark.anyio


class Limited:
    """Runs tools within small limits and keeps the reports."""

    def __init__(self, folder: Path, limit_s: float = 0.05) -> None:
        self.reports: list[str] = []
        self.told = asyncio.Event()
        self.limits = TimeLimits(limit_s, self._report, answer_s=0.05, close_s=0.1)
        self.context = ToolContext(Workspace(folder), folder / "outputs", "call")

    def _report(self, text: str) -> None:
        self.reports.append(text)
        self.told.set()

    async def run(self, tool: Tool, **input: Any) -> ToolResult:
        return await self.limits.run(tool, self.context, tool.parse(input))

    async def interrupted(self, tool: Tool, begun: asyncio.Event | None = None) -> asyncio.CancelledError:
        """The outcome of a call that is cancelled while it runs."""
        running = asyncio.create_task(self.run(tool))
        await (begun.wait() if begun else asyncio.sleep(0.02))
        running.cancel()
        try:
            await running
        except asyncio.CancelledError as error:
            return error
        raise AssertionError("it was not cancelled")


@pytest.fixture
async def limited(tmp_path: Path) -> Limited:
    return Limited(tmp_path)


class Door:
    """Blocks threads until it is opened."""

    def __init__(self) -> None:
        self.opened, self.passed = threading.Event(), threading.Event()

    def wait(self) -> str:
        self.opened.wait(60)
        self.passed.set()
        return "late"


@pytest.fixture
def door() -> Any:
    door = Door()
    yield door
    door.opened.set()


def blocking(door: Door) -> Tool:
    @tool(effect=Effect.READ)
    def blocks() -> str:
        """Blocks."""
        return door.wait()

    return blocks


@tool(effect=Effect.READ)
async def awaits() -> str:
    """Never ends."""
    await asyncio.Event().wait()
    return "never"


@tool(effect=Effect.READ)
async def stubborn() -> str:
    """Catches its cancellation."""
    while True:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            continue


@tool(effect=Effect.READ)
async def slow_to_end() -> str:
    """Takes a moment to end."""
    try:
        await asyncio.sleep(60)
    finally:
        await asyncio.sleep(0.08)
    return "never"


@pytest.mark.parametrize(("hanging", "ended"), [(awaits, True), (stubborn, False), (slow_to_end, False)])
async def test_an_async_tool_that_hangs_has_timed_out(hanging: Tool, ended: bool, limited: Limited) -> None:
    result = await limited.run(hanging)
    assert (result.outcome, result.category, result.summary) == (
        ToolOutcome.BROKEN,
        FailureCategory.TIMEOUT,
        "timed out after 0.05 s",
    )
    assert ("could not be ended" in result.content) is not ended


async def test_a_thread_that_blocks_is_given_up_and_its_late_end_reported_once(limited: Limited, door: Door) -> None:
    result = await limited.run(blocking(door))
    assert result.category is FailureCategory.TIMEOUT
    assert "late" not in result.content
    assert "still run and have an effect" in result.content
    assert limited.reports == []
    door.opened.set()
    await limited.told.wait()
    assert len(limited.reports) == 1
    assert limited.reports[0].startswith("blocks, which had been given up, ended ")


async def test_a_coroutine_that_catches_its_cancellation_is_closed(limited: Limited) -> None:
    assert isinstance(await limited.interrupted(stubborn), CallStillRunning)
    await asyncio.wait_for(limited.told.wait(), 60)
    assert not [task for task in asyncio.all_tasks() if "stubborn" in repr(task)]


async def test_a_disk_that_does_not_answer_is_given_up(limited: Limited) -> None:
    fifo = limited.context.workspace.root / "fifo"
    os.mkfifo(fifo)

    async def read(context: ToolContext, arguments: object) -> ToolResult:
        return await on_disk(lambda: ToolResult(fifo.read_text()))

    result = await limited.run(Tool("read", "Reads.", awaits.arguments, Effect.READ, read))
    assert result.category is FailureCategory.TIMEOUT
    fifo.write_text("late")
    await asyncio.wait_for(limited.told.wait(), 60)


async def test_a_write_that_is_interrupted_has_happened_when_the_call_ends(limited: Limited, door: Door) -> None:
    begun = asyncio.Event()
    loop = asyncio.get_running_loop()
    file = limited.context.workspace.root / "file"

    def write() -> ToolResult:
        loop.call_soon_threadsafe(begun.set)
        door.opened.wait(0.3)
        file.write_text("done")
        return ToolResult("")

    async def run(context: ToolContext, arguments: object) -> ToolResult:
        return await on_disk(write)

    slow = TimeLimits(60, limited.reports.append, answer_s=2)
    limited.limits = slow
    writing = Tool("write", "Writes.", awaits.arguments, Effect.WRITE, run)
    assert not isinstance(await limited.interrupted(writing, begun), CallStillRunning)
    assert file.read_text() == "done"


async def test_which_limit_holds(tmp_path: Path) -> None:
    @tool(timeout_s=7)
    def own() -> str:
        """Has a limit of its own."""
        return ""

    @tool(effect=Effect.DELEGATE)
    def agents() -> str:
        """Sets agents to work."""
        return ""

    limits = TimeLimits(120, print)
    bash = next(one for one in standard_tools() if one.name == "bash")
    assert [limits.limit_of(one) for one in (own, awaits, agents, bash)] == [7, 120, inf, inf]


@pytest.mark.parametrize("seconds", [0, -1, float("nan")])
def test_a_limit_that_no_call_could_keep_is_refused(seconds: float) -> None:
    with pytest.raises(ValueError, match="timeout_s must be above zero"):
        tool(timeout_s=seconds)


async def test_what_a_tool_raises_comes_through_and_a_cancellation_of_its_own_is_a_failure(limited: Limited) -> None:
    async def fails(context: ToolContext, arguments: object) -> ToolResult:
        raise KeyError("x")

    async def cancels(context: ToolContext, arguments: object) -> ToolResult:
        raise asyncio.CancelledError

    with pytest.raises(KeyError):
        await limited.run(Tool("fails", "", awaits.arguments, Effect.READ, fails))
    with pytest.raises(RuntimeError, match="cancelled itself"):
        await limited.run(Tool("cancels", "", awaits.arguments, Effect.READ, cancels))
