"""Every fault, at every place, in every kind of reply: the turn is answered, whole and once.

`HARNESS_TEST_WHOLE=1` plays all of the grid; otherwise a part of it is played that has every kind of fault and
every shape of reply, and every place between them.
"""

import asyncio
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from harness.agent import Agent
from harness.engine.conversation import Conversation, ignore
from harness.events import TransitionCode
from harness.practice.faults.model_faults import KINDS
from harness.practice.server import PracticeServer
from harness.practice.wire.recorded import RecordedRequest
from harness.tools.tool import Tool, tool
from tests.agent.fault_grid import PASSING_STATUSES, SHAPES, Cell, Model, Shape, cells_of, cells_of_status, script
from tests.agent.stage import Played, VirtualClock, check_events, check_requests, played, settings_of, shown_text
from tests.whole import WHOLE

pytestmark = pytest.mark.anyio

AT_ONCE = 2
"""Agents that work at the same time."""
SILENT_AT_ONCE = 16
"""The same where they wait in real time."""
IMPATIENT: dict[str, object] = {
    f"watch_{limit}_s": 0.8 for limit in ("headers", "quiet_bytes", "quiet_event", "content_bytes", "content_event")
}
SILENT = {"stall", "pings_only"}


def shape_names(shapes: Sequence[Shape]) -> str:
    """Names of the shapes of a test."""
    return shapes[0].name if len(shapes) == 1 else "every shape"


@pytest.mark.parametrize("shapes", [[shape] for shape in SHAPES] if WHOLE else [SHAPES], ids=shape_names)
@pytest.mark.parametrize("kind", KINDS)
async def test_a_fault_anywhere_in_a_stream_costs_at_most_one_request(
    kind: str, shapes: Sequence[Shape], tmp_path: Path
) -> None:
    assert await wrong(cells_of(kind, shapes), tmp_path, silent=kind in SILENT) == []


@pytest.mark.parametrize("status", PASSING_STATUSES)
async def test_a_status_with_any_header_costs_one_request(status: int, tmp_path: Path) -> None:
    assert await wrong(cells_of_status(status), tmp_path) == []


async def wrong(cells: Sequence[Cell], folder: Path, *, silent: bool = False) -> list[str]:
    """Play the cells; say of each one that went wrong what did. `silent`: their server is, for a while."""
    values, at_once = (IMPATIENT, SILENT_AT_ONCE) if silent else ({}, AT_ONCE)
    left = list(cells)
    found: list[str] = []
    async with PracticeServer(Model(cells), script=script(cells), remember=100_000) as server:
        settings = settings_of(folder, server.base_url, **values).settings

        async def work() -> None:
            conversation = Conversation(ignore)
            async with Agent(
                settings, tools=[note_tool(folder)], standard=(), clock=VirtualClock(), conversation=conversation
            ) as agent:
                while left:
                    cell = left.pop()
                    turn = await played(agent.run(cell.prompt))
                    said = [message.text for message in conversation.messages if message.role == "assistant"]
                    posts = [post for post in server.requests if cell.key in str(post.body["messages"][0])]
                    found.extend(f"{cell}: {problem}" for problem in problems(cell, turn, posts, said, folder))
                    agent.parts.user_commands.clear()

        async with asyncio.TaskGroup() as workers:
            for _ in range(min(at_once, len(cells))):
                workers.create_task(work())
    return found


def problems(
    cell: Cell, turn: Played, posts: Sequence[RecordedRequest], said: Sequence[str], folder: Path
) -> list[str]:
    """The faults of the turn of a cell."""
    found = []
    if turn.end.code is not TransitionCode.COMPLETED:
        found.append(f"ended with {turn.end.code}: {turn.end.reason}")
    if turn.end.answer != cell.shape.answer:
        found.append(f"answered {turn.end.answer!r}")
    ran = noted(folder, cell)
    if ran != Counter(cell.marker(call) for call in cell.shape.calls):
        found.append(f"ran {dict(ran)}")
    if not cell.shape.requests <= len(posts) <= cell.most_requests:
        found.append(f"took {len(posts)} requests: {turn.codes}")
    if shown_text(turn.events) != "".join(said):
        found.append(f"shown {shown_text(turn.events)!r}, kept {said}")
    try:
        check_requests(posts)
        check_events(turn.events, len(posts))
    except AssertionError as error:
        found.append(str(error))
    return found


def note_tool(folder: Path) -> Tool:
    """A tool whose effect can be counted."""

    @tool
    async def note(marker: str) -> str:
        """Leave a note."""
        with (folder / "notes.txt").open("a") as file:
            file.write(f"{marker}\n")
        return f"noted {marker}"

    return note


def noted(folder: Path, cell: Cell) -> Counter[str]:
    """The notes that were left in the turn of a cell, and how often each."""
    file = folder / "notes.txt"
    lines = file.read_text().splitlines() if file.exists() else []
    return Counter(line for line in lines if line.startswith(f"{cell.number}-"))
