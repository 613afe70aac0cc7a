"""`harness mcp serve`: real sessions, driven by the client of the SDK, in this process, as a process and over HTTP."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client, MCPError
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult, ElicitResult, InputRequiredResult, TextContent

from harness.events import PermissionAnswered, PermissionAsked, ToolEnded
from harness.journal import read
from harness.session import Session, open_session
from harness.settings import load
from harness.tools.tool import Tool, tool
from harness.ui.mcp_server import ClientAsker, ToolServer, _serve_http
from tests.mcp.conftest import eventually
from tests.media.files import png

pytestmark = pytest.mark.anyio
ACCEPT = {"Accept": "application/json, text/event-stream"}
MODES = ("auto", "legacy")
"""Versions of the protocol: without requests of the server, and with them."""


class User:
    """The user of the client: gives the same answer always, and remembers the questions."""

    def __init__(self, answer: str = "yes, once") -> None:
        self.answer = answer
        self.asked: list[str] = []
        self.choices: list[list[str]] = []
        self.before: Callable[[], object] = lambda: None

    async def __call__(self, context: object, params: Any) -> ElicitResult:
        self.asked.append(params.message)
        self.choices.append(params.requested_schema["properties"]["answer"]["enum"])
        self.before()
        if self.answer in ("decline", "cancel"):
            return ElicitResult.model_validate({"action": self.answer})
        return ElicitResult(action="accept", content={"answer": self.answer})


class Served:
    """A client, and the session that it reaches."""

    def __init__(self, client: Client, session: Session, server: Any) -> None:
        self.client, self.session, self.server = client, session, server

    async def call(self, name: str, **arguments: Any) -> tuple[bool, str]:
        """Whether it failed, and its text."""
        return _said(await self.client.call_tool(name, arguments))

    @property
    def events(self) -> list[Any]:
        return [record.event for record in read(self.session.path).records]


def _said(result: CallToolResult) -> tuple[bool, str]:
    (first, *_) = result.content
    assert isinstance(first, TextContent)
    return bool(result.is_error), first.text


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HARNESS_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("HARNESS_USER_DIR", str(tmp_path / "user"))
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "a.py").write_text("hello = 1\n")
    (folder / ".env").write_text("KEY=s3cret\n")
    return folder


@asynccontextmanager
async def served(
    work: Path, user: User | None = None, mode: str = "auto", tools: tuple[Tool, ...] = (), **settings: Any
) -> AsyncIterator[Served]:
    asker = ClientAsker()
    loaded = load({"workspace": work, "board": "board", **settings}, dict(os.environ))
    async with AsyncExitStack() as stack:
        session = await stack.enter_async_context(await open_session(loaded, asker, warm=False, tools=tools))
        server = ToolServer(session, asker, [one.name for one in tools]).server()
        client = await stack.enter_async_context(Client(server, mode=mode, elicitation_callback=user))
        yield Served(client, session, server)


@asynccontextmanager
async def over_http(here: Served, capsys: pytest.CaptureFixture[str]) -> AsyncIterator[tuple[str, httpx2.AsyncClient]]:
    """The address of the session over HTTP, and what reaches it with the token."""
    serving = asyncio.create_task(_serve_http(here.server, 0))
    shown: list[str] = []

    def is_there() -> bool:
        shown.append(capsys.readouterr().out)
        return "Bearer" in "".join(shown)

    await eventually(is_there)
    words = "".join(shown).split()
    async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {words[-1]}", **ACCEPT}, timeout=60) as web:
        yield words[2], web
    serving.cancel()
    await asyncio.wait({serving})


async def test_the_tools_say_what_they_do(work: Path) -> None:
    async with served(work) as here:
        tools = {tool.name: tool for tool in (await here.client.list_tools()).tools}
        own = {tool.name: tool for tool in here.session.tools}
    assert set(tools) > {"read_file", "write_file", "edit_file", "glob", "grep", "task_list", "task_create"}
    assert not {"bash", "agent", "todo_write"} & set(tools)
    for name, described in tools.items():
        assert described.input_schema == own[name].spec()["input_schema"]
    hints = {name: one.annotations for name, one in tools.items() if one.annotations}
    reads = [name for name, hint in hints.items() if hint.read_only_hint]
    assert reads == ["read_file", "glob", "grep", "task_list", "task_get"]
    assert [name for name, hint in hints.items() if hint.destructive_hint] == ["write_file", "edit_file"]


@pytest.mark.parametrize("mode", MODES)
async def test_a_write_is_asked_about_once_and_then_done(work: Path, mode: str) -> None:
    user = User()
    user.before = lambda: (work / "b.txt").exists() and pytest.fail("written before the answer")
    async with served(work, user, mode) as here:
        assert await here.call("write_file", path="b.txt", content="x\n") == (False, "Wrote b.txt: 2 bytes, 1 line.")
        (question,) = user.asked
        assert "write_file b.txt" in question
        assert "+x" in question
        assert user.choices == [["yes, once", "yes, and all edits from now on", "no"]]
        answers = [event.answer for event in here.events if isinstance(event, PermissionAnswered)]
        assert answers[-1] == "once"
        assert len(answers) == len([event for event in here.events if isinstance(event, PermissionAsked)])
    assert (work / "b.txt").read_text() == "x\n"


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("answer", ["no", "decline", "cancel", "something else"])
async def test_what_is_no_clear_yes_is_a_no(work: Path, mode: str, answer: str) -> None:
    async with served(work, User(answer), mode) as here:
        failed, text = await here.call("write_file", path="b.txt", content="x")
        assert failed
        assert "not allow" in text
    assert not (work / "b.txt").exists()


@pytest.mark.parametrize("mode", MODES)
async def test_two_edits_of_one_file_at_the_same_time_are_asked_about_one_after_the_other(
    work: Path, mode: str
) -> None:
    async with served(work, user := User(), mode) as here:
        edits = (here.call("edit_file", path="a.py", old_string=old, new_string="x") for old in ("hello", "1"))
        assert [failed for failed, _ in await asyncio.gather(*edits)] == [False, False]
        assert "x = x" in (await here.call("read_file", path="a.py"))[1]
        if mode == "legacy":
            assert "+x = x" in user.asked[-1]


@pytest.mark.parametrize("mode", MODES)
async def test_all_edits_from_now_on_ends_with_the_server(work: Path, mode: str) -> None:
    user = User("yes, and all edits from now on")
    async with served(work, user, mode) as here:
        await here.call("write_file", path="b.txt", content="x")
        await here.call("write_file", path="c.txt", content="x")
        assert len(user.asked) == 1
    async with served(work, user := User(), mode) as here:
        await here.call("write_file", path="d.txt", content="x")
        assert len(user.asked) == 1


async def test_an_answer_counts_for_the_question_it_was_given_to(work: Path) -> None:
    """A client may take a yes to one file and send it along with another one."""
    async with served(work, User()) as here:
        call: Any = partial(here.client.session.call_tool, "write_file", allow_input_required=True)
        asked = await call({"path": "good.txt", "content": "x"})
        assert isinstance(asked, InputRequiredResult)
        assert asked.input_requests is not None
        said: Any = {
            name: ElicitResult(action="accept", content={"answer": "yes, once"}) for name in asked.input_requests
        }
        again = await call({"path": "bad.txt", "content": "x"}, input_responses=said)
        assert again.result_type == "input_required"
        assert isinstance(await call({"path": "good.txt", "content": "x"}, input_responses=said), CallToolResult)
    assert (work / "good.txt").exists()
    assert not (work / "bad.txt").exists()


@pytest.mark.parametrize("mode", MODES)
async def test_without_forms_a_rule_or_the_mode_decides(work: Path, mode: str) -> None:
    async with served(work, None, mode) as here:
        failed, text = await here.call("write_file", path="b.txt", content="x")
        assert failed
        assert "--permission-mode edits" in text
        assert (await here.call("grep", pattern="hello"))[1].startswith("a.py:1:hello = 1")
    async with served(work, None, mode, permission_mode="edits") as here:
        assert not (await here.call("write_file", path="b.txt", content="x"))[0]
    async with served(work, None, mode, permissions_deny=["read(a.py)"]) as here:
        assert (await here.call("read_file", path="a.py"))[0]


async def test_keys_and_places_outside_stay_closed(work: Path) -> None:
    async with served(work, None) as here:
        failed, text = await here.call("read_file", path=".env")
        assert failed
        assert "s3cret" not in text
        assert "s3cret" not in (await here.call("grep", pattern="KEY"))[1]
        assert (await here.call("read_file", path="/etc/passwd"))[0]


@pytest.mark.parametrize("mode", MODES)
async def test_nobody_is_asked_about_a_file_outside(work: Path, mode: str) -> None:
    (work.parent / "id_rsa").write_text("key")
    async with served(work, user := User(), mode) as here:
        for name, more in (("read_file", {}), ("write_file", {"content": "x"}), ("grep", {"pattern": "key"})):
            failed, text = await here.call(name, path="../id_rsa", **more)
            assert failed
            assert "outside the workspace" in text
        assert user.asked == []


async def test_an_open_question_holds_up_no_other_client(work: Path, capsys: pytest.CaptureFixture[str]) -> None:
    async def slow(context: object, params: Any) -> ElicitResult:
        assert _said(await other.call_tool("write_file", {"path": "b.txt", "content": "2"})) == (False, written)
        return ElicitResult(action="accept", content={"answer": "yes, once"})

    def client(user: Any) -> Client:
        return Client(streamable_http_client(url, http_client=web), mode="legacy", elicitation_callback=user)

    written = "Wrote b.txt: 1 bytes, 1 line."
    async with (
        served(work) as here,
        over_http(here, capsys) as (url, web),
        client(User()) as other,
        client(slow) as one,
    ):
        async with asyncio.timeout(30):
            failed, text = _said(await one.call_tool("write_file", {"path": "b.txt", "content": "1"}))
        assert failed  # and what its user has seen of the file is no more so
        assert "has changed while the user was asked" in text
    assert (work / "b.txt").read_text() == "2"


async def test_a_client_that_goes_away_has_said_no(work: Path, capsys: pytest.CaptureFixture[str]) -> None:
    begin = {"protocolVersion": "2025-11-25", "capabilities": {"elicitation": {}}}
    begin["clientInfo"] = {"name": "c", "version": "1"}
    write = {"name": "write_file", "arguments": {"path": "b.txt", "content": "x"}}
    async with served(work) as here, over_http(here, capsys) as (url, web):
        answer = await web.post(url, json={"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": begin})
        headers = {"mcp-session-id": answer.headers["mcp-session-id"]}
        await web.post(url, json={"jsonrpc": "2.0", "method": "notifications/initialized"}, headers=headers)
        call = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": write}
        async with web.stream("POST", url, json=call, headers=headers) as stream:
            await anext(line async for line in stream.aiter_lines() if "elicitation/create" in line)
        await eventually(lambda: any(isinstance(event, ToolEnded) for event in here.events))
        (said,) = [event for event in here.events if isinstance(event, PermissionAnswered)]
        assert (said.answer, said.why) == ("no", "the client did not ask: it went away")
    assert not (work / "b.txt").exists()


async def test_wrong_calls_are_answered(work: Path) -> None:
    async with served(work) as here:
        with pytest.raises(MCPError, match="Unknown tool: bash"):
            await here.call("bash", command="ls")
        failed, text = await here.call("read_file")
        assert failed
        assert text.startswith("read_file was not run: the argument `path`")
        failed, text = await here.call("grep", pattern="x", colour="red")
        assert failed
        assert "no argument `colour`" in text


async def test_the_board_is_that_of_the_folder(work: Path) -> None:
    async with served(work) as here:
        await here.call("task_create", tasks=[{"subject": "look"}])
    async with served(work) as here:
        assert "look" in (await here.call("task_list"))[1]


@tool(name="slow", parallel=False)
async def slow(seconds: float) -> str:
    """Sleep."""
    await asyncio.sleep(seconds)
    return "slept"


@pytest.mark.parametrize("mode", MODES)
async def test_a_cancelled_call_is_ended_and_the_next_one_runs(work: Path, mode: str) -> None:
    async with served(work, None, mode, (slow,), permission_mode="yolo") as here:
        call = asyncio.create_task(here.call("slow", seconds=60))
        await eventually(lambda: any(type(event).__name__ == "ToolStarted" for event in here.events))
        call.cancel()
        await eventually(lambda: any(isinstance(event, ToolEnded) for event in here.events))
        (ended,) = [event for event in here.events if isinstance(event, ToolEnded)]
        assert ended.outcome == "cancelled"
        assert await here.call("slow", seconds=0) == (False, "slept")


async def test_a_long_call_gives_signs_of_life(work: Path) -> None:
    seen: list[str | None] = []

    async def moved(progress: float, total: float | None, message: str | None) -> None:
        seen.append(message)

    async with served(work, None, tools=(slow,), permission_mode="yolo") as here:
        await here.client.call_tool("slow", {"seconds": 1.2}, progress_callback=moved)
    assert seen == ["slow: 1 s"]


async def test_an_image_arrives_as_one(work: Path) -> None:
    (work / "p.png").write_bytes(png(2, 2))
    async with served(work) as here:
        result = await here.client.call_tool("read_file", {"path": "p.png"})
        assert [part.type for part in result.content] == ["text", "image"]


# ── processes ───────────────────────────────────────────────────────────────────────────────────


def _parameters(work: Path, *flags: str) -> StdioServerParameters:
    arguments = ["-m", "harness", "mcp", "serve", "--cwd", str(work), *flags]
    return StdioServerParameters(command=sys.executable, args=arguments, env=dict(os.environ))


@pytest.mark.stories
async def test_as_a_process_it_ends_with_its_input(work: Path) -> None:
    async with Client(stdio_client(_parameters(work, "--permission-mode", "edits"))) as client:
        assert not _said(await client.call_tool("write_file", {"path": "b.txt", "content": "x"}))[0]
        assert client.server_info is not None
        assert client.server_info.name == "harness"
    assert (work / "b.txt").exists()


@pytest.mark.stories
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_though_its_input_is_open(work: Path, number: signal.Signals) -> None:
    command = [sys.executable, "-m", "harness", "mcp", "serve", "--cwd", str(work)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        asked = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        process.stdin.write(b"nonsense\n" + json.dumps(asked).encode() + b"\n")
        process.stdin.flush()
        assert b'"id":1' in process.stdout.readline()
        process.send_signal(number)
        assert process.wait(20) == 128 + number


@pytest.mark.stories
async def test_over_http_the_token_decides(work: Path) -> None:
    command = [sys.executable, "-m", "harness", "mcp", "serve", "--port", "0", "--cwd", str(work)]
    environment = {**os.environ, "HARNESS_MCP_TOKEN": "t0ken"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as process:  # noqa: ASYNC220
        assert process.stdout is not None
        url = process.stdout.readline().decode().split()[-1]
        assert b"t0ken" not in process.stdout.readline()
        ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        async with httpx2.AsyncClient() as web:
            for headers in ({}, {"Authorization": "Bearer other"}):
                assert (await web.post(url, json=ping, headers=headers)).status_code == 401
        right = {"Authorization": "Bearer t0ken"}
        async with (
            httpx2.AsyncClient(headers=right) as web,
            Client(streamable_http_client(url, http_client=web), elicitation_callback=(user := User())) as client,
        ):
            assert not _said(await client.call_tool("write_file", {"path": "b.txt", "content": "x"}))[0]
            assert len(user.asked) == 1
            evil = await web.post(url, json=ping, headers={"Host": "evil.example.com"})
            assert evil.status_code in (403, 421)
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 128 + signal.SIGTERM
