"""Everything at once in one session: what it says of itself, and the order in which it ends."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.events import McpServerChanged, McpState
from harness.journal import read
from tests.agent.answering_user import AnsweringUser
from tests.agent.stage import calls, played, says, sessions
from tests.agent.test_permission_rules import bash
from tests.agent.test_task_board import call
from tests.mcp.conftest import practice
from tests.ui.commands.shown import shown_by

pytestmark = pytest.mark.anyio

WAITS = bash("until [ -e go ]; do sleep 0.05; done").replace("input = {", "input = { background = true,")
SCRIPT = (
    calls(call("schedule_create", when="0 9 * * *", prompt="Look at the log."), WAITS)
    + calls(call("task_create", tasks=[{"subject": "Look"}]))
    + says("Begun.")
    + says("Nine.")
)
EVERYTHING = {
    "board": "session",
    "team": True,
    "schedule_tools": True,
    "mcp_servers": {"p": practice()},
    "max_budget_usd": 2.5,
    "model": "claude-opus-5-5",
}


async def rounds_until(holds: Callable[[], bool]) -> None:
    """Let everything have its turn, until this holds."""
    while True:
        if holds():
            return
        await asyncio.sleep(0)


async def test_status_says_what_runs_what_waits_and_what_wakes_the_session(tmp_path: Path) -> None:
    async with sessions(tmp_path, SCRIPT, **EVERYTHING) as here, await here.open(asker=AnsweringUser()) as session:
        assert "wakes it     only you" in await shown_by("/status", session)
        await played(session.run("begin"))
        status = await shown_by("/status", session)
        assert "runs         b1 until [ -e go ]; do sleep 0.05; done" in status
        assert "tasks        1 ready" in status
        assert "p  ready, " in status
        assert " of $2.50\n" in status
        assert "wakes it     the end of a command, c1 " in status
        assert " 09:00 " in status
        (tmp_path / "workspace" / "go").touch()
        changed = asyncio.Event()
        session.inbox.notify(changed.set)
        await asyncio.wait_for(changed.wait(), 60)
        status = await shown_by("/status", session)
        assert "to read      1 command ended" in status
        assert "runs " not in status


async def test_the_clock_stops_before_what_runs_and_no_server_is_started_again(tmp_path: Path) -> None:
    async with sessions(tmp_path, SCRIPT, **EVERYTHING) as here:
        session = await here.open(asker=AnsweringUser())
        await played(session.run("begin"))
        closing = asyncio.create_task(session.aclose())
        await rounds_until(lambda: not session.background.scheduling)
        assert [row.end for row in session.background.commands.rows] == [None]
        await closing
        assert [row.end is None for row in session.background.commands.rows] == [False]
        changes = [one.event for one in read(session.path).records if isinstance(one.event, McpServerChanged)]
        assert [one.state for one in changes if one.state is not McpState.READY] == [McpState.CONNECTING]
