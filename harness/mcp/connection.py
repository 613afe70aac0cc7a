"""One connection to a server, from its start to its end; a broken one is never mended, the server makes a new one.

The SDK speaks the protocol. Around it are the limits that it does not have: time for connecting, pages of a list, bytes
of a message, and a deadline for each call that signs of life extend.
"""

import asyncio
import json
import logging
import warnings
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from harness.base.concurrency import in_thread
from harness.base.errors import HarnessError
from harness.base.version import __version__
from harness.mcp.config import ServerConfig, Transport, environment_of
from harness.mcp.offers import (
    LONGEST_DESCRIPTION,
    Offer,
    ServerPrompt,
    ServerResource,
    ServerTool,
    described_prompt,
    described_resource,
    described_tool,
)
from harness.mcp.schemas import schema_problem
from harness.processes import Processes
from harness.tools.tool import shorten_line

if TYPE_CHECKING:
    import httpx2
    from mcp import Client
    from mcp.types import CallToolResult

    from harness.mcp.stdio import StdioTransport

MOST_PAGES = 100
"""Of one list."""
MOST_TOOLS = 1_000
END_S = 0.3
"""Seconds in which the exit of a server is seen after its output ended."""
PAGE_S = 15.0
"""Seconds for one page of a list."""
HELD = 'it ran in the sandbox, which "sandbox": "free" in its entry lifts'
MOST_RESPONSE_BYTES = 16_000_000
"""Of one answer, or of one event in a stream of them."""
MOST_COMPRESSION = 50
"""How much longer an answer may become that is compressed although we ask for none that is."""
MOST_LOGGED = 50
"""Log messages of a server that are kept."""
COALESCE_S = 0.2
"""Seconds that a changed list waits for further changes."""
_log = logging.getLogger("harness.mcp")
logging.getLogger("mcp").setLevel(logging.CRITICAL)  # what matters of it is in our events


class McpError(HarnessError):
    """A server cannot be used, or a call of it failed; one sentence."""


class SignInError(McpError):
    """The server wants the user to sign in."""


class ConnectionLostError(McpError):
    """The connection ended while a call was under way."""


class CallTimeoutError(McpError):
    """A call gave no sign of life in its time."""


@dataclass(slots=True)
class HttpStatus:
    """The last answer of an HTTP server to a message, which the SDK does not pass on."""

    code: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Callbacks:
    """What a server may ask of this program."""

    elicit: Callable[[str, Any], Awaitable[Any]]
    """Takes the name of the server and its `ElicitRequestParams`; returns an `ElicitResult`."""
    roots: Callable[[], tuple[Path, ...]]
    sample: Callable[[str, Any], Awaitable[Any]] | None = None
    """Takes the name and `CreateMessageRequestParams`; returns a `CreateMessageResult`, or `ErrorData`. None: servers
    are told that they cannot ask the model."""
    auth: Callable[[ServerConfig], Any] = field(default=lambda config: None)
    """The authentication of an HTTP server, as httpx2 takes it; None: by headers only."""


class Connection:
    """A connected server. Made by `connected`."""

    def __init__(
        self,
        client: "Client",
        closed: asyncio.Event,
        status: HttpStatus,
        transport: "StdioTransport | None",
    ) -> None:
        self.client = client
        self.transport = transport
        """Of a stdio server."""
        self.closed = closed
        """Set at its end."""
        self.status = status
        self.stale: set[Offer] = set()
        """Lists that the server says are others now."""
        self.list_changed = asyncio.Event()
        """There is one."""
        self.logged: deque[str] = deque(maxlen=MOST_LOGGED)
        """The last log messages of the server, one line each."""

    def changed(self, offer: Offer) -> None:
        """The server says that a list is another one."""
        self.stale.add(offer)
        self.list_changed.set()

    @property
    def instructions(self) -> str:
        """What the server says about its use; material, and bounded."""
        return (self.client.instructions or "")[:LONGEST_DESCRIPTION]

    @property
    def is_modern(self) -> bool:
        """The version of the protocol is 2026-07-28 or a later one."""
        from mcp.types.version import MODERN_PROTOCOL_VERSIONS  # type: ignore[import-not-found, unused-ignore]

        return self.client.protocol_version in MODERN_PROTOCOL_VERSIONS

    async def tools(self) -> tuple[tuple[ServerTool, ...], tuple[str, ...]]:
        """All pages of the list, and a sentence for each tool that is left out. Raises what the SDK raises."""
        found: dict[str, ServerTool] = {}
        problems: list[str] = []
        entries, ends = await self._pages(self.client.list_tools, "tools")
        for tool in entries:
            if problem := schema_problem(tool.input_schema):
                problems.append(f"the tool {tool.name[:100]} is left out: {problem}")
            elif tool.name not in found:
                found[tool.name] = described_tool(tool)
        if not ends or len(found) > MOST_TOOLS:
            why = "its list has no end" if not ends else f"it has {len(found):,} tools"
            problems.append(f"{why}; the first {min(len(found), MOST_TOOLS):,} tools are used")
        return tuple(found.values())[:MOST_TOOLS], tuple(problems)

    async def _pages(self, ask: Callable[..., Awaitable[Any]], key: str) -> tuple[list[Any], bool]:
        """The entries of all pages of a list, and whether it ends within our limits."""
        found: list[Any] = []
        cursor, seen = None, set[str]()
        for page in count(1):
            async with asyncio.timeout(PAGE_S):
                answer = await ask(cursor=cursor, cache_mode="bypass")
            found += getattr(answer, key)
            cursor = answer.next_cursor
            if not cursor or page >= MOST_PAGES or len(found) >= MOST_TOOLS or cursor in seen:
                break
            seen.add(cursor)
        return found, not cursor

    async def prompts(self) -> tuple[ServerPrompt, ...]:
        """The prompts that the server offers. Raises what the SDK raises."""
        if self.client.server_capabilities.prompts is None:
            return ()
        entries, _ = await self._pages(self.client.list_prompts, "prompts")
        return tuple({one.name: described_prompt(one) for one in entries}.values())[:MOST_TOOLS]

    async def resources(self) -> tuple[ServerResource, ...]:
        """What the server offers to read: its resources, then its templates. Raises what the SDK raises."""
        from mcp import MCPError

        if self.client.server_capabilities.resources is None:
            return ()
        found: list[ServerResource] = []
        for ask, key in (
            (self.client.list_resources, "resources"),
            (self.client.list_resource_templates, "resource_templates"),
        ):
            with suppress(MCPError):  # it may know only one of them
                found += map(described_resource, (await self._pages(ask, key))[0])
        return tuple(found[:MOST_TOOLS])

    async def why(self, said: str) -> str:
        """What failed, with the exit code and the last words of a stdio server that ended over it."""
        with suppress(TimeoutError):
            async with asyncio.timeout(END_S if self.transport is not None else 0):
                await self.closed.wait()
        return why_ended(self.transport, said) if self.closed.is_set() else said

    async def roots_changed(self) -> None:
        """Tell the server that the folders of the session are others now, where its version knows such a message."""
        if not self.is_modern:
            with suppress(Exception), warnings.catch_warnings():  # it asks for them when it needs them
                warnings.simplefilter("ignore")
                await self.client.send_roots_list_changed()

    async def prompt(self, name: str, arguments: dict[str, str]) -> Any:
        """A prompt with its arguments filled in: a `GetPromptResult`. Raises TimeoutError, and what the SDK raises."""
        async with asyncio.timeout(PAGE_S):
            return await self.client.get_prompt(name, arguments)

    async def read(self, uri: str) -> Any:
        """The content of a resource. Raises TimeoutError, and what the SDK raises."""
        async with asyncio.timeout(PAGE_S):
            return await self.client.read_resource(uri, cache_mode="bypass")

    async def call(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        *,
        idle_s: float,
        longest_s: float,
        show: Callable[[float, float | None, str | None], None],
        waiting: Callable[[], bool],
    ) -> "CallToolResult":
        """The answer of a tool.

        Args:
            idle_s: seconds without a sign of life; each progress notification begins them anew.
            longest_s: seconds in all.
            show: gets each progress: how much is done, of how much, and a message.
            waiting: the call waits for the user, which costs it no time.

        Raises CallTimeoutError, ConnectionLostError, and what the SDK raises.
        """
        loop = asyncio.get_running_loop()
        began = alive = loop.time()

        async def moved(progress: float, total: float | None, message: str | None) -> None:
            nonlocal alive
            alive = loop.time()
            show(progress, total, message)

        call = asyncio.create_task(self.client.call_tool(tool, dict(arguments), progress_callback=moved))
        closed = asyncio.create_task(self.closed.wait())
        try:
            while True:
                left = min(alive + idle_s, began + longest_s) - loop.time()
                done, _ = await asyncio.wait(
                    {call, closed}, timeout=max(0.0, left), return_when=asyncio.FIRST_COMPLETED
                )
                if call in done:
                    return call.result()
                if closed in done:
                    await asyncio.wait({call}, timeout=0.2)  # an answer may have been on its way
                    if call.done() and call.exception() is None:
                        return call.result()
                    raise ConnectionLostError("The connection ended before the answer came.")
                if waiting():
                    alive, began = loop.time(), max(began, loop.time() - longest_s + idle_s)
                elif loop.time() >= min(alive + idle_s, began + longest_s):
                    raise CallTimeoutError(f"no answer in {loop.time() - began:.0f} s")
        finally:
            for task in (call, closed):
                task.cancel()  # the SDK tells the server that its answer is not wanted any more
            await asyncio.wait({call}, timeout=0.5)
            if call.done() and not call.cancelled():
                call.exception()  # looked at, so that asyncio does not report it as lost


def addresses_in(error: Exception) -> tuple[Any, ...]:
    """The addresses (`ElicitRequestURLParams`) that a server wants the user to open before a call; none as a rule."""
    from mcp.types import URL_ELICITATION_REQUIRED, ElicitRequestURLParams

    if getattr(error, "code", None) != URL_ELICITATION_REQUIRED:
        return ()
    try:
        entries = getattr(error, "data", {})["elicitations"]
        return tuple(ElicitRequestURLParams.model_validate(one) for one in entries)
    except (KeyError, TypeError, ValueError):
        return ()


@asynccontextmanager
async def connected(
    config: ServerConfig, processes: Processes, workspace: Path, callbacks: Callbacks, *, connect_s: float
) -> AsyncIterator[Connection]:
    """Start the server or reach it, and agree on a version.

    Args:
        config: with its variables replaced.
        connect_s: seconds until it has to be there.

    Raises McpError with what the server wrote to standard error, SignInError.
    """
    await in_thread(_sdk)
    status = HttpStatus()
    closed = asyncio.Event()
    transport: Any = None
    stack = AsyncExitStack()
    try:
        async with stack:
            try:
                async with asyncio.timeout(connect_s):
                    transport, closed = await _transport(config, processes, workspace, callbacks, status, stack)
                    connection = await _client(config, transport, closed, status, callbacks, stack)
            except TimeoutError as error:
                raise McpError(f"it did not answer within {connect_s:g} s") from error
            status.code = 0
            yield connection
    except asyncio.CancelledError:
        raise
    except McpError as error:
        if getattr(transport, "held", False):
            raise type(error)(f"{error}; {HELD}") from error
        raise
    except BaseException as error:
        if status.code in (401, 403) or _named(error, "SignInError"):
            inner = _innermost(error)
            refused = type(inner).__name__.startswith("OAuth")
            failed = f"; the sign-in failed: {words_of(inner)[:300]}" if refused else ""
            raise SignInError(f"it wants you to sign in (HTTP {status.code or 401}){failed}") from error
        if not isinstance(error, Exception):
            raise
        raise McpError(_reason(error, status)) from error
    finally:
        closed.set()


def why_ended(transport: "StdioTransport | None", why: str) -> str:
    """The reason of an end, with the exit code and the last words of a stdio server."""
    if transport is None:
        return why
    parts = ["it flooded its output"] if transport.flooded else [why]
    if transport.exit_code is not None:
        parts.append(f"exit code {transport.exit_code}")
    if last := transport.errors or transport.first_stray:
        parts.append(f"it wrote: {shorten_line(' '.join(last.splitlines()[-1].split()), 200)}")
    return "; ".join(filter(None, parts))


async def _transport(
    config: ServerConfig,
    processes: Processes,
    workspace: Path,
    callbacks: Callbacks,
    status: HttpStatus,
    stack: AsyncExitStack,
) -> tuple[Any, asyncio.Event]:
    if config.transport is Transport.STDIO:
        from harness.mcp.stdio import StdioTransport

        cwd = workspace / config.cwd if config.cwd else workspace
        environment = environment_of(config)
        stdio = StdioTransport(processes, config.command, cwd, environment, config.sandbox, config.env.values())
        return stdio, stdio.closed
    if config.transport is Transport.SDK:
        from harness.mcp.host import HostTransport

        if config.host is None:
            raise McpError("it is part of a program, and none drives this session (--input-format stream-json)")
        hosted = HostTransport(partial(config.host, config.command[0]))
        return hosted, hosted.closed
    from mcp.client.sse import sse_client
    from mcp.client.streamable_http import streamable_http_client

    make = partial(_http_client, config, status)
    if config.transport is Transport.SSE:
        return sse_client(config.url, httpx_client_factory=make, auth=callbacks.auth(config)), asyncio.Event()
    http = await stack.enter_async_context(make(auth=callbacks.auth(config)))
    most = MOST_RESPONSE_BYTES
    return streamable_http_client(config.url, http_client=http, max_sse_event_size=most), asyncio.Event()


def _http_client(
    config: ServerConfig,
    status: HttpStatus,
    headers: Mapping[str, str] | None = None,
    timeout: Any = None,
    auth: Any = None,
) -> "httpx2.AsyncClient":
    import httpx2

    async def seen(response: "httpx2.Response") -> None:
        if response.request.method == "POST":
            status.code = response.status_code
        arrives = cast("httpx2.AsyncByteStream", response.stream)
        events = "event-stream" in response.headers.get("content-type", "")
        most = MOST_RESPONSE_BYTES // (MOST_COMPRESSION if "content-encoding" in response.headers else 1)

        class Bounded(httpx2.AsyncByteStream):
            async def __aiter__(self) -> AsyncIterator[bytes]:
                length = 0
                async for part in arrives:
                    ends = events and (b"\n\n" in part or b"\r\n\r\n" in part)
                    length = len(part) if ends else length + len(part)
                    if length > most:
                        raise McpError(f"its answer has more than {most:,} bytes")
                    yield part

            async def aclose(self) -> None:
                await arrives.aclose()

        response.stream = Bounded()

    return httpx2.AsyncClient(
        headers={
            "User-Agent": f"harness/{__version__}",
            "Accept-Encoding": "identity",
            **(headers or {}),
            **config.headers,
        },
        timeout=timeout or httpx2.Timeout(30.0, read=300.0),
        auth=auth,
        event_hooks={"response": [seen]},
    )


async def _client(
    config: ServerConfig,
    transport: Any,
    closed: asyncio.Event,
    status: HttpStatus,
    callbacks: Callbacks,
    stack: AsyncExitStack,
) -> Connection:
    from mcp import Client
    from mcp.types import Implementation, ListRootsResult, Root

    made: list[Connection] = []

    async def notified(message: Any) -> None:
        offer = _CHANGED.get(getattr(message, "method", ""))
        if offer is not None and made:
            made[0].changed(offer)

    async def elicit(context: Any, params: Any) -> Any:
        return await callbacks.elicit(config.name, params)

    ask_model = callbacks.sample

    async def sample(context: Any, params: Any) -> Any:
        assert ask_model is not None, "it is not passed on otherwise"
        return await ask_model(config.name, params)

    async def logged(params: Any) -> None:
        if made:
            said = params.data if isinstance(params.data, str) else json.dumps(params.data, ensure_ascii=False)
            made[0].logged.append(shorten_line(f"{params.level}: {said[:300]}", 300))

    async def roots(context: Any) -> Any:
        found = [Root.model_validate({"uri": path.as_uri(), "name": path.name}) for path in callbacks.roots()]
        return ListRootsResult(roots=found)

    client = Client(
        transport,
        client_info=Implementation(name="harness", version=__version__),
        elicitation_callback=elicit,
        sampling_callback=sample if ask_model is not None else None,
        logging_callback=logged,
        list_roots_callback=roots,
        message_handler=notified,
        cache=None,
    )
    try:
        await stack.enter_async_context(client)
    except BaseException as error:
        if isinstance(error, Exception) and config.transport is Transport.STDIO:
            raise McpError(why_ended(transport, _reason(error, status))) from error
        raise
    stdio = transport if config.transport is Transport.STDIO else None
    made.append(Connection(client, closed, status, stdio))
    return made[0]


_CHANGED: dict[str, Offer] = {
    "notifications/tools/list_changed": "tools",
    "notifications/prompts/list_changed": "prompts",
    "notifications/resources/list_changed": "resources",
}


async def follow_changes(connection: Connection) -> None:
    """Note changed lists where the server reports them on a stream of its own, as it does since 2026-07-28."""
    offers = connection.client.server_capabilities
    tools, prompts, resources = (
        one is not None and bool(one.list_changed) for one in (offers.tools, offers.prompts, offers.resources)
    )
    if not connection.is_modern or not (tools or prompts or resources):
        return
    kinds: dict[str, Offer] = {
        "ToolsListChanged": "tools",
        "PromptsListChanged": "prompts",
        "ResourcesListChanged": "resources",
    }
    with suppress(Exception):  # a server without that stream is asked again at the next start
        async with connection.client.listen(
            tools_list_changed=tools, prompts_list_changed=prompts, resources_list_changed=resources
        ) as changes:
            async for event in changes:
                connection.changed(kinds.get(type(event).__name__, "tools"))


def _sdk() -> None:
    """Import the SDK. Raises McpError where it is missing."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import mcp
            import mcp.client.session
            import mcp.types
    except ImportError as error:
        raise McpError(
            f"MCP servers need the package mcp ({error.name} is missing); run: pip install 'harness-agent[mcp]'"
        ) from error
    assert mcp.types is not None
    mcp.client.session.logger.setLevel(logging.CRITICAL)  # it has a name of its own


def _reason(error: BaseException, status: HttpStatus) -> str:
    """An exception in one sentence, also when groups of groups hold it."""
    error = _innermost(error)
    match error:
        case FileNotFoundError():
            return f"there is no program {error.filename}"
        case PermissionError():
            return f"{error.filename} cannot be executed"
        case _ if status.code == 404:
            return "it answered HTTP 404; check the path of its url"
        case _ if status.code >= 400:
            return f"it answered HTTP {status.code}"
        case _:
            return words_of(error)[:300]


def _innermost(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup) and error.exceptions:
        error = error.exceptions[0]
    return error


def words_of(error: BaseException) -> str:
    """What an exception says, in one line of any length; where it says nothing, its name."""
    return " ".join(str(error).split()) or type(error).__name__


def _named(error: BaseException, name: str) -> bool:
    inside = error.exceptions if isinstance(error, BaseExceptionGroup) else ()
    return type(error).__name__ == name or any(_named(one, name) for one in inside)
