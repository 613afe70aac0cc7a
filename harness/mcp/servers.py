"""All MCP servers of a session."""

import asyncio
import os
from collections.abc import Callable, Coroutine
from pathlib import Path

from harness.base.secrets import Secret
from harness.events import McpServerChanged
from harness.mcp.config import McpConfig
from harness.mcp.connection import Callbacks
from harness.mcp.lists import FOLDER, LastLists
from harness.mcp.offers import ServerPrompt
from harness.mcp.server import McpServer, ServerParts
from harness.mcp.tools import ForeignTools
from harness.processes import Processes
from harness.tools.tool import Tool


class McpServers:
    """Starts the servers of a session side by side, and ends them with it."""

    def __init__(
        self,
        config: McpConfig,
        *,
        processes: Processes,
        workspace: Path,
        state: Path,
        callbacks: Callbacks,
        tools: ForeignTools,
        connect_s: float,
    ) -> None:
        """`state`: the state folder."""
        self.config = config
        self._tools = tools
        self._changed: Callable[[McpServerChanged], None] = lambda event: None
        self._learn: Callable[[list[Secret]], None] = lambda secrets: None
        self._mask: Callable[[str], str] = lambda text: text
        self._under_way: set[asyncio.Task[None]] = set()
        self._started_at: float | None = None
        self._made: dict[str, tuple[tuple[object, ...], dict[str, Tool]]] = {}
        parts = ServerParts(
            processes=processes,
            workspace=workspace,
            callbacks=callbacks,
            lists=LastLists(state / FOLDER),
            environ=lambda: {**os.environ, "workspaceFolder": str(workspace), "userHome": str(Path.home())},
            changed=self._report,
            learn=lambda one: self._learn(list(one.secrets())),
            mask=self._masked,
            connect_s=connect_s,
        )
        self.servers = tuple(McpServer(one, parts) for one in config.servers)

    def _report(self, event: McpServerChanged) -> None:
        self._changed(event)

    def _masked(self, text: str) -> str:
        return self._mask(text)

    def report_to(
        self,
        changed: Callable[[McpServerChanged], None],
        learn: Callable[[list[Secret]], None],
        mask: Callable[[str], str],
    ) -> None:
        """Who gets changes of states and the secrets of servers, and what removes those from a text."""
        self._changed, self._learn, self._mask = changed, learn, mask

    def get(self, name: str) -> McpServer | None:
        """The server of this name or key."""
        return next((one for one in self.servers if name in (one.config.name, one.key)), None)

    def owner(self, command: str) -> McpServer | None:
        """The server that a slash command is about, by its beginning; the longest one that fits."""
        fitting = [one for one in self.servers if command.startswith(f"{one.key.lower()}__")]
        return max(fitting, key=lambda one: len(one.key), default=None)

    @property
    def prompts(self) -> dict[str, ServerPrompt]:
        """The prompts of all servers by the names of their slash commands."""
        return {name: prompt for one in self.servers for name, prompt in one.commands.items()}

    @property
    def mentions(self) -> tuple[str, ...]:
        """The resources of all servers, as a prompt names them behind `@`; no templates."""
        return tuple(
            f"{one.config.name}:{resource.uri}"
            for one in self.servers
            for resource in one.resources
            if "{" not in resource.uri
        )

    async def roots_changed(self) -> None:
        """Tell all servers that the session has another folder."""
        await asyncio.gather(*(one.roots_changed() for one in self.servers))

    @property
    def keys(self) -> tuple[str, ...]:
        """Keys of the breakers of the servers that are on."""
        return tuple(one.key for one in self.servers if one.config.enabled)

    @property
    def tools(self) -> dict[str, Tool]:
        """All tools by name, those of one server together."""
        return {name: tool for one in self.servers for name, tool in self._of(one).items()}

    def tool(self, name: str) -> Tool | None:
        """The tool of exactly this name."""
        return next((tools[name] for tools in map(self._of, self.servers) if name in tools), None)

    def _of(self, server: McpServer) -> dict[str, Tool]:
        """Made once for each list."""
        made = self._made.get(server.key)
        if made is None or made[0] is not server.tools:
            made = self._made[server.key] = (server.tools, self._tools.tools_of(server))
        return made[1]

    def start(self) -> None:
        """Begin to connect to all of them, in the background; those that run already stay."""
        if self._started_at is None:
            self._started_at = asyncio.get_running_loop().time()
        for one in self.servers:
            one.start()

    async def settle(self, within_s: float) -> tuple[McpServer, ...]:
        """Wait until each server whose tools are not known has been reached or has failed, but not longer than
        `within_s` seconds after the start of all; returns those that are late."""
        now = asyncio.get_running_loop().time()
        left_s = max(0.0, (self._started_at or now) + within_s - now)
        unknown = [one for one in self.servers if one.config.enabled and not one.listed and not one.settled.is_set()]
        waiting = {asyncio.create_task(one.settled.wait()) for one in unknown}
        if waiting:
            await asyncio.wait(waiting, timeout=left_s)
            for task in waiting:
                task.cancel()
        return tuple(one for one in unknown if not one.settled.is_set())

    def restart(self, server: McpServer) -> None:
        """Begin to end one and to start it again, in the background."""
        self._do(server.restart())

    def switch_off(self, server: McpServer) -> None:
        """Begin to end one for the rest of the session, in the background."""
        self._do(server.switch_off())

    def _do(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)

    async def aclose(self) -> None:
        """End all of them, also those that still start."""
        await asyncio.gather(*(one.aclose() for one in self.servers), return_exceptions=True)
