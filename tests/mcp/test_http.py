"""Servers over HTTP: a scripted loopback server that forgets sessions, refuses, stalls and answers too much."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from harness.events import FailureCategory, McpState, ToolOutcome
from harness.mcp.config import ServerConfig, Transport
from harness.mcp.oauth import TokenFile
from tests.mcp.conftest import Sites, eventually
from tests.model.byte_server import http_request

pytestmark = pytest.mark.anyio

TOOL = {"name": "echo", "description": "Return the text.", "inputSchema": {"type": "object", "properties": {}}}


class Web:
    """Answers messages; `statuses` are those of the next calls of tools."""

    def __init__(self) -> None:
        self.statuses: list[int] = []
        self.refuses = 0
        self.seen: list[dict[str, str]] = []
        self.calls = 0
        self.characters = 0
        """Of the answer of a tool."""
        self.form = "length"
        self.url = ""
        self.writers: list[asyncio.StreamWriter] = []

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.writers.append(writer)
        try:
            while True:
                method, _, headers, body = await http_request(reader)
                self.seen.append(headers)
                status, answer = self.answer(method, json.loads(body or b"{}"))
                data = json.dumps(answer).encode() if answer is not None else b""
                kind, length = "application/json", f"Content-Length: {len(data)}"
                if self.form != "length" and data:
                    kind = "text/event-stream" if self.form == "events" else kind
                    data = b"data: %b\n\n" % data if self.form == "events" else data
                    data, length = b"%x\r\n%b\r\n0\r\n\r\n" % (len(data), data), "Transfer-Encoding: chunked"
                writer.write(f"HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\n{length}\r\n\r\n".encode() + data)
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            return
        finally:
            writer.close()

    def answer(self, verb: str, message: dict[str, Any]) -> tuple[int, Any]:
        method, id = message.get("method"), message.get("id")
        if verb != "POST":
            return 405, None
        if self.refuses:
            return self.refuses, {"error": "invalid_token"}
        if id is None:
            return 202, None
        results: dict[Any, Any] = {
            "initialize": {
                "protocolVersion": "2025-06-18",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "w", "version": "1"},
            },
            "tools/list": {"tools": [TOOL]},
            "tools/call": {"content": [{"type": "text", "text": "x" * self.characters or "hello"}]},
        }
        if method == "tools/call":
            self.calls += 1
            if self.statuses and (status := self.statuses.pop(0)) != 200:
                return status, {"detail": "no"}
        if method not in results:
            return 200, {"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "no such method"}}
        return 200, {"jsonrpc": "2.0", "id": id, "result": results[method]}

    async def open(self, port: int = 0) -> None:
        self._server = await asyncio.start_server(self.serve, "127.0.0.1", port)
        self.port = self._server.sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}/mcp"

    def close(self) -> None:
        self._server.close()
        for writer in self.writers:
            writer.transport.abort()


@pytest.fixture
async def web() -> AsyncIterator[Web]:
    made = Web()
    await made.open()
    yield made
    made.close()


async def test_a_server_whose_machine_went_away_is_reached_again(site: Sites, web: Web) -> None:
    async with site({"p": {"url": web.url}}) as here:
        assert (await here.call("p.echo")).content == "hello"
        web.close()
        gone = await here.call("p.echo")
        assert gone.outcome is ToolOutcome.BROKEN
        assert (await here.call("p.echo")).outcome is ToolOutcome.BROKEN
        await web.open(web.port)
        assert (await here.call("p.echo")).content == "hello"


async def test_a_sign_in_that_ended_in_the_middle_is_said(site: Sites, web: Web) -> None:
    async with site({"p": {"url": web.url}}) as here:
        web.refuses = 401
        result = await here.call("p.echo")
        assert "the user has to sign in: harness mcp login p" in result.content
        await eventually(lambda: here.server().state is McpState.SIGN_IN)


async def test_a_call_goes_out_with_the_headers_of_the_entry(
    site: Sites, web: Web, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRACKER_TOKEN", "t0ken-value")
    entry = {"url": web.url, "headers": {"Authorization": "Bearer ${TRACKER_TOKEN}"}}
    async with site({"p": entry}) as here:
        assert (await here.call("p.echo")).content == "hello"
        assert {headers.get("authorization") for headers in web.seen} == {"Bearer t0ken-value"}
        assert "t0ken" not in here.server().line + repr(here.server().config)


async def test_one_404_of_a_server_that_forgot_the_session_is_no_failure(site: Sites, web: Web) -> None:
    web.statuses = [404]
    async with site({"p": {"url": web.url}}) as here:
        assert (await here.call("p.echo")).content == "hello"
        assert web.calls == 2


@pytest.mark.parametrize("status", [500, 503, 429])
async def test_a_refused_call_is_a_failure_of_the_server_and_is_not_repeated(
    site: Sites, web: Web, status: int
) -> None:
    web.statuses = [status]
    async with site({"p": {"url": web.url}}) as here:
        result = await here.call("p.echo")
        assert (result.outcome, result.category) == (ToolOutcome.BROKEN, FailureCategory.TRANSPORT)
        assert f"HTTP {status}" in result.content
        assert web.calls == 1
        assert (await here.call("p.echo")).content == "hello"


@pytest.mark.parametrize("status", [401, 403])
async def test_a_server_that_wants_a_sign_in_says_what_to_type(site: Sites, web: Web, status: int) -> None:
    web.refuses = status
    async with site({"p": {"url": web.url}}) as here:
        assert here.server().state is McpState.SIGN_IN
        assert "harness mcp login p" in here.server().why
        web.refuses = 0  # the user has signed in elsewhere
        await here.server().restart()
        await eventually(lambda: here.server().state is McpState.READY)


async def test_a_server_that_went_away_comes_back(site: Sites, web: Web) -> None:
    async with site({"p": {"url": web.url}}) as here:
        web.refuses = 502
        broken = await here.call("p.echo")
        assert broken.outcome is ToolOutcome.BROKEN
        web.refuses = 0
        assert (await here.call("p.echo")).content == "hello"


@pytest.mark.parametrize("form", ["length", "chunked", "events"])
async def test_an_answer_beyond_all_measure_is_refused(site: Sites, web: Web, form: str) -> None:
    web.form = form
    async with site({"p": {"url": web.url}}) as here:
        web.characters = 20_000_000
        result = await here.call("p.echo")
        assert result.outcome is ToolOutcome.BROKEN
        web.characters = 2_000_000
        assert (await here.call_when_there("p.echo")).outcome is ToolOutcome.OK


async def test_tokens_are_kept_for_the_user_alone_and_a_refresh_token_stays(tmp_path: Path) -> None:
    from mcp.shared.auth import OAuthToken

    tokens = TokenFile(ServerConfig("s", Transport.HTTP, url="https://a.example"), tmp_path)
    assert not tokens.exists
    await tokens.set_tokens(OAuthToken(access_token="a", refresh_token="r"))
    await tokens.set_tokens(OAuthToken(access_token="b"))
    kept = await tokens.get_tokens()
    assert (kept.access_token, kept.refresh_token) == ("b", "r")
    (file,) = (tmp_path / "mcp-tokens").iterdir()
    assert file.stat().st_mode & 0o077 == 0
    file.write_text("{")
    assert await tokens.get_tokens() is None
    tokens.forget()
    assert not tokens.exists
