"""One server of a session: started, started again after its end, asked for its tools, called.

A server that dies costs one call. The next call finds it started again: at once the first time, with growing waits when
it dies again and again, and after five failures in a row only when something wants it, so that an idle session stays
idle. Its last good list of tools stays, whatever happens to it.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.base.external_text import counted, visible
from harness.events import Json, McpServerChanged, McpState
from harness.mcp.config import McpConfigError, ServerConfig, Transport
from harness.mcp.connection import (
    COALESCE_S,
    Callbacks,
    Connection,
    ConnectionLostError,
    McpError,
    SignInError,
    addresses_in,
    connected,
    follow_changes,
    why_ended,
    words_of,
)
from harness.mcp.lists import LastLists
from harness.mcp.names import name_table, server_key
from harness.mcp.offers import Offer, ServerPrompt, ServerResource, ServerTool
from harness.processes import Processes

if TYPE_CHECKING:
    from harness.mcp.stdio import StdioTransport

MARKS = {McpState.READY: "✓", McpState.FAILED: "✗", McpState.SIGN_IN: "!", McpState.OFF: "·", McpState.CONNECTING: "◌"}
WAITS_S = (0.0, 1.0, 2.0, 5.0, 10.0)
"""Before each start after a failure; there are no more than these without a call."""
STEADY_S = 30.0
"""Seconds after which a connection counts as good, so that the next end is a first one."""
PROBE_S = 5.0
"""Seconds for the question whether a server that let a call run out of time answers at all."""
CHARACTERS_PER_TOKEN = 4
MOST_QUESTIONS = 30
"""Of a server to the user or the model during one request of ours."""
NOT_NOW = "The client answers requests only while one of its own is under way, and not any number of them."
READY_S = 10.0
"""Seconds that a call waits for its server."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerParts:
    """What all servers of a session share."""

    processes: Processes
    workspace: Path
    callbacks: Callbacks
    lists: LastLists
    environ: Callable[[], Mapping[str, str]]
    changed: Callable[[McpServerChanged], None]
    """Gets each change of a state."""
    learn: Callable[[ServerConfig], None]
    """Gets a configuration whose secrets must not be shown."""
    mask: Callable[[str], str]
    """Removes them from a text."""
    connect_s: float


class McpServer:
    """A server by its name. All methods are for one event loop."""

    def __init__(self, config: ServerConfig, parts: ServerParts) -> None:
        self.config = config
        self.key = server_key(config.name)
        """Key of its breaker, and the beginning of the names of its tools."""
        self._parts = parts
        self.state = McpState.CONNECTING if config.enabled else McpState.OFF
        self.why = ""
        self.errors = ""
        """The last words of it on standard error."""
        self.tools: tuple[ServerTool, ...] = parts.lists.get(config)
        """By the last good list, which may be that of an earlier session."""
        self.prompts: tuple[ServerPrompt, ...] = ()
        """By the last good list, as are the resources."""
        self.resources: tuple[ServerResource, ...] = ()
        self.problems: tuple[str, ...] = ()
        self.listed = bool(self.tools)
        """There is a list."""
        self.instructions = ""
        self.version = ""
        """What it calls itself, the version of the protocol, and of a process whether the sandbox holds it."""
        self.starts = 0
        self._connection: Connection | None = None
        self._failures = 0
        self._wanted = asyncio.Event()
        self._start_done = asyncio.Event()
        """Set while no start is under way."""
        self.settled = asyncio.Event()
        """Set once the first start has succeeded or failed."""
        self._offered = asyncio.Event()
        """Prompts and resources were asked for once, or the first start failed."""
        self._busy = 0
        """Requests of ours that are under way."""
        self._asking: set[asyncio.Task[Any]] = set()
        self._asked = 0
        """Questions since none was under way."""
        self._task: asyncio.Task[None] | None = None
        self._reported: McpServerChanged | None = None
        self._deaths = 0
        self._charged = -1
        self._probe: asyncio.Task[None] | None = None

    @property
    def names(self) -> dict[str, ServerTool]:
        """Its tools by the names that the model calls."""
        by_name = {tool.name: tool for tool in self.tools}
        return {name: by_name[tool] for name, tool in name_table(self.key, by_name).items()}

    @property
    def tokens(self) -> int:
        """About what the descriptions of its tools take of a request that lists them all."""
        return sum(len(json.dumps(asdict(tool), ensure_ascii=False)) for tool in self.tools) // CHARACTERS_PER_TOKEN

    @property
    def commands(self) -> dict[str, ServerPrompt]:
        """Its prompts by the names of their slash commands."""
        by_name = {prompt.name: prompt for prompt in self.prompts}
        return {name.lower(): by_name[prompt] for name, prompt in name_table(self.key, by_name).items()}

    @property
    def logged(self) -> tuple[str, ...]:
        """Its last log messages."""
        return tuple(map(self._parts.mask, self._connection.logged)) if self._connection is not None else ()

    @property
    def line(self) -> str:
        """State, tools and reason in one line."""
        tools = f", {counted(len(self.tools), 'tool')} (about {self.tokens:,} tokens)" if self.listed else ""
        starts = f", connected {self.starts} times" if self.starts > 1 else ""
        why = f": {self.why}" if self.why else ""
        return visible(f"{MARKS[self.state]} {self.config.name}  {self.state}{tools}{starts}{why}")

    def start(self, *, by_hand: bool = False) -> None:
        """Begin to connect, in the background; by hand also one that is off."""
        if self._task is None and (by_hand or self.state is not McpState.OFF):
            self._task = asyncio.create_task(self._keep(), name=f"MCP server {self.config.name}")

    async def restart(self) -> None:
        """End it and begin again, as if nothing had happened."""
        await self.aclose()
        self._failures, self._reported = 0, None
        self.start(by_hand=True)

    async def switch_off(self) -> None:
        """End it for the rest of the session; its tools say so."""
        await self.aclose()
        self._change(McpState.OFF, "switched off")

    async def aclose(self) -> None:
        """End the connection, and with it a server that was started for it, also during its start."""
        tasks = {task for task in (self._task, self._probe) if task is not None}
        self._task = self._probe = None
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        self._start_done.set()
        self.settled.set()

    async def ready(self, within_s: float) -> Connection:
        """The connection, started again if need be. Raises McpError, one sentence."""
        name = self.config.name
        if self._task is None:
            raise McpError(f"The MCP server {name} is off; /mcp shows why.")
        if self._connection is None:
            self._start_done.clear()
            self._wanted.set()
            with suppress(TimeoutError):
                async with asyncio.timeout(within_s):
                    await self._start_done.wait()
        if self._connection is None:
            state = "still starts" if self.state is McpState.CONNECTING else self.why
            raise (SignInError if self.state is McpState.SIGN_IN else McpError)(
                f"The MCP server {name} is not there: {state}."
            )
        return self._connection

    async def call(self, tool: str, arguments: Json, **limits: Any) -> Any:
        """The answer of a tool. A request that the server refused because it did not know the session (HTTP 404), or
        because the user has to open an address first, is made once more, since nothing was run. Raises McpError and
        what the SDK raises."""
        connection = await self.ready(READY_S)
        with self._under_way():
            try:
                answer = await connection.call(tool, arguments, **limits)
            except Exception as error:
                if addresses := addresses_in(error):
                    if not await self._visited(addresses):
                        raise
                elif self.status != 404 or connection.closed.is_set():
                    raise
                else:
                    self.broken()
                    connection = await self.ready(READY_S)
                answer = await connection.call(tool, arguments, **limits)
        self._failures = 0
        return answer

    async def read(self, uri: str) -> Any:
        """The content of a resource: a `ReadResourceResult`. Raises McpError, TimeoutError, and what the SDK raises."""
        connection = await self.ready(READY_S)
        with self._under_way():
            return await connection.read(uri)

    async def prompt(self, name: str, arguments: dict[str, str]) -> Any:
        """A prompt with its arguments filled in: a `GetPromptResult`. Raises as `read`."""
        connection = await self.ready(READY_S)
        with self._under_way():
            return await connection.prompt(name, arguments)

    async def offered(self) -> None:
        """Wait until its prompts and resources are known, or cannot be. Raises McpError where it is not there."""
        await self.ready(READY_S)
        with suppress(TimeoutError):
            async with asyncio.timeout(READY_S):
                await self._offered.wait()

    async def roots_changed(self) -> None:
        """Tell the server that the session has another folder."""
        if self._connection is not None:
            await self._connection.roots_changed()

    @contextmanager
    def _under_way(self) -> Iterator[None]:
        self._busy += 1
        try:
            yield
        finally:
            self._busy -= 1
            if not self._busy:
                self._asked = 0
                for asking in self._asking:
                    asking.cancel()

    def _callbacks(self) -> Callbacks:
        """Those of the session. A server may ask only while a request of ours is under way, and only so often: its
        question ends with that request."""
        shared = self._parts.callbacks

        async def elicit(name: str, params: Any) -> Any:
            from mcp.types import ElicitResult

            return await self._answer(shared.elicit, params) or ElicitResult(action="cancel")

        async def sample(name: str, params: Any) -> Any:
            from mcp.types import ErrorData

            assert shared.sample is not None, "it is not passed on otherwise"
            return await self._answer(shared.sample, params) or ErrorData(code=-1, message=NOT_NOW)

        return replace(shared, elicit=elicit, sample=sample if shared.sample is not None else None)

    async def _visited(self, addresses: Iterable[Any]) -> bool:
        """Whether the user has opened all addresses that the server wants before a call."""
        ask = self._parts.callbacks.elicit
        for address in addresses:
            answer = await self._answer(ask, address)
            if answer is None or answer.action != "accept":
                return False
        return True

    async def _answer(self, ask: Callable[[str, Any], Awaitable[Any]], params: Any) -> Any:
        """The answer to a request of the server; None: it may not ask, or the request of ours has ended."""
        self._asked += 1
        if not self._busy or self._asked > MOST_QUESTIONS:
            return None
        task = asyncio.ensure_future(ask(self.config.name, params))
        self._asking.add(task)
        try:
            await asyncio.wait({task})
        finally:
            self._asking.discard(task)
            task.cancel()
        return None if task.cancelled() else task.result()

    @property
    def status(self) -> int:
        """The last HTTP status of the server; 0: there was none, as with a stdio server."""
        return self._connection.status.code if self._connection is not None else 0

    @property
    def held(self) -> bool:
        """It runs in the sandbox."""
        transport = self._connection.transport if self._connection is not None else None
        return transport is not None and transport.held

    def suspect(self) -> None:
        """A call got no answer in time: ask for something simple, and start the server again if that gets none."""
        connection = self._connection
        if connection is not None and (self._probe is None or self._probe.done()):
            self._probe = asyncio.create_task(self._alive(connection), name=f"probe of {self.config.name}")

    async def _alive(self, connection: Connection) -> None:
        try:
            async with asyncio.timeout(PROBE_S):
                await connection.client.list_tools(cache_mode="bypass")
        except TimeoutError:
            if not connection.closed.is_set() and self.config.transport is Transport.STDIO:
                self._change(McpState.CONNECTING, f"it gave no answer within {PROBE_S:g} s")
                connection.closed.set()
        except Exception:  # noqa: BLE001  border: an error is an answer, too
            return

    async def kill(self) -> None:
        """Kill the process, as a fault would; without one end the connection. Raises McpError where there is none."""
        connection = await self.ready(READY_S)
        if connection.transport is not None:
            connection.transport.kill()
        connection.closed.set()

    def broken(self) -> None:
        """End the connection: a call has shown that it cannot be used."""
        if self._connection is not None:
            self._connection.closed.set()
            self._connection = None  # its task has not seen the end yet

    def charge(self) -> bool:
        """Whether this failure of the connection is the first to be reported: several calls die of one end."""
        first, self._charged = self._charged != self._deaths, self._deaths
        return first

    # ── the life of a server ────────────────────────────────────────────────────────────────────

    async def _keep(self) -> None:
        """Connect; after an end, again."""
        loop, this = asyncio.get_running_loop(), asyncio.current_task()
        try:
            while True:
                began = loop.time()
                try:
                    config = self.config.expanded(self._parts.environ())
                    self._parts.learn(config)
                    await self._life(config)
                    if loop.time() - began > STEADY_S:
                        self._failures = 0
                    self._failures += 1
                except Exception as error:  # noqa: BLE001  border: whatever the SDK raises, the next start may succeed
                    if self._task is this:  # else it is being ended, and the SDK made another error of that
                        self._failed(error)
                if self._task is not this:
                    return
                await self._rest()
        finally:
            self._connection = None

    def _failed(self, error: Exception) -> None:
        self._failures += 1
        sign_in = isinstance(error, SignInError)
        hint = f"; run: harness mcp login {self.config.name}" if sign_in else ""
        said = f"{error}{hint}" if isinstance(error, McpError | McpConfigError) else f"{type(error).__name__}: {error}"
        self._change(McpState.SIGN_IN if sign_in else McpState.FAILED, said)

    async def _rest(self) -> None:
        """Wait before the next start; a call ends the wait, though not within a second of the last failure."""
        if self.state is not McpState.CONNECTING:
            self._start_done.set()
            self.settled.set()
        self._wanted.clear()
        automatic = self.state is not McpState.SIGN_IN and self._failures <= len(WAITS_S)
        wait_s = WAITS_S[self._failures - 1] if automatic else float("inf")
        if wait_s:
            if self._failures > 1:
                await asyncio.sleep(min(wait_s, 1.0))
            with suppress(TimeoutError):
                async with asyncio.timeout(None if wait_s == float("inf") else wait_s):
                    await self._wanted.wait()
        self._start_done.clear()

    async def _life(self, config: ServerConfig) -> None:
        """One connection from its start to its end. Raises McpError where there is none."""
        parts = self._parts
        if not self._failures:
            self._change(McpState.CONNECTING, "")
        transport: StdioTransport | None = None
        try:
            async with connected(
                config, parts.processes, parts.workspace, self._callbacks(), connect_s=parts.connect_s
            ) as connection:
                transport = connection.transport
                await self._list(connection)
                self._connection, self.starts = connection, self.starts + 1
                info = connection.client.server_info
                said = f"{info.name} {info.version}".strip() if info else ""
                self.version = f"{said}, MCP {connection.client.protocol_version}".strip(", ")[:200]
                if transport is not None:
                    self.version += f", {'in' if transport.held else 'without'} the sandbox"
                self.instructions = connection.instructions
                self._change(McpState.READY, "")
                self._start_done.set()
                self.settled.set()
                following = asyncio.create_task(self._follow(connection))
                try:
                    await connection.closed.wait()
                finally:
                    following.cancel()
                    self._connection = None
                    self._deaths += 1
        finally:
            if transport is not None:
                self.errors = self._parts.mask(transport.errors)
        self._change(McpState.CONNECTING, why_ended(transport, "its connection ended"))

    async def _list(self, connection: Connection) -> None:
        """Take over the list of tools. Raises McpError where there is none and never was."""
        before = self.tools if self.listed else None
        try:
            if connection.client.server_capabilities.tools is None:
                self.tools, self.problems = (), ()
            else:
                self.tools, self.problems = await connection.tools()
        except (ConnectionLostError, asyncio.CancelledError):
            raise
        except Exception as error:
            said = words_of(error)[:200]
            if not self.listed:
                raise McpError(await connection.why(f"its list of tools cannot be read: {said}")) from error
            self.problems = (f"its new list of tools cannot be read, so the last one stays: {said}",)
        else:
            self.listed = True
            if self.tools != before:
                self._parts.lists.put(self.config, self.tools)

    async def _follow(self, connection: Connection) -> None:
        """Read the list again whenever the server says that it is another one, after a moment for more of that."""
        stream = asyncio.create_task(follow_changes(connection))
        try:
            await self._offers(connection, {"prompts", "resources"})
            self._offered.set()
            while await connection.list_changed.wait():
                await asyncio.sleep(COALESCE_S)
                connection.list_changed.clear()
                stale, connection.stale = connection.stale, set()
                before = {tool.name: tool for tool in self.tools}
                if "tools" in stale:
                    await self._list(connection)
                after = {tool.name: tool for tool in self.tools}
                new = [name for name in after if name not in before]
                gone = [name for name in before if name not in after]
                parts = [f"new: {', '.join(new[:5])}" if new else "", f"gone: {', '.join(gone[:5])}" if gone else ""]
                if before != after:
                    self._change(McpState.READY, "; ".join(filter(None, parts)) or "descriptions changed")
                await self._offers(connection, stale)
        finally:
            stream.cancel()

    async def _offers(self, connection: Connection, stale: set[Offer]) -> None:
        """Read prompts and resources. Where that fails the last good list stays."""
        for offer in sorted(stale - {"tools"}):
            try:
                if offer == "prompts":
                    self.prompts = await connection.prompts()
                else:
                    self.resources = await connection.resources()
            except Exception as error:  # noqa: BLE001  border: whatever a server and the SDK can do
                said = words_of(error)[:200]
                problem = f"its list of {offer} cannot be read: {said}"
                self.problems = tuple(dict.fromkeys((*self.problems, problem)))
        self._change(self.state, self.why)

    def _change(self, state: McpState, why: str) -> None:
        """Take over a state, and report it unless the last report said the same."""
        self.state, self.why = state, self._parts.mask(why)
        change = McpServerChanged(
            *(self.config.name, state, len(self.tools), self.why, self.starts), prompts=len(self.prompts)
        )
        if change != self._reported:
            self._reported = change
            self._parts.changed(change)
