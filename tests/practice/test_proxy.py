"""The proxy, with a practice server as the real API behind it."""

import asyncio
import gzip
import json
from collections.abc import AsyncIterator

import httpx2
import pytest

from harness.events import Json
from harness.practice.checks.rules import ServerRules
from harness.practice.proxy import FaultProxy, UpstreamError
from harness.practice.script import Script
from harness.practice.script.entries import Chance
from harness.practice.server import PracticeServer
from harness.practice.wire.recorded import RecordedExchange
from harness.practice.wire.replies import ScriptedReply, TextPart
from tests.practice.raw_client import HEADERS, post, request

pytestmark = pytest.mark.anyio


class Steady:
    """A brain that always says the same."""

    def answer(self, request: Json) -> ScriptedReply:
        return ScriptedReply((TextPart("äbcdefgh"),), chunk_size=2)


@pytest.fixture
async def upstream() -> AsyncIterator[PracticeServer]:
    async with PracticeServer(Steady(), script=Script(rules=ServerRules(key="key"))) as server:
        yield server


async def test_a_stream_passes_byte_for_byte(upstream: PracticeServer) -> None:
    recorded = b': hello\r\nevent: message_start\r\ndata: {"type":"message_start"}\r\n\r\ndata:x\n\n: tail'

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nx-odd: 1\r\nconnection: close\r\n\r\n" + recorded
        )
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server, FaultProxy(f"http://127.0.0.1:{port}") as proxy:
        seen = await post(proxy.base_url)
    assert seen.body == recorded
    assert seen.headers["x-odd"] == "1"
    assert seen.finished


async def test_events_pass_as_they_come() -> None:
    script = Script.parse('[[reply]]\ntext = "abcd"\nfault = { kind = "stall", at = 5 }')
    async with PracticeServer(script=script) as server, FaultProxy(server.base_url) as proxy:
        seen = await post(proxy.base_url, patience_s=0.5)
    assert (seen.ending, len(seen.names)) == ("open", 5)


async def test_credentials_pass_and_are_not_kept(upstream: PracticeServer) -> None:
    exchanges: list[RecordedExchange] = []
    async with FaultProxy(upstream.base_url, on_exchange=exchanges.append) as proxy:
        assert (await post(proxy.base_url)).status == 200
        assert (await post(proxy.base_url, headers=HEADERS | {"authorization": "Bearer wrong"})).status == 401
    assert upstream.requests[0].headers["authorization"] == "Bearer key"
    assert proxy.requests[0].headers["authorization"] == "•••"
    assert "key" not in repr(proxy.requests) + "".join(exchange.line() for exchange in exchanges)


async def test_errors_and_other_paths_pass(upstream: PracticeServer) -> None:
    async with FaultProxy(upstream.base_url, script=Script.parse("[[reply]]\nstatus = 529")) as proxy:
        assert (await post(proxy.base_url, path="/v1/models?limit=3", method="GET")).json["data"]
        counted = await post(
            proxy.base_url,
            {"model": "practice-1", "messages": [{"role": "user", "content": "x"}]},
            path="/v1/messages/count_tokens",
        )
        assert counted.json["input_tokens"] > 0
        assert (await post(proxy.base_url)).status == 529
        refused = await post(proxy.base_url, request(model="none"))
        assert refused.status == 404
        assert refused.headers["request-id"] == refused.json["request_id"]


async def test_a_request_in_gzip_meets_its_fault_too(upstream: PracticeServer) -> None:
    script = Script.parse('[[reply]]\nstatus = 529\nwhen = "Hello"')
    body, headers = gzip.compress(json.dumps(request()).encode()), HEADERS | {"content-encoding": "gzip"}
    async with FaultProxy(upstream.base_url, script=script) as proxy:
        assert (await post(proxy.base_url, body, headers=headers)).status == 529
        assert (await post(proxy.base_url, body, headers=headers)).status == 200


async def test_a_status_fault_does_not_ask_upstream(upstream: PracticeServer) -> None:
    script = Script.parse('[[reply]]\nstatus = 429\nheaders = { retry-after = "2" }')
    async with FaultProxy(upstream.base_url, script=script) as proxy:
        seen = await post(proxy.base_url)
        assert (seen.status, seen.headers["retry-after"], upstream.requests) == (429, "2", [])
        assert (await post(proxy.base_url)).finished


@pytest.mark.parametrize(
    ("fault", "ending", "events", "finished"),
    [
        ('{ kind = "reset", at = 5 }', "reset", 5, False),
        ('{ kind = "cut_chunk", at = 5 }', "closed", 6, False),
        ('{ kind = "clean_end", at = "message_stop" }', "closed", 9, True),
        ('{ kind = "error_event", at = 3 }', "closed", 4, True),
        ('{ kind = "clean_end", at = 0 }', "closed", 0, True),
        ('"unknown_event"', "closed", 11, True),
    ],
)
async def test_faults_strike_at_the_chosen_event_of_upstream(
    upstream: PracticeServer, fault: str, ending: str, events: int, finished: bool
) -> None:
    async with FaultProxy(upstream.base_url, script=Script.parse(f"[[reply]]\nfault = {fault}")) as proxy:
        seen = await post(proxy.base_url)
    assert (seen.ending, len(seen.names), seen.finished) == (ending, events, finished)
    assert len(upstream.requests) == 1


async def test_a_fault_before_the_headers_does_not_ask_upstream(upstream: PracticeServer) -> None:
    script = Script.parse('[[reply]]\nfault = { kind = "reset", at = "headers" }\n[[reply]]\nfault = "html_body"')
    async with FaultProxy(upstream.base_url, script=script) as proxy:
        assert (await post(proxy.base_url)).raw == b""
        assert (await post(proxy.base_url)).headers["content-type"].startswith("text/html")
    assert upstream.requests == []


async def test_an_entry_with_content_is_answered_by_the_proxy(upstream: PracticeServer) -> None:
    async with FaultProxy(upstream.base_url, script=Script.parse('[[reply]]\ntext = "mine"')) as proxy:
        seen = await post(proxy.base_url, request(stream=False))
    assert seen.json["content"][0]["text"] == "mine"
    assert upstream.requests == []


async def test_a_reply_without_stream_passes_and_can_be_cut(upstream: PracticeServer) -> None:
    async with FaultProxy(
        upstream.base_url, script=Script.parse('[[reply]]\npass = true\n[[reply]]\nfault = "reset"')
    ) as proxy:
        assert (await post(proxy.base_url, request(stream=False))).json["stop_reason"] == "end_turn"
        assert (await post(proxy.base_url, request(stream=False))).ending == "reset"


async def test_faults_by_chance_come_from_the_seed(upstream: PracticeServer) -> None:
    async def statuses() -> list[int]:
        script = Script(chance=Chance(0.5, 3, ("overloaded", "server_error")))
        async with FaultProxy(upstream.base_url, script=script) as proxy:
            return [(await post(proxy.base_url)).status for _ in range(20)]

    first = await statuses()
    assert first == await statuses()
    assert set(first) == {200, 500, 529}


async def test_a_broken_upstream_stream_breaks_for_the_client_too() -> None:
    script = Script.parse('[[reply]]\ntext = "abcd"\nfault = "reset"')
    async with PracticeServer(script=script) as server, FaultProxy(server.base_url) as proxy:
        seen = await post(proxy.base_url)
    assert (seen.status, seen.finished, seen.ending) == (200, False, "closed")


async def test_an_upstream_that_is_not_there_is_a_502() -> None:
    async with FaultProxy("http://127.0.0.1:1") as proxy:
        seen = await post(proxy.base_url)
    assert seen.status == 502
    assert seen.json["error"]["message"] == "proxy: no answer from upstream: ConnectError"


async def test_a_client_that_goes_away_ends_the_request_upstream() -> None:
    gone = asyncio.Event()
    script = Script.parse('[[reply]]\ntext = "abcd"\nfault = "stall"')
    async with (
        PracticeServer(script=script, on_exchange=lambda exchange: gone.set()) as server,
        FaultProxy(server.base_url) as proxy,
    ):
        await post(proxy.base_url, patience_s=0.2)
        async with asyncio.timeout(60):
            await gone.wait()


async def test_a_proxy_variable_is_not_used_between_us_and_loopback(
    upstream: PracticeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    async with FaultProxy(upstream.base_url) as proxy:
        assert (await post(proxy.base_url)).status == 200


@pytest.mark.parametrize("address", ["", "api.anthropic.com", "ftp://x", "http://"])
async def test_an_upstream_that_is_no_address_is_named(address: str) -> None:
    with pytest.raises(UpstreamError, match="is not an address; give one such as"):
        FaultProxy(address)


async def test_a_password_in_the_address_is_refused_and_not_repeated() -> None:
    with pytest.raises(UpstreamError) as raised:
        FaultProxy("https://me:secret@example.com")
    assert "secret" not in str(raised.value)


async def test_another_http_client_keeps_its_connection(upstream: PracticeServer) -> None:
    async with FaultProxy(upstream.base_url) as proxy, httpx2.AsyncClient(trust_env=False) as client:
        for _ in range(3):
            reply = await client.post(f"{proxy.base_url}/v1/messages", json=request(), headers=HEADERS)
            assert reply.text.rstrip().endswith('data: {"type":"message_stop"}')
    assert {recorded.connection_id for recorded in proxy.requests} == {1}
    assert {recorded.connection_id for recorded in upstream.requests} == {1}
