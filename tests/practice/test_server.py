"""The server seen as bytes: what it answers, and that nothing of it stays behind."""

import asyncio
import gzip
import json
import socket
from typing import Any

import anthropic
import pytest

from harness.events import Json
from harness.practice.checks.rules import ServedModel, ServerRules
from harness.practice.script import Script
from harness.practice.script.entries import PlayReply, ScriptEntry
from harness.practice.server import PracticeServer
from harness.practice.wire.recorded import RecordedExchange
from harness.practice.wire.replies import ScriptedReply, say
from tests.practice.raw_client import HEADERS, post, request

pytestmark = pytest.mark.anyio


class Echo:
    """A practice model that repeats the last words of the prompt."""

    def answer(self, request: Json) -> ScriptedReply:
        return say(f"You said {request['messages'][-1]['content']}")


class Broken:
    """A practice model with a defect."""

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
    async with PracticeServer(Echo(), script=Script(rules=ServerRules(window=5000))) as server:
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
    async with PracticeServer(Echo(), script=Script(rules=rules)) as server:
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


def gzipped(content: bytes, encoding: str = "gzip") -> dict[str, Any]:
    return {"body": gzip.compress(content), "headers": HEADERS | {"content-encoding": encoding}}


async def test_a_body_in_gzip_is_read() -> None:
    async with PracticeServer(Echo()) as server:
        seen = await post(server.base_url, **gzipped(json.dumps(request(stream=False)).encode()))
    assert seen.json["content"][0]["text"] == "You said Hello"
    assert server.requests[0].body["max_tokens"] == 100


@pytest.mark.parametrize(
    ("sent", "status", "code"),
    [
        (gzipped(b" " * (33 * 1024 * 1024)), 413, "request_body_too_large_after_decoding"),
        (gzipped(b"{}", "br"), 400, "request_body_encoding_unsupported"),
        ({"body": b"{}", "headers": HEADERS | {"content-encoding": "gzip"}}, 400, "request_body_encoding_invalid"),
        (gzipped(b"{}") | {"body": gzip.compress(b"{}")[:-9]}, 400, "request_body_encoding_invalid"),
    ],
)
async def test_a_body_that_cannot_be_decoded_is_refused(sent: dict[str, Any], status: int, code: str) -> None:
    async with PracticeServer(Echo()) as server:
        seen = await post(server.base_url, **sent)
    assert (seen.status, seen.json["error"]["details"]) == (status, {"error_code": code})


async def test_models_come_in_pages() -> None:
    ids = ["a", "b", "c", "d", "e"]
    rules = ServerRules(models=tuple(ServedModel(id, 100, 10) for id in ids))

    async def page(server: PracticeServer, query: str) -> tuple[str, bool, str | None, str | None]:
        seen = (await post(server.base_url, path=f"/v1/models?{query}", method="GET")).json
        return "".join(model["id"] for model in seen["data"]), seen["has_more"], seen["first_id"], seen["last_id"]

    async with PracticeServer(script=Script(rules=rules)) as server:
        assert await page(server, "") == ("abcde", False, "a", "e")
        assert await page(server, "limit=2") == ("ab", True, "a", "b")
        assert await page(server, "limit=2&after_id=b") == ("cd", True, "c", "d")
        assert await page(server, "limit=2&after_id=d") == ("e", False, "e", "e")
        assert await page(server, "limit=2&before_id=d") == ("bc", True, "b", "c")
        assert await page(server, "after_id=e") == ("", False, None, None)
        for query in ("limit=0", "limit=x", "limit=1001", "after_id=zzz"):
            assert (await post(server.base_url, path=f"/v1/models?{query}", method="GET")).status == 400
        client = anthropic.AsyncAnthropic(base_url=server.base_url, api_key="key", max_retries=0)
        async with client:
            assert [model.id async for model in client.models.list(limit=2)] == ids


@pytest.mark.parametrize(
    "path", ["/v1/messages/batches", "/v1/messages/batches/b1/results", "/v1/files", "/v1/skills/x"]
)
async def test_what_this_server_does_not_have_is_named(path: str) -> None:
    async with PracticeServer(Echo()) as server:
        seen = await post(server.base_url, path=path)
    assert (seen.status, seen.json["error"]["type"]) == (404, "not_found_error")
    assert seen.json["error"]["message"].startswith("The practice server has no ")


async def test_headers_that_come_in_several_lines_are_one() -> None:
    content = json.dumps(request()).encode()
    async with PracticeServer(Echo()) as server:
        host = "{}:{}".format(*_address(server))
        lines = ["POST /v1/messages HTTP/1.1", f"host: {host}", f"content-length: {len(content)}", "connection: close"]
        lines += [f"{name}: {value}" for name, value in HEADERS.items()]
        lines += ["anthropic-beta: pdfs-2024-09-25", "anthropic-beta: nonsense-1"]
        reader, writer = await asyncio.open_connection(*_address(server))
        writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + content)
        answer = await reader.read()
        writer.close()
    assert server.requests[0].headers["anthropic-beta"] == "pdfs-2024-09-25, nonsense-1"
    assert b"Unexpected value(s) `nonsense-1`" in answer


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
    exchanges: list[RecordedExchange] = []
    async with PracticeServer(Echo(), on_exchange=exchanges.append) as server:
        reader, writer = await asyncio.open_connection(*_address(server))
        for _ in range(2):
            writer.write(_bytes(server, request(stream=False)))
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
    script = Script((ScriptEntry(PlayReply(ScriptedReply(say("x").parts, delay_s=60))),))
    async with PracticeServer(script=script, on_exchange=lambda exchange: over.set()) as server:
        _, writer = await asyncio.open_connection(*_address(server))
        writer.write(_bytes(server, request()))
        await asyncio.sleep(0.05)
        writer.close()
        async with asyncio.timeout(30):
            await over.wait()


async def test_closing_the_server_ends_stalled_replies_and_leaves_no_task() -> None:
    script = Script.parse('[[reply]]\ntext = "x"\ntimes = "forever"\nfault = "stall"')
    before = asyncio.all_tasks()
    async with asyncio.timeout(60), PracticeServer(script=script) as server:
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
            while not server._connections:  # noqa: ASYNC110 (the very moment is meant)
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
        assert not server._connections


async def test_a_head_request_gets_no_body() -> None:
    async with PracticeServer(Echo()) as server:
        seen = await post(server.base_url, b"", path="/", method="HEAD")
        assert (seen.status, seen.body) == (404, b"")


async def test_a_large_reply_lets_the_loop_breathe() -> None:
    script = Script((ScriptEntry(PlayReply(ScriptedReply(say("word " * 2_000).parts, chunk_size=5))),))
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


def _bytes(server: PracticeServer, body: Any) -> bytes:
    content = json.dumps(body).encode()
    own = {"host": server.base_url.removeprefix("http://"), "content-length": str(len(content))}
    headers = "".join(f"{name}: {value}\r\n" for name, value in (own | HEADERS).items())
    return f"POST /v1/messages HTTP/1.1\r\n{headers}\r\n".encode() + content
