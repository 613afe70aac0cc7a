"""The server seen as bytes: what it answers, and that nothing of it stays behind."""

import asyncio
import json
import socket
from typing import Any

import pytest

from harness.events import Json
from harness.practice.exchange import Exchange
from harness.practice.replies import ScriptedReply, say
from harness.practice.rules import ServerRules
from harness.practice.script import Play, Script, Step
from harness.practice.server import PracticeServer
from tests.practice.raw_client import HEADERS, post, request

pytestmark = pytest.mark.anyio


class Echo:
    """A brain that repeats the last words."""

    def answer(self, request: Json) -> ScriptedReply:
        return say(f"You said {request['messages'][-1]['content']}")


class Broken:
    """A brain with a defect."""

    def answer(self, request: Json) -> ScriptedReply:
        raise LookupError("no idea")


async def test_a_stream_has_the_events_of_the_api_in_their_order() -> None:
    async with PracticeServer(Echo()) as server:
        seen = await post(server.base_url)
    assert seen.status == 200
    assert seen.headers["content-type"].startswith("text/event-stream")
    assert seen.headers["request-id"].startswith("req_")
    assert seen.names == [
        "message_start",
        "content_block_start",
        "ping",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    ]
    assert [data["type"] for data in seen.data] == seen.names
    start, end = seen.data[0]["message"], seen.data[-2]
    assert start["stop_reason"] is None
    assert start["usage"]["input_tokens"] > 0
    assert end["usage"]["output_tokens"] >= start["usage"]["output_tokens"]
    assert end["delta"] == {"stop_reason": "end_turn", "stop_sequence": None}
    assert seen.finished


async def test_without_stream_the_reply_is_one_message() -> None:
    async with PracticeServer(Echo()) as server:
        seen = await post(server.base_url, request(stream=False), path="/v1/messages?beta=true")
    assert seen.json["content"] == [{"type": "text", "text": "You said Hello"}]
    assert seen.json["stop_reason"] == "end_turn"


async def test_errors_have_null_details_and_the_request_id_of_the_header() -> None:
    async with PracticeServer(Echo()) as server:
        seen = await post(server.base_url, request(model="claude-unknown"))
    assert seen.status == 404
    assert seen.json == {
        "type": "error",
        "error": {"type": "not_found_error", "message": "model: claude-unknown", "details": None},
        "request_id": seen.headers["request-id"],
    }


async def test_tokens_are_counted_and_models_are_described() -> None:
    async with PracticeServer(Echo(), rules=ServerRules(window=5000)) as server:
        counted = await post(
            server.base_url,
            {"model": "practice-1", "messages": [{"role": "user", "content": "x" * 350}]},
            path="/v1/messages/count_tokens",
        )
        listed = await post(server.base_url, path="/v1/models", method="GET")
        dated = await post(server.base_url, path="/v1/models/claude-haiku-4-5-20251001", method="GET")
        unknown = await post(server.base_url, path="/v1/models/gpt", method="GET")
    assert 100 < counted.json["input_tokens"] < 150
    assert {model["max_input_tokens"] for model in listed.json["data"]} == {5000}
    assert dated.json["max_tokens"] == 64_000
    assert unknown.json["error"]["message"] == "model: gpt"


@pytest.mark.parametrize(
    ("path", "method", "status"), [("/v1/nothing", "POST", 404), ("/v1/messages", "GET", 405), ("/", "GET", 404)]
)
async def test_other_paths_and_methods_are_refused(path: str, method: str, status: int) -> None:
    async with PracticeServer(Echo()) as server:
        assert (await post(server.base_url, path=path, method=method)).status == status


@pytest.mark.parametrize(
    ("given", "rules", "status", "message"),
    [
        ({"authorization": "Bearer a"}, ServerRules(key="a"), 200, ""),
        ({"x-api-key": "a"}, ServerRules(key="a"), 200, ""),
        ({"authorization": "Bearer b"}, ServerRules(key="a"), 401, "Invalid bearer token"),
        ({"x-api-key": "b"}, ServerRules(key="a"), 401, "invalid x-api-key"),
        ({}, ServerRules(), 401, "x-api-key header is required"),
        ({}, ServerRules(key_required=False), 200, ""),
    ],
)
async def test_keys_are_looked_at(given: dict[str, str], rules: ServerRules, status: int, message: str) -> None:
    headers = {"anthropic-version": "2026-10-21", **given}
    async with PracticeServer(Echo(), rules=rules) as server:
        seen = await post(server.base_url, headers=headers)
    assert seen.status == status
    if message:
        assert seen.json["error"]["message"] == message
        assert seen.json["error"]["type"] == "authentication_error"


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"a":NaN}', b'{"a":"\\ud800"}', b"\xff", b"[" * 100_000])
async def test_what_is_not_json_is_refused(body: bytes) -> None:
    async with PracticeServer(Echo()) as server:
        seen = await post(server.base_url, body)
    assert seen.status == 400
    assert seen.json["error"]["message"].startswith("The request body is not valid JSON")


async def test_a_body_over_32_megabytes_is_refused() -> None:
    async with PracticeServer(Echo()) as server:
        seen = await post(server.base_url, b" " * (33 * 1024 * 1024))
    assert seen.status == 413
    assert seen.json["error"] == {
        "type": "request_too_large",
        "message": "Request exceeds the maximum size",
        "details": None,
    }


async def test_requests_are_recorded_with_their_connection() -> None:
    exchanges: list[Exchange] = []
    async with PracticeServer(Echo(), on_exchange=exchanges.append) as server:
        reader, writer = await asyncio.open_connection(*_address(server))
        for _ in range(2):
            writer.write(_bytes(request(stream=False)))
            await reader.readuntil(b"}}")
        writer.close()
        await post(server.base_url)
    assert [recorded.connection_id for recorded in server.requests] == [1, 1, 2]
    assert server.requests[0].body["max_tokens"] == 100
    assert server.requests[0].headers["authorization"] == "Bearer key"
    assert [exchange.answer for exchange in exchanges] == ["200"] * 3
    assert "key" not in exchanges[0].line()


async def test_only_the_last_requests_are_kept() -> None:
    async with PracticeServer(Echo(), remember=2) as server:
        for number in range(4):
            await post(server.base_url, request(max_tokens=number + 1))
    assert [recorded.body["max_tokens"] for recorded in server.requests] == [3, 4]


async def test_a_client_that_goes_away_ends_the_reply_at_once() -> None:
    over = asyncio.Event()
    script = Script((Step(Play(ScriptedReply(say("x").parts, delay_s=60))),))
    async with PracticeServer(script=script, on_exchange=lambda exchange: over.set()) as server:
        _, writer = await asyncio.open_connection(*_address(server))
        writer.write(_bytes(request()))
        await asyncio.sleep(0.05)
        writer.close()
        async with asyncio.timeout(0.5):
            await over.wait()


async def test_closing_the_server_ends_stalled_replies_and_leaves_no_task() -> None:
    script = Script.parse('[[reply]]\ntext = "x"\ntimes = "forever"\nfault = "stall"')
    before = asyncio.all_tasks()
    async with asyncio.timeout(5), PracticeServer(script=script) as server:
        clients = [asyncio.create_task(post(server.base_url)) for _ in range(20)]
        await asyncio.sleep(0.3)
        assert len(server.requests) == 20
    await asyncio.gather(*clients)
    assert asyncio.all_tasks() == before


async def test_closing_the_server_ends_a_connection_that_it_has_only_just_accepted() -> None:
    with socket.socket() as client:
        async with PracticeServer() as server:
            host, _, port = server.base_url.removeprefix("http://").partition(":")
            client.connect((host, int(port)))
            while not server.open_connections:  # noqa: ASYNC110 (the very moment is meant)
                await asyncio.sleep(0)
        assert client.recv(1) == b""


async def test_a_defect_of_the_brain_is_answered_and_raised_on_exit() -> None:
    with pytest.raises(ExceptionGroup, match="defects") as raised:
        async with PracticeServer(Broken()) as server:
            seen = await post(server.base_url)
    assert seen.status == 500
    assert "no idea" in seen.json["error"]["message"]
    assert isinstance(raised.value.exceptions[0], LookupError)


async def test_bytes_that_are_not_http_close_the_connection() -> None:
    async with PracticeServer(Echo()) as server:
        reader, writer = await asyncio.open_connection(*_address(server))
        writer.write(b"\x16\x03\x01 hello\r\n\r\n")
        assert await reader.read() == b""
        writer.close()
        assert (await post(server.base_url)).status == 200


async def test_clients_that_leave_at_once_are_forgotten() -> None:
    async with PracticeServer(Echo()) as server:
        for _ in range(20):
            _, writer = await asyncio.open_connection(*_address(server))
            writer.transport.abort()
        await post(server.base_url)
        await asyncio.sleep(0.05)
        assert server.open_connections == 0


async def test_a_head_request_gets_no_body() -> None:
    async with PracticeServer(Echo()) as server:
        seen = await post(server.base_url, b"", path="/", method="HEAD")
        assert (seen.status, seen.body) == (404, b"")


async def test_a_large_reply_lets_the_loop_breathe() -> None:
    script = Script((Step(Play(ScriptedReply(say("word " * 2_000).parts, chunk_size=5))),))
    async with PracticeServer(script=script) as server:
        replying = asyncio.create_task(post(server.base_url))
        turns = 0
        while not replying.done():
            await asyncio.sleep(0)
            turns += 1
    assert turns > 500
    assert len((await replying).names) > 2_000


def _address(server: PracticeServer) -> tuple[str, int]:
    host, port = server.base_url.removeprefix("http://").split(":")
    return host, int(port)


def _bytes(body: Any) -> bytes:
    content = json.dumps(body).encode()
    headers = "".join(f"{name}: {value}\r\n" for name, value in HEADERS.items())
    return (
        f"POST /v1/messages HTTP/1.1\r\nhost: x\r\n{headers}content-length: {len(content)}\r\n\r\n".encode() + content
    )
