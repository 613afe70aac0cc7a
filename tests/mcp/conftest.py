"""Servers of a session, with real processes: the practice server with its faults, and whatever a test writes."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from harness.events import McpServerChanged, OutputDelta
from harness.mcp.config import parse_entries
from harness.mcp.connection import Callbacks
from harness.mcp.server import McpServer
from harness.mcp.servers import McpServers
from harness.mcp.tools import ForeignTools
from harness.practice import mcp_server
from harness.processes import Processes
from harness.tools.tool import ToolContext, ToolResult
from harness.tools.workspace import Workspace

SCRIPT = str(Path(mcp_server.__file__))


def practice(fault: str = "", **more: Any) -> dict[str, Any]:
    """The entry of a practice server."""
    args = ["-I", "-S", SCRIPT, *(["--fault", fault] if fault else [])]
    return {"command": sys.executable, "args": args, "sandbox": "free", **more}


async def decline(server: str, params: Any) -> Any:
    from mcp.types import ElicitResult

    return ElicitResult(action="decline")


class Site:
    """The servers, and a way to call their tools as a session does."""

    def __init__(self, servers: McpServers, context: ToolContext) -> None:
        self.servers = servers
        self.changes: list[McpServerChanged] = []
        self.shown: list[OutputDelta] = []
        self._context = context
        servers.report_to(self.changes.append, lambda secrets: None, lambda text: text)

    def server(self, name: str = "p") -> McpServer:
        found = self.servers.get(name)
        assert found is not None
        return found

    async def call(self, name: str, **arguments: Any) -> ToolResult:
        tool = self.servers.tools[f"mcp__{name.replace('.', '__')}"]
        return await tool.run(self._context, tool.parse(arguments))

    async def call_when_there(self, name: str, **arguments: Any) -> ToolResult:
        async with asyncio.timeout(60):
            await self.server(name.partition(".")[0]).settled.wait()
        return await self.call(name, **arguments)


async def eventually(holds: Callable[[], object]) -> None:
    """Wait for what another process does in its own time."""
    async with asyncio.timeout(60):
        while not holds():  # noqa: ASYNC110
            await asyncio.sleep(0.02)


Sites = Callable[..., Any]


@pytest.fixture
def site(tmp_path: Path) -> Sites:
    @asynccontextmanager
    async def opened(
        entries: Mapping[str, Any],
        *,
        idle_s: float = 30.0,
        connect_s: float = 60.0,
        elicit: Any = decline,
        wait: bool = True,
    ) -> AsyncIterator[Site]:
        processes, work = Processes(), tmp_path / "work"
        work.mkdir(exist_ok=True)
        servers = McpServers(
            parse_entries(entries, "the test", own=True),
            processes=processes,
            workspace=work,
            state=tmp_path / "state",
            callbacks=Callbacks(elicit=elicit, roots=lambda: (work,)),
            tools=ForeignTools(characters=20_000, idle_s=idle_s, longest_s=60.0, waiting=lambda: False),
            connect_s=connect_s,
        )
        shown: list[OutputDelta] = []
        context = ToolContext(Workspace(work), tmp_path / "outputs", "c1", processes, show_output=shown.append)
        made = Site(servers, context)
        made.shown = shown
        try:
            servers.start()
            await servers.settle(connect_s + 5 if wait else 0.0)
            yield made
        finally:
            await servers.aclose()
            await processes.aclose()

    return opened


def lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
