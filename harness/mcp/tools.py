"""Tools of servers as this program's tools, and the two tools that reach those which no request lists."""

import difflib
import json
import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from math import inf
from typing import Annotated, Any

from pydantic import ConfigDict, Field, ValidationError
from pydantic.json_schema import SkipJsonSchema

from harness.base.concurrency import in_thread
from harness.base.external_text import visible
from harness.events import FailureCategory, Json, McpState, OutputDelta, Score, ToolOutcome
from harness.mcp.connection import CallTimeoutError, ConnectionLostError, McpError, words_of
from harness.mcp.content import ResultContent
from harness.mcp.offers import ServerTool
from harness.mcp.server import McpServer
from harness.sandbox import ProfileName
from harness.tools.held_commands import HeldCommand
from harness.tools.output import shorten
from harness.tools.tool import (
    AVAILABLE,
    Effect,
    Tool,
    ToolArguments,
    ToolContext,
    ToolHealth,
    ToolResult,
    shorten_line,
)

FIND, CALL, READ = "find_mcp_tools", "call_mcp_tool", "read_mcp_resource"
MOST_FOUND = 8
CHECK_S = 1.5
"""Seconds that the check before a call waits for a server that is started again."""
LONGEST_PREVIEW = 4_000
METHOD_NOT_FOUND, INVALID_PARAMS, INTERNAL_ERROR, CONNECTION_CLOSED = -32601, -32602, -32603, -32000
HELD = (
    "The MCP server {} runs in the sandbox: it sees the workspace, the paths in its entry and no keys. If it needs "
    'more, the user can write "sandbox": "free" in its entry.'
)
_MISSES = re.compile(
    r"(?i)\b(e(acces|perm|rofs|noent|connrefused)|permission|denied|read-only|no such file|not found|does not exist|"
    r"credentials?|log(ged)? ?in|unauthori[sz]ed|not authenticated)\b"
)
"""What a server says that misses something, which may be the fault of the sandbox."""
DIED = (
    "The MCP server {} ended before the answer came{}. Whether the call was carried out is not known. The server is "
    "being started again; repeat the call only where doing it twice does no harm."
)


class ForeignArguments(ToolArguments):
    """Arguments that the server checks: whatever the model writes."""

    model_config = ConfigDict(extra="allow")


class FindArguments(ToolArguments):
    """Arguments of find_mcp_tools."""

    query: str = Field(default="", description="Words to look for in names and descriptions; empty: list all names.")
    server: str | SkipJsonSchema[None] = Field(default=None, description="Only tools of this server.")


class CallArguments(ToolArguments):
    """Arguments of call_mcp_tool."""

    name: Annotated[str, Field(min_length=1)] = Field(description="The name as find_mcp_tools shows it.")
    arguments: dict[str, Any] = Field(default_factory=dict, description="The arguments, by the schema of the tool.")


class ReadArguments(ToolArguments):
    """Arguments of read_mcp_resource."""

    server: Annotated[str, Field(min_length=1)] = Field(description="The server, by its name.")
    uri: str | SkipJsonSchema[None] = Field(
        default=None, description="The resource; without it a list of what there is."
    )


class ForeignTools:
    """Makes the tools of the servers of a session."""

    def __init__(
        self,
        *,
        characters: int,
        idle_s: float,
        longest_s: float,
        waiting: Callable[[], bool],
        faulty: Callable[[Iterable[Tool]], tuple[Tool, ...]] = tuple,
    ) -> None:
        """
        Args:
            characters: most of one result that enter the history.
            idle_s: seconds of a call without a sign of life; longest_s: in all.
            waiting: a question of a server waits for the user.
            faulty: the same tools with the faults that the user orders.
        """
        self._faulty = faulty
        self._characters = characters
        self._idle_s, self._longest_s = idle_s, longest_s
        self._waiting = waiting

    def tools_of(self, server: McpServer) -> dict[str, Tool]:
        """Its tools by name."""
        made = self._faulty(self._tool(server, name, tool) for name, tool in server.names.items())
        return {tool.name: tool for tool in made}

    def _tool(self, server: McpServer, name: str, tool: ServerTool) -> Tool:
        looks = server.config.trusted and tool.read_only
        return Tool(
            *(name, tool.description, ForeignArguments, Effect.READ if looks else Effect.RUN),
            partial(self._run, server, tool),
            preview=partial(_preview, server, tool),
            check=partial(health_of, server),
            parallel=looks,
            destructive=tool.destructive,
            idempotent=tool.idempotent or None,
            timeout_s=inf,
            schema=tool.schema,
            breaker=server.key,
            die=partial(self._die, server, tool),
        )

    async def _run(
        self, server: McpServer, tool: ServerTool, context: ToolContext, given: ForeignArguments
    ) -> ToolResult:
        if not server.held:
            return await self._called(server, tool, context, given)
        held = await in_thread(partial(HeldCommand, replace(context, profile=ProfileName.WORK), ""))
        result = await self._called(server, tool, context, given)
        note, obeyed = await in_thread(held.changed)
        return replace(result, content=result.content + note, obeyed=obeyed)

    async def _called(
        self, server: McpServer, tool: ServerTool, context: ToolContext, given: ForeignArguments
    ) -> ToolResult:
        def progress(done: float, total: float | None, message: str | None) -> None:
            share = f"{done:g} of {total:g}" if total else f"{done:g}"
            line = shorten_line(": ".join(filter(None, (share, message))))
            context.show_output(OutputDelta(context.call_id, (line,)))

        arguments = dict(given.model_extra or {})
        limits = {"idle_s": server.config.timeout_s or self._idle_s, "longest_s": self._longest_s}
        try:
            answer = await server.call(tool.name, arguments, **limits, show=progress, waiting=self._waiting)
        except Exception as error:  # noqa: BLE001  border: whatever a server, its transport and the SDK can do
            return self._failed(server, tool, error)
        result = await in_thread(lambda: ResultContent(context, self._characters).result(answer))
        if result.outcome is ToolOutcome.ERROR and server.held and _MISSES.search(result.content):
            return replace(result, content=f"{result.content}\n\n[{HELD.format(server.config.name)}]")
        return result

    async def _die(self, server: McpServer, tool: ServerTool) -> ToolResult:
        try:
            await server.kill()
            return self._failed(server, tool, ConnectionLostError("The connection ended before the answer came."))
        except Exception as error:  # noqa: BLE001  border: it may not be there
            return self._failed(server, tool, error)

    def _failed(self, server: McpServer, tool: ServerTool, error: Exception) -> ToolResult:
        """The result of a call that failed; BROKEN counts for the breaker of the server or of the tool."""
        name, code = server.config.name, getattr(error, "code", None)
        said = shorten_line(" ".join(str(error).split()), 300)
        if isinstance(error, CallTimeoutError):
            server.suspect()
            text = f"The tool {tool.name} of the MCP server {name} gave {said}. It was cancelled"
            return _broken(f"{text}; it may have done its work.", FailureCategory.TIMEOUT, f"timed out: {said}")
        if isinstance(error, McpError) and not isinstance(error, ConnectionLostError):
            return _broken(str(error), FailureCategory.CANNOT_START)
        if isinstance(error, ConnectionLostError) or code == CONNECTION_CLOSED:
            server.broken()  # over HTTP nothing else says so
            return self._died(server, "")
        status = server.status
        if status in (401, 403):
            server.broken()
        if status in (401, 403, 429) or status >= 500:
            text = f"The MCP server {name} answered HTTP {status}"
            hint = f"; the user has to sign in: harness mcp login {name}." if status in (401, 403) else "."
            return _broken(text + hint, FailureCategory.TRANSPORT)
        match error:
            case ValidationError():
                faults = error.error_count()
                text = f"The answer of {tool.name} fits no schema of the protocol ({faults} faults); it is dropped."
                return _broken(text, FailureCategory.CRASHED)
            case _ if code == METHOD_NOT_FOUND or (code == INVALID_PARAMS and "unknown tool" in said.lower()):
                return ToolResult(f"The MCP server {name} no longer offers {tool.name}.", ToolOutcome.ERROR)
            case _ if code is not None and code != INTERNAL_ERROR:
                return ToolResult(f"The MCP server {name} refused the call: {said}", ToolOutcome.ERROR, said)
            case OSError() | TimeoutError():
                server.broken()
                return self._died(server, f" ({said or type(error).__name__})")
            case _ if code is None and not isinstance(error, RuntimeError):
                server.broken()
                return self._died(server, f" ({type(error).__name__}: {said})")
            case _:
                return _broken(f"{tool.name} of the MCP server {name} failed: {said}", FailureCategory.CRASHED)

    def _died(self, server: McpServer, why: str) -> ToolResult:
        """Several calls may end with one server; one of them is its failure, the others were only interrupted."""
        text = DIED.format(server.config.name, why)
        summary = f"the MCP server {server.config.name} ended"
        if server.charge():
            return ToolResult(text, ToolOutcome.BROKEN, summary, category=FailureCategory.TRANSPORT)
        return ToolResult(text, ToolOutcome.CANCELLED, summary)


def _broken(text: str, category: FailureCategory, summary: str = "") -> ToolResult:
    return ToolResult(text, ToolOutcome.BROKEN, shorten_line(summary or text), category=category)


def _preview(server: McpServer, tool: ServerTool, context: ToolContext, given: ForeignArguments) -> str:
    text = json.dumps(given.model_extra or {}, ensure_ascii=False, indent=1)
    text = text if len(text) <= LONGEST_PREVIEW else f"{text[:LONGEST_PREVIEW]}…"
    return f"{server.config.name}: {tool.name}\n{visible(text)}"


async def health_of(server: McpServer) -> ToolHealth:
    """Whether a server is there; one that is not is started again, and waited for a moment."""
    try:
        await server.ready(CHECK_S)
    except McpError:
        if server.state is McpState.CONNECTING:
            return ToolHealth(Score.DEGRADED, f"{server.config.name} still starts")
        return ToolHealth(Score.UNAVAILABLE, f"{server.config.name}: {server.why or server.state}")
    return AVAILABLE


# ── tools that no request lists ─────────────────────────────────────────────────────────────────


def reaching_tools(
    servers: Callable[[], Iterable[McpServer]], allowed: Callable[[], Iterable[Tool]], characters: int
) -> tuple[Tool, ...]:
    """The tools that find and call tools of servers, also those that came after the conversation began.

    Args:
        servers: all of the session.
        allowed: the tools that the agent may call.
    """

    async def find(context: ToolContext, given: FindArguments) -> ToolResult:
        keys = {one.key for one in servers() if given.server in (one.config.name, one.key)}
        tools = [tool for tool in allowed() if not given.server or tool.breaker in keys]
        states = [f"{one.config.name}: {one.state}{f' ({one.why})' if one.why else ''}" for one in servers()]
        if given.query.strip():
            found = _ranked(tools, given.query)[:MOST_FOUND]
            parts = [_described(tool) for tool in found] or ["No tool fits these words."]
        else:
            parts = [f"{tool.name}: {shorten_line(tool.description)}" for tool in tools] or ["There are no tools."]
            wanted = [one for one in servers() if given.server and one.config.name == given.server]
            parts += [f"Instructions of {one.config.name}:\n{one.instructions}" for one in wanted if one.instructions]
        text, whole = shorten("\n".join((*parts, "", "Servers: " + "; ".join(states))), characters, context.output_file)
        return ToolResult(text, summary=f"{len(parts)} of {len(tools)} tools", full_output=whole)

    async def call(context: ToolContext, given: CallArguments) -> ToolResult:
        near = difflib.get_close_matches(given.name, [tool.name for tool in allowed()], n=1, cutoff=0.4)
        hint = f"did you mean {near[0]}?" if near else f"{FIND} shows what there is."
        return ToolResult(f"No MCP server has a tool called {given.name}; {hint}", ToolOutcome.INVALID, "no such tool")

    find_words = (
        "Find tools of MCP servers that are not in your list of tools: by words, with their schemas, or all names. "
        "Servers may have started or changed since the conversation began."
    )
    call_words = f"Call a tool of an MCP server that is not in your list of tools. {FIND} shows names and schemas."
    return (
        Tool(FIND, find_words, FindArguments, Effect.READ, find, parallel=True, caches=False),
        Tool(CALL, call_words, CallArguments, Effect.READ, call),
    )


def resource_tool(servers: Callable[[], Iterable[McpServer]], characters: int) -> Tool:
    """The tool that lists and reads what servers offer besides tools, such as the resources that results link to."""

    async def read(context: ToolContext, given: ReadArguments) -> ToolResult:
        server = next((one for one in servers() if given.server in (one.config.name, one.key)), None)
        if server is None:
            names = ", ".join(one.config.name for one in servers()) or "none"
            return ToolResult(f"There is no MCP server {given.server}; there are: {names}.", ToolOutcome.INVALID)
        try:
            if given.uri is None:
                await server.offered()
                lines = [f"{one.uri}: {one.about}" for one in server.resources]
                text, whole = shorten("\n".join(lines) or "It offers none.", characters, context.output_file)
                return ToolResult(text, summary=f"{len(lines)} resources", full_output=whole)
            answer = await server.read(given.uri)
        except McpError as error:
            return _broken(str(error), FailureCategory.CANNOT_START)
        except TimeoutError:
            server.suspect()
            return _broken(f"The MCP server {given.server} did not answer in time.", FailureCategory.TIMEOUT)
        except Exception as error:  # noqa: BLE001  border: whatever a server and the SDK can do
            said = shorten_line(words_of(error), 300)
            return ToolResult(f"The resource cannot be read: {said}", ToolOutcome.ERROR, said)
        return await in_thread(lambda: ResultContent(context, characters).resources(answer.contents))

    words = (
        "Read a resource of an MCP server, such as one that a result links to, or list what a server offers to read."
    )
    return Tool(READ, words, ReadArguments, Effect.RUN, read)


def meant_by(input: Json) -> tuple[str, Json] | None:
    """Name and arguments of the tool that a call of `call_mcp_tool` is about; None: that cannot be read."""
    name, arguments = input.get("name"), input.get("arguments", {})
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments or "{}")
        except (ValueError, RecursionError):
            return None
    return (name, arguments) if isinstance(name, str) and isinstance(arguments, dict) else None


def _ranked(tools: Iterable[Tool], query: str) -> list[Tool]:
    """Those that share words with the query, the most words first; in the name they count double."""
    words = set(re.findall(r"\w+", query.lower()))

    def score(tool: Tool) -> int:
        name, text = tool.name.lower(), tool.description.lower()
        return sum(2 * (word in name) + (word in text) for word in words)

    return sorted((tool for tool in tools if score(tool)), key=lambda tool: (-score(tool), tool.name))


def _described(tool: Tool) -> str:
    return f"{tool.name}\n  {tool.description}\n  {json.dumps(tool.schema, ensure_ascii=False)}"
