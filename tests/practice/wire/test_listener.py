"""Web pages cannot use the servers of this package, and no client can fill their memory."""

import asyncio
import json
import os
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import anthropic
import psutil
import pytest

from harness.practice.proxy import FaultProxy
from harness.practice.rule_model import RuleModel
from harness.practice.script import Script
from harness.practice.server import PracticeServer
from harness.practice.wire import connection as wire
from harness.practice.wire.connection import HttpRequest
from harness.practice.wire.listener import CallerPolicy, Listener
from tests.practice.raw_client import HEADERS, REQUEST, post

pytestmark = pytest.mark.anyio
MEGABYTE = 1024 * 1024
PORT = 4711


def refusal(host: str, bound: str = "127.0.0.1", also: tuple[str, ...] = (), **headers: str) -> str:
    given = (("host", host), *((name.replace("_", "-"), value) for name, value in headers.items()))
    refused = CallerPolicy(bound, PORT, also).refusal(HttpRequest("POST", "/v1/messages", given, b""))
    return "" if refused is None else refused.message


@pytest.mark.parametrize("host", ["127.0.0.1:4711", "localhost:4711", "LOCALHOST:4711", "[::1]:4711", "127.8.9.1:4711"])
def test_a_loopback_address_with_the_port_of_the_server_is_its_own(host: str) -> None:
    assert not refusal(host)


@pytest.mark.parametrize(
    "host",
    [
        "evil.example:4711",
        "127.0.0.1.evil.example:4711",
        "localhost.evil.example:4711",
        "127.0.0.1",
        "127.0.0.1:80",
        "127.0.0.1:4711:4711",
        "127.0.0.1:04711x",
        "192.168.1.5:4711",
        "[::1",
        "2130706433:4711",
        "",
    ],
)
def test_every_other_host_is_refused(host: str) -> None:
    assert "Host" in refusal(host)


def test_a_server_at_every_address_answers_to_addresses_and_to_the_names_that_were_allowed() -> None:
    everywhere = {"bound": "0.0.0.0", "also": ("Box.local", "gate.example:9000")}
    for host in ("192.168.1.5:4711", "[fe80::1]:4711", "127.0.0.1:4711", "box.local:4711", "gate.example:9000"):
        assert not refusal(host, **everywhere)  # type: ignore[arg-type]
    for host in ("box.local:1", "gate.example:4711", "evil.example:4711", "192.168.1.5:80"):
        assert refusal(host, **everywhere)  # type: ignore[arg-type]


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1:1", "http://localhost:4711", ""])
def test_a_page_of_another_origin_is_refused(origin: str) -> None:
    assert "web page" in refusal("127.0.0.1:4711", origin=origin)


@pytest.mark.parametrize(("site", "refused"), [("cross-site", 1), ("same-site", 1), ("same-origin", 0), ("none", 0)])
def test_what_a_browser_says_about_the_site_counts_where_it_sends_no_origin(site: str, refused: int) -> None:
    assert bool(refusal("127.0.0.1:4711", sec_fetch_site=site)) == bool(refused)


@asynccontextmanager
async def both() -> AsyncIterator[tuple[Listener, Listener]]:
    async with PracticeServer(RuleModel()) as server, FaultProxy(server.base_url) as proxy:
        yield server, proxy


@pytest.mark.parametrize(
    "given", [{"host": "evil.example"}, {"origin": "https://evil.example"}, {"sec-fetch-site": "cross-site"}]
)
@pytest.mark.parametrize("method", ["POST", "GET", "OPTIONS"])
async def test_server_and_proxy_refuse_pages_in_the_form_of_the_api(given: dict[str, str], method: str) -> None:
    async with both() as listeners:
        for listener in listeners:
            seen = await post(listener.base_url, method=method, headers=HEADERS | given)
            assert (seen.status, seen.json["error"]["type"]) == (403, "permission_error")
            assert "access-control-allow-origin" not in seen.headers
            assert seen.json["request_id"] == seen.headers["request-id"]


async def test_the_sdk_continues_working_through_both() -> None:
    async with both() as listeners:
        for listener in listeners:
            for address in (listener.base_url, listener.base_url.replace("127.0.0.1", "localhost")):
                client = anthropic.AsyncAnthropic(base_url=address, api_key="key", max_retries=0)
                async with client:
                    message = await client.messages.create(
                        model="practice-1", max_tokens=50, messages=[{"role": "user", "content": "hi"}]
                    )
                assert message.content


async def upload(listener: Listener, head: str, megabytes: int) -> bytes:
    """Send so many megabytes, as far as they are taken, and return the answer."""
    host = listener.base_url.removeprefix("http://")
    name, port = host.split(":")
    reader, writer = await asyncio.open_connection(name, int(port))
    writer.write(f"POST /v1/messages HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer k\r\n{head}\r\n\r\n".encode())

    async def send() -> None:
        for _ in range(megabytes):
            writer.write(b"100000\r\n" + b" " * MEGABYTE + b"\r\n" if "chunked" in head else b" " * MEGABYTE)
            await writer.drain()

    sending = asyncio.create_task(send())
    try:
        async with asyncio.timeout(60):
            return await reader.read()
    finally:
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)
        writer.close()


def memory() -> int:
    return int(psutil.Process(os.getpid()).memory_info().rss)


@pytest.mark.parametrize("head", ["transfer-encoding: chunked", f"content-length: {400 * MEGABYTE}"])
async def test_an_upload_that_is_too_large_is_answered_and_not_kept(head: str) -> None:
    async with both() as listeners:
        for listener in listeners:
            before, began = memory(), time.monotonic()
            answer = await upload(listener, head, 400)
            assert answer.startswith(b"HTTP/1.1 413 ")
            assert b'"request_too_large"' in answer
            assert memory() - before < 150 * MEGABYTE
            assert time.monotonic() - began < 60


async def test_what_a_client_sends_while_a_reply_stalls_is_not_read_on() -> None:
    script = Script.parse('[[reply]]\ntext = "x"\ntimes = "forever"\nfault = "stall"')
    async with PracticeServer(script=script) as server:
        host = server.base_url.removeprefix("http://")
        name, port = host.split(":")
        _, writer = await asyncio.open_connection(name, int(port))
        body = json.dumps(REQUEST).encode()
        head = f"POST /v1/messages HTTP/1.1\r\nhost: {host}\r\nanthropic-version: 2023-06-01\r\nx-api-key: k\r\n"
        first = f"{head}content-length: {len(body)}\r\n\r\n".encode() + body
        writer.write(first + f"{head}content-length: {400 * MEGABYTE}\r\n\r\n".encode())
        before = memory()

        async def send() -> None:
            while True:
                writer.write(b" " * MEGABYTE)
                await writer.drain()

        sending = asyncio.create_task(send())
        await asyncio.wait({sending}, timeout=1)
        assert not sending.done()
        assert memory() - before < 40 * MEGABYTE
        sending.cancel()
        writer.transport.abort()


@pytest.mark.parametrize(
    "sent", ["POST /v1/messages HTTP/1.1\r\nhost:", "POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\nabc"]
)
async def test_a_request_that_does_not_come_to_its_end_is_given_up(sent: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "REQUEST_S", 0.2)
    async with PracticeServer(RuleModel()) as server, asyncio.timeout(60):
        name, port = server.base_url.removeprefix("http://").split(":")
        reader, writer = await asyncio.open_connection(name, int(port))
        writer.write(sent.encode())
        assert await reader.read() == b""
        writer.close()


async def test_a_connection_that_says_nothing_is_closed_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "IDLE_S", 0.2)
    async with PracticeServer(RuleModel()) as server, asyncio.timeout(60):
        name, port = server.base_url.removeprefix("http://").split(":")
        reader, writer = await asyncio.open_connection(name, int(port))
        assert await reader.read() == b""
        writer.close()


async def test_a_head_without_end_closes_the_connection() -> None:
    async with PracticeServer(RuleModel()) as server, asyncio.timeout(60):
        name, port = server.base_url.removeprefix("http://").split(":")
        reader, writer = await asyncio.open_connection(name, int(port))
        writer.write(b"POST / HTTP/1.1\r\nx-large: " + b"x" * 100_000)
        with suppress(ConnectionResetError):
            assert await reader.read() == b""
        writer.close()
