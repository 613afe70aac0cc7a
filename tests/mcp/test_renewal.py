"""Tokens of an earlier sign-in, with a scripted server that is both the MCP server and the authorization server."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest

from harness.mcp.config import ServerConfig, parse_entries
from harness.mcp.connection import Callbacks, McpError, SignInError, connected
from harness.mcp.oauth import TokenFile, stored_auth
from harness.processes import Processes
from tests.model.byte_server import http_request

pytestmark = pytest.mark.anyio


class Both:
    """Takes the newest access token only, and each refresh token once."""

    def __init__(self) -> None:
        self.access, self.refresh = "a0", "r0"
        self.renewals: list[str] = []
        self.status = 200
        self.url = ""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                _, path, headers, body = await http_request(reader)
                status, answer = self.answer(path, headers, body)
                data = json.dumps(answer).encode()
                head = f"HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {len(data)}\r\n\r\n"
                writer.write(head.encode() + data)
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            return
        finally:
            writer.close()

    def answer(self, path: str, headers: dict[str, str], body: bytes) -> tuple[int, Any]:
        if path == "/elsewhere/token":
            given = parse_qs(body.decode())["refresh_token"][0]
            self.renewals.append(given)
            if self.status != 200:
                return self.status, {}
            if given != self.refresh:
                return 400, {"error": "invalid_grant"}
            number = len(self.renewals)
            self.access, self.refresh = f"a{number}", f"r{number}"
            answer = {"access_token": self.access, "refresh_token": self.refresh, "expires_in": 3600}
            return 200, {**answer, "token_type": "Bearer"}
        if path != "/mcp":
            return 404, {}
        if headers.get("authorization") != f"Bearer {self.access}":
            return 401, {"error": "invalid_token"}
        message = json.loads(body or b"{}")
        if "id" not in message:
            return 202, {}
        says: Any = {"protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": {"name": "w", "version": "1"}}
        if message["method"] == "initialize":
            return 200, {"jsonrpc": "2.0", "id": message["id"], "result": says}
        return 200, {"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "no"}}


@pytest.fixture
async def both() -> AsyncIterator[Both]:
    made = Both()
    server = await asyncio.start_server(made.serve, "127.0.0.1", 0)
    made.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    yield made
    server.close()


def signed_in(both: Both, state: Path, *, expires_at: float | None) -> ServerConfig:
    """As after a sign-in of an earlier session."""
    (config,) = parse_entries({"s": {"url": f"{both.url}/mcp"}}, "the test", own=True).servers
    tokens: Any = TokenFile(config, state)
    base = both.url
    tokens._put(
        tokens={"access_token": "a0", "refresh_token": "r0", "token_type": "Bearer"},
        expires_at=expires_at,
        client={"client_id": "c", "redirect_uris": ["http://127.0.0.1/callback"], "token_endpoint_auth_method": "none"},
        metadata={
            "issuer": base,
            "authorization_endpoint": f"{base}/elsewhere/authorize",
            "token_endpoint": f"{base}/elsewhere/token",
            "response_types_supported": ["code"],
        },
    )
    return config


async def connect(config: ServerConfig, state: Path) -> None:
    async def decline(server: str, params: object) -> object:
        raise AssertionError

    callbacks = Callbacks(elicit=decline, roots=tuple, auth=lambda one: stored_auth(one, state))
    async with connected(config, Processes(), state, callbacks, connect_s=20.0):
        return


@pytest.mark.parametrize("known", [True, False])
async def test_a_token_that_has_ended_is_renewed_without_the_user(tmp_path: Path, both: Both, known: bool) -> None:
    """Also where only the server knows that it has ended."""
    config = signed_in(both, tmp_path, expires_at=time.time() - 5 if known else None)
    if not known:
        both.access = "revoked"
    await connect(config, tmp_path)
    assert both.renewals == ["r0"]
    kept = await TokenFile(config, tmp_path).get_tokens()
    assert (kept.access_token, kept.refresh_token) == ("a1", "r1")
    await connect(config, tmp_path)
    assert both.renewals == ["r0"], "the new one is used"


async def test_sessions_side_by_side_renew_once(tmp_path: Path, both: Both) -> None:
    config = signed_in(both, tmp_path, expires_at=time.time() - 5)
    await asyncio.gather(*(connect(config, tmp_path) for _ in range(3)))
    assert both.renewals == ["r0"]


async def test_a_server_that_cannot_renew_now_is_no_sign_out(tmp_path: Path, both: Both) -> None:
    config = signed_in(both, tmp_path, expires_at=time.time() - 5)
    both.status = 503
    with pytest.raises(McpError, match="503") as raised:
        await connect(config, tmp_path)
    assert not isinstance(raised.value, SignInError)
    both.status = 200
    await connect(config, tmp_path)


async def test_a_refused_refresh_token_wants_the_user(tmp_path: Path, both: Both) -> None:
    config = signed_in(both, tmp_path, expires_at=time.time() - 5)
    both.refresh = "another"
    both.access = "another"
    with pytest.raises(SignInError):
        await connect(config, tmp_path)
    assert TokenFile(config, tmp_path).exists
