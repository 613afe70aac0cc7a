"""`harness mcp serve`: the file, search and board tools of this program for other agents, as an MCP server.

A call runs as a call of our own model would: with the rules, hooks, limits and the sandbox of the folder, in a session
with a journal. What has to be asked is asked by elicitation, and refused where the client cannot ask its user.
"""

import asyncio
import logging
import os
import secrets
import sys
import warnings
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from hashlib import sha256
from hmac import compare_digest
from socket import socket
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from harness.base.concurrency import in_thread, race
from harness.base.errors import SettingsError
from harness.base.external_text import sendable, visible
from harness.base.version import __version__
from harness.events import Block, PermissionAsked, ToolCall, ToolOutcome
from harness.session import (
    Effect,
    NoAsker,
    PermissionAnswer,
    PermissionRequest,
    Session,
    Tool,
    ToolResult,
    open_session,
)
from harness.settings import LoadedSettings
from harness.ui.permission_choices import permission_answer, permission_choices, permission_reasons, permission_title
from harness.ui.signals import handle_signals

if TYPE_CHECKING:
    from mcp.server import Server
    from mcp.server.context import ServerRequestContext
    from mcp.types import CallToolRequestParams, CallToolResult, InputRequiredResult, ListToolsResult

FILES = ("read_file", "write_file", "edit_file", "glob", "grep")
BOARD = "task_"
"""Beginning of the names of the tools of a board."""
LONGEST_LINE = 16_000_000
"""Bytes of one message of a client; after a longer one the server ends."""
LONGEST_DETAIL = 4_000
PROGRESS_S = 1.0
"""Seconds between two signs of life of a call, for clients that ask for them."""
QUESTION_S = 600.0
"""Seconds that a question waits for the user of the client."""
TOKEN = "HARNESS_MCP_TOKEN"
"""Variable with the token of the HTTP server."""
ANSWERS = ("once", "edits", "no")
"""Choices that end with this server: no client saves a rule."""
CANNOT_ASK = "the client cannot ask its user; "


async def serve_tools(loaded: LoadedSettings, port: int | None, tools: Sequence[Tool] = ()) -> int:
    """Serve until standard input ends, or with a port over HTTP until a signal; returns the exit code.

    Args:
        port: of the loopback address; 0: any; None: standard input and output.
        tools: further ones of a program.

    Raises SettingsError without the package `mcp`.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import mcp.server.stdio
    except ImportError as error:
        raise SettingsError(
            f"harness mcp serve needs the package mcp ({error.name} is missing); run: pip install 'harness-agent[mcp]'"
        ) from error
    assert mcp.server.stdio is not None
    logging.getLogger("mcp").setLevel(logging.CRITICAL)
    asker = ClientAsker()
    with handle_signals() as signalled:
        async with await open_session(loaded, asker, warm=False, tools=tools) as session:
            server = ToolServer(session, asker, [tool.name for tool in tools]).server()
            with suppress(asyncio.CancelledError):
                if port is None:
                    await _serve_stdio(server)
                else:
                    await _serve_http(server, port)
    return signalled.exit_code if signalled.number else 0


@dataclass(slots=True)
class ServedCall:
    """A call of a client under way."""

    context: "ServerRequestContext[Any, Any]"
    params: "CallToolRequestParams"
    questions: dict[str, Any] = field(default_factory=dict)
    """What the client has to ask its user before it makes the call again, by name."""

    @property
    def client(self) -> str:
        """The connection of the client; empty on standard input and output, where there is one."""
        request = self.context.request
        return "" if request is None else request.headers.get("mcp-session-id", "")


class ClientAsker(NoAsker):
    """Asks the user of the client that made a call."""

    def __init__(self) -> None:
        self.calls: dict[str, ServedCall] = {}
        """Those under way by id."""

    def user_of(self, call_id: str) -> str:
        """That of the client that made the call."""
        return self.calls[call_id].client

    async def permission(self, asked: PermissionAsked, request: PermissionRequest) -> PermissionAnswer:
        """Ask by elicitation. What is no clear yes is a no."""
        from mcp import MCPError
        from mcp.types import ElicitRequest, ElicitRequestFormParams

        served = self.calls[asked.call_id]
        context = served.context
        if not _can_ask(context):
            return PermissionAnswer("no", CANNOT_ASK + _remedy(request), by="default")
        labels = {choice.label: choice.value for choice in permission_choices(request) if choice.value in ANSWERS}
        labels = {"no" if value == "no" else label: value for label, value in labels.items()}
        answer = {"type": "string", "title": "Allow it?", "enum": list(labels)}
        schema: Any = {"type": "object", "properties": {"answer": answer}, "required": ["answer"]}
        message = _question(asked, request)
        try:
            if _is_stateless(context):
                name = f"permission-{sha256(message.encode()).hexdigest()[:16]}"
                said: Any = (served.params.input_responses or {}).get(name)
                if said is None:
                    form = ElicitRequestFormParams(message=message, requested_schema=schema)
                    served.questions[name] = ElicitRequest(params=form)
                    return PermissionAnswer("no", "the client asks its user first", by="default")
            else:
                said = await _elicited(context, message, schema)
        except (TimeoutError, ConnectionError, MCPError, ValueError) as error:
            why = str(error)[:200] or f"no answer within {QUESTION_S:g} s"
            return PermissionAnswer("no", f"the client did not ask: {visible(why)}", by="default")
        value = (getattr(said, "content", None) or {}).get("answer")
        if getattr(said, "action", "") != "accept" or value not in labels:
            return PermissionAnswer("no")
        return permission_answer(labels[value], "", request)


class ToolServer:
    """Offers the tools of a session. For one event loop."""

    def __init__(self, session: Session, asker: ClientAsker, further: Collection[str] = ()) -> None:
        """`further`: names of tools to offer besides those for files and the board."""
        self.tools = {
            tool.name: tool
            for tool in session.tools
            if tool.name in FILES or tool.name.startswith(BOARD) or tool.name in further
        }
        """Those that are offered, by name."""
        self._session = session
        self._asker = asker
        self._made = 0
        self._alone: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        """By client; held by a call of it that is not safe beside its others, also while its user is asked."""

    def server(self) -> "Server[Any]":
        """The server of the SDK."""
        from mcp.server import Server

        folder = self._session.settings.workspace
        return Server(
            "harness",
            version=__version__,
            instructions=f"File, search and task board tools for the folder {folder}. Paths are relative to it.",
            on_list_tools=self._list,
            on_call_tool=self._call,
        )

    async def _list(self, context: object, params: object) -> "ListToolsResult":
        from mcp.types import ListToolsResult

        return ListToolsResult(tools=[_described(tool) for tool in self.tools.values()])

    async def _call(
        self, context: "ServerRequestContext[Any, Any]", params: "CallToolRequestParams"
    ) -> "CallToolResult | InputRequiredResult":
        from anyio import CancelScope
        from mcp import MCPError
        from mcp.types import INVALID_PARAMS, InputRequiredResult

        tool = self.tools.get(params.name)
        if tool is None:
            raise MCPError(INVALID_PARAMS, f"Unknown tool: {params.name[:100]}; there are {', '.join(self.tools)}.")
        self._made += 1
        call = ToolCall(f"client-{self._made}", tool.name, dict(params.arguments or {}))
        served = self._asker.calls[call.id] = ServedCall(context, params)
        interrupt = asyncio.Event()
        running = asyncio.create_task(self._run(tool, call, interrupt))
        try:
            await self._follow(running, tool, context)
        except asyncio.CancelledError:
            interrupt.set()
            with CancelScope(shield=True):
                await asyncio.wait({running})
            raise
        finally:
            del self._asker.calls[call.id]
        result = running.result()
        return InputRequiredResult(input_requests=served.questions) if served.questions else _answer(result)

    async def _run(self, tool: Tool, call: ToolCall, interrupt: asyncio.Event) -> ToolResult:
        alone = self._alone.setdefault(self._asker.user_of(call.id), asyncio.Lock())
        async with nullcontext() if tool.parallel else alone:
            return await self._session.call(call, interrupt)

    async def _follow(
        self, running: "asyncio.Task[ToolResult]", tool: Tool, context: "ServerRequestContext[Any, Any]"
    ) -> None:
        """Wait for a call, with signs of life."""
        began = asyncio.get_running_loop().time()
        while not (await asyncio.wait({running}, timeout=PROGRESS_S))[0]:
            passed = asyncio.get_running_loop().time() - began
            await context.session.report_progress(round(passed, 1), None, f"{tool.name}: {passed:.0f} s")


def _described(tool: Tool) -> Any:
    from mcp.types import Tool as Described
    from mcp.types import ToolAnnotations

    spec = tool.spec()
    reads = tool.effect is Effect.READ and not tool.changes
    hints = ToolAnnotations(
        read_only_hint=reads,
        destructive_hint=tool.effect is not Effect.READ,
        idempotent_hint=tool.repeatable,
        open_world_hint=False,
    )
    return Described(name=tool.name, description=tool.description, input_schema=spec["input_schema"], annotations=hints)


def _answer(result: ToolResult) -> "CallToolResult":
    from mcp.types import CallToolResult, TextContent

    text = TextContent(text=sendable(result.content) or "(no output)")
    return CallToolResult(content=[text, *map(_media, result.media)], is_error=result.outcome is not ToolOutcome.OK)


def _media(block: Block) -> Any:
    from mcp.types import BlobResourceContents, EmbeddedResource, ImageContent

    source = block["source"]
    kind, data = source["media_type"], source["data"]
    if block["type"] == "image":
        return ImageContent(data=data, mime_type=kind)
    return EmbeddedResource(resource=BlobResourceContents(uri="harness://document", mime_type=kind, blob=data))


def _remedy(request: PermissionRequest) -> str:
    if request.edits:
        return "start `harness mcp serve` with --permission-mode edits to allow it"
    rules = ",".join(request.offers) or ",".join(filter(None, [request.family]))
    return f"`harness mcp serve --allowed-tools '{rules}'` allows it" if rules else "only a user can allow it"


def _question(asked: PermissionAsked, request: PermissionRequest) -> str:
    detail = request.detail if request.detail.strip() != asked.summary.strip() else ""
    detail = detail if len(detail) <= LONGEST_DETAIL else f"{detail[:LONGEST_DETAIL]}…"
    lines = (f"harness: {permission_title(asked, request)}", detail, *permission_reasons(asked, request))
    return visible("\n".join(filter(None, lines)))


async def _elicited(context: "ServerRequestContext[Any, Any]", message: str, schema: Any) -> Any:
    """What the user of the client says to a form.

    Raises TimeoutError without an answer in time, ConnectionError where the client goes away, and what the SDK raises.
    """
    asking = context.session.elicit_form(message, schema, context.request_id)
    # On standard input and output the end of the input ends the call; over HTTP no more than this request ends.
    gone = () if context.request is None else (_gone(context.request),)
    async with asyncio.timeout(QUESTION_S):
        said, *_ = await race(asking, *gone)
    if said is None:
        raise ConnectionError("it went away")
    return said.result()


async def _gone(request: Any) -> None:
    """Return when the client has closed the connection of an HTTP request, which has been read."""
    while (await request.receive())["type"] != "http.disconnect":
        continue


def _can_ask(context: "ServerRequestContext[Any, Any]") -> bool:
    """The client shows forms: it says so, or names no form in particular."""
    offered = context.session.client_capabilities
    asks = offered.elicitation if offered is not None else None
    return asks is not None and (asks.form is not None or asks.url is None)


def _is_stateless(context: "ServerRequestContext[Any, Any]") -> bool:
    """The version of the protocol lets no server begin a request: the answer asks, and the call is made again."""
    from mcp.types.version import MODERN_PROTOCOL_VERSIONS  # type: ignore[import-not-found, unused-ignore]

    return context.protocol_version in MODERN_PROTOCOL_VERSIONS


# ── transports ──────────────────────────────────────────────────────────────────────────────────


async def _serve_stdio(server: "Server[Any]") -> None:
    from mcp.server.stdio import stdio_server

    lines: Any = _lines()  # those of the SDK have no limit, and keep the process alive after a signal
    async with stdio_server(stdin=lines) as (messages, answers):
        await server.run(messages, answers, server.create_initialization_options())


async def _lines() -> AsyncIterator[str]:
    """The lines of standard input."""
    waiting = bytearray()
    while data := await in_thread(lambda: os.read(0, 65_536)):
        *ended, rest = data.split(b"\n")
        for part in ended:
            waiting += part
            yield waiting.decode("utf-8", "replace")
            waiting.clear()
        waiting += rest
        if len(waiting) > LONGEST_LINE:
            print(f"harness: a message has more than {LONGEST_LINE:,} bytes; the server ends.", file=sys.stderr)
            return


async def _serve_http(server: "Server[Any]", port: int) -> None:
    """Raises SettingsError where the port is taken."""
    import uvicorn

    class Quiet(uvicorn.Server):
        """Leaves signals to the program."""

        def capture_signals(self) -> Any:
            return nullcontext()

    listening = socket()
    try:
        listening.bind(("127.0.0.1", port))
    except OSError as error:
        listening.close()
        raise SettingsError(
            f"Port {port} of 127.0.0.1 cannot be used: {error.strerror}; choose another one."
        ) from error
    token = os.environ.get(TOKEN) or secrets.token_urlsafe(24)
    app = guarded(server.streamable_http_app(), token)
    config = uvicorn.Config(app, log_level="error", access_log=False, timeout_graceful_shutdown=1)
    shown = f"the value of {TOKEN}" if TOKEN in os.environ else token
    print(f"MCP server: http://127.0.0.1:{listening.getsockname()[1]}/mcp", flush=True)
    print(f"It takes requests with the header: Authorization: Bearer {shown}", flush=True)
    serving = asyncio.create_task((quiet := Quiet(config)).serve(sockets=[listening]))
    try:
        await asyncio.wait({serving})
    finally:
        quiet.should_exit = True
        await asyncio.wait({serving})


Asgi = Callable[[Any, Any, Any], Awaitable[None]]


def guarded(app: Asgi, token: str) -> Asgi:
    """The application for requests that carry the token."""
    expected = f"Bearer {token}".encode()

    async def answer(scope: Any, receive: Any, send: Any) -> None:
        from starlette.responses import PlainTextResponse

        given = dict(scope.get("headers", ())).get(b"authorization", b"")
        if scope["type"] == "http" and not compare_digest(given, expected):
            refused = PlainTextResponse("The token is missing or wrong.", 401, {"WWW-Authenticate": "Bearer"})
            return await refused(scope, receive, send)
        return await app(scope, receive, send)

    return answer
