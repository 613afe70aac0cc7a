"""A server that is a child process: messages are lines of JSON on its standard input and output.

The SDK has such a transport, too. Ours starts the child through the one owner of all child processes, so that it ends
with this program even after a crash, and it survives what servers write: bytes that are no UTF-8, lines that are no
messages, lines without an end, and more than anybody reads.
"""

import asyncio
import errno
import json
import os
import shutil
import signal
from collections import deque
from collections.abc import Iterable, Mapping
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
from mcp.shared.message import SessionMessage
from mcp.types import ErrorData, JSONRPCError, JSONRPCResponse, jsonrpc_message_adapter

from harness.base.concurrency import in_thread, race, shielded
from harness.mcp.lines import LineBuffer
from harness.mcp.places import named_paths
from harness.mcp.schemas import NO_SCHEMA
from harness.processes import Processes, ProcessLimits
from harness.sandbox.profile import Allowance, CommandTerms, ProfileName, SandboxLevel
from harness.tools.output import readable
from harness.tools.tool import shorten_line

if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

    from harness.processes.command import PipedProcess

LONGEST_LINE = 16_000_000
"""Bytes of one message; a longer one is dropped."""
MOST_PENDING = 64_000_000
"""Bytes that were written and not read yet; a server that writes more is ended."""
ERROR_BYTES = 16_000
"""Last bytes of standard error that are kept for error messages."""
EXIT_S = 1.0
"""Seconds that a server has to exit once its standard input or output is closed."""
_AT_A_TIME = 100


class StdioTransport:
    """Starts a server when it is entered, and ends it when it is left. For one connection."""

    def __init__(
        self,
        processes: Processes,
        command: tuple[str, ...],
        cwd: Path,
        environment: Mapping[str, str],
        profile: ProfileName | None,
        named: Iterable[str],
    ) -> None:
        """
        Args:
            profile: what the server may read, write and reach; None: *work* where the system can hold it to that.
            named: texts of the user that may name further paths.
        """
        self._named = (*command, *named, str(cwd))
        self._processes = processes
        self._profile = profile
        self.held = False
        """It runs in the sandbox."""
        self._command, self._cwd, self._environment = command, cwd, environment
        self._process: PipedProcess | None = None
        self._errors = bytearray()
        self._buffer = LineBuffer(LONGEST_LINE)
        self._lines: deque[bytes] = deque()
        self._pending = 0
        self._arrived = asyncio.Event()
        self._stack = AsyncExitStack()
        self.closed = asyncio.Event()
        """The server has exited, or is being ended."""
        self.stray = 0
        """Lines that were no messages, and messages that were too long."""
        self.first_stray = ""
        self.flooded = False

    @property
    def errors(self) -> str:
        """The end of what the server has written to standard error."""
        return readable(bytes(self._errors)).strip()

    @property
    def exit_code(self) -> int | None:
        """None while it runs, or where it is not known."""
        return self._process.exit_code if self._process is not None else None

    def kill(self) -> None:
        """Kill the server, without a word to it."""
        if self._process is not None and not self._process.exited:
            os.kill(self._process.pid, signal.SIGKILL)

    async def __aenter__(self) -> "tuple[Any, Any]":
        """Start the server. Raises OSError, and ValueError for a null byte."""
        loop = asyncio.get_running_loop()
        profile, allowance = await in_thread(self._sandbox)
        reading, writing = os.pipe()
        try:
            self._process = await self._processes.pipe(
                self._command,
                cwd=self._cwd,
                environment=self._environment,
                sink=self._output,
                errors=self._error,
                stdin=reading,
                limits=ProcessLimits(time_s=float("inf")),
                profile=profile,
                terms=CommandTerms(allowance),
            )
        except BaseException:
            os.close(writing)
            raise
        finally:
            os.close(reading)
        to_us: MemoryObjectSendStream[Any]
        messages: MemoryObjectReceiveStream[Any]
        to_us, messages = anyio.create_memory_object_stream[Any](0)
        to_server, sent = anyio.create_memory_object_stream[Any](0)
        transport, protocol = await loop.connect_write_pipe(
            asyncio.streams.FlowControlMixin, os.fdopen(writing, "wb", 0)
        )
        stdin = asyncio.StreamWriter(transport, protocol, None, loop)
        tasks = [
            asyncio.create_task(self._hand_on(to_us)),
            asyncio.create_task(self._write(sent, stdin)),
            asyncio.create_task(self._watch()),
        ]
        self._stack.push_async_callback(self._leave, tasks, stdin, (to_us, messages, to_server, sent))
        return messages, to_server

    def _sandbox(self) -> tuple[ProfileName, Allowance]:
        """The profile, and what the entry of the server shows that it needs. Looks at the disk."""
        holds = self._processes.sandbox
        profile = self._profile or (ProfileName.WORK if holds.granted(ProfileName.WORK) else ProfileName.FREE)
        program = str(self._cwd / self._command[0]) if "/" in self._command[0] else self._command[0]
        if shutil.which(program, path=self._environment.get("PATH")) is None:
            code = errno.EACCES if Path(program).is_file() else errno.ENOENT
            raise OSError(code, os.strerror(code), self._command[0])
        self.held = profile is not ProfileName.FREE and holds.state.level is not SandboxLevel.NONE
        return profile, Allowance(named_paths(self._named) if self.held else (), server=True)

    async def __aexit__(self, *_: object) -> None:
        """Close its input, give it a moment, and end what is left of it."""
        await shielded(self._stack.aclose())

    async def _leave(
        self, tasks: list[asyncio.Task[None]], stdin: asyncio.StreamWriter, streams: tuple[Any, ...]
    ) -> None:
        process = self._process
        assert process is not None, "it was entered"
        self.closed.set()
        stdin.close()
        exited = asyncio.create_task(process.wait())
        await asyncio.wait({exited}, timeout=EXIT_S)
        with suppress(OSError):
            await process.end()
        for task in (*tasks, exited):
            task.cancel()
        await asyncio.gather(*tasks, exited, return_exceptions=True)
        for stream in streams:
            await stream.aclose()

    # ── its output ──────────────────────────────────────────────────────────────────────────────

    def _error(self, data: bytes) -> None:
        self._errors += data
        if len(self._errors) > 2 * ERROR_BYTES:
            del self._errors[:-ERROR_BYTES]

    def _output(self, data: bytes) -> None:
        for line in self._buffer.feed(data):
            if line is None:
                self._strayed(f"a message of more than {LONGEST_LINE:,} bytes")
            else:
                self._line(line)

    def _line(self, line: bytes) -> None:
        if self.flooded:
            return
        self._lines.append(line)
        self._pending += len(line)
        self._arrived.set()
        if self._pending > MOST_PENDING:
            self.flooded = True
            self._lines.clear()
            self.closed.set()

    def _strayed(self, text: str) -> None:
        self.stray += 1
        self.first_stray = self.first_stray or text[:200]

    async def _hand_on(self, to_us: "MemoryObjectSendStream[Any]") -> None:
        handed = 0
        while await self._arrived.wait():
            while self._lines:
                line = self._lines.popleft()
                self._pending -= len(line)
                text = line.decode("utf-8", "replace")
                message: SessionMessage | None
                try:
                    message = SessionMessage(jsonrpc_message_adapter.validate_json(text, by_name=False))
                    _mark_tools(message.message)
                except (ValueError, RecursionError):
                    self._strayed(readable(line))
                    message = _refused(text)
                handed += 1
                if message is None or handed % _AT_A_TIME == 0:
                    await asyncio.sleep(0)
                if message is not None:
                    try:
                        await to_us.send(message)
                    except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                        return
            self._arrived.clear()
            if self.closed.is_set():
                await to_us.aclose()
                return

    async def _watch(self) -> None:
        """The end of the process, or of its output, is the end of the connection. In the sandbox only that of the
        process is seen, because the sandbox holds the output open as well."""
        assert self._process is not None, "it was entered"
        await race(self._process.wait(), self._process.output_closed())
        with suppress(TimeoutError):  # it is usually about to exit, and its code says why
            async with asyncio.timeout(EXIT_S):
                await self._process.wait()
        self.closed.set()
        self._arrived.set()

    # ── its input ───────────────────────────────────────────────────────────────────────────────

    async def _write(self, sent: "MemoryObjectReceiveStream[Any]", stdin: asyncio.StreamWriter) -> None:
        async for message in sent:
            text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
            try:
                stdin.write(f"{text}\n".encode())
                await stdin.drain()
            except (OSError, RuntimeError):
                self.closed.set()  # it has closed its input, though it may still run
                self._arrived.set()
                return


def _mark_tools(message: Any) -> None:
    """Mark the tools of a list that have no schema of an object: the SDK would refuse the whole list, and the reader of
    the list leaves out the marked ones."""
    tools = message.result.get("tools") if isinstance(message, JSONRPCResponse) else None
    for tool in tools if isinstance(tools, list) else ():
        schema = tool.get("inputSchema") if isinstance(tool, dict) else None
        if isinstance(schema, dict):
            schema.setdefault("type", "object")
        if isinstance(tool, dict) and (not isinstance(schema, dict) or schema["type"] != "object"):
            tool["inputSchema"] = NO_SCHEMA


def _refused(text: str) -> SessionMessage | None:
    """A bad answer as an error for the request that it is about; None: it is no answer."""
    try:
        given = json.loads(text)
        if not isinstance(given, dict) or "method" in given or not {"result", "error"} & given.keys():
            return None
        said = f"its answer is no JSON-RPC: {shorten_line(text, 200)}"
        return SessionMessage(
            JSONRPCError(jsonrpc="2.0", id=given.get("id"), error=ErrorData(code=-32603, message=said))
        )
    except (ValueError, RecursionError):
        return None
