"""The client on real sockets: one POST and one outcome for each send, whatever happens to the bytes."""

import asyncio
import os
import re
import ssl
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from harness.events import Event, Fault, FaultKind, Json, Message, Outcome, Reply, SilenceHint, TextDelta, Usage
from harness.model.client import ModelClient, ModelRequest
from harness.model.endpoint import checked
from harness.model.watchdog import WatchLimits
from tests.model.byte_server import (
    BEGUN,
    END,
    ENDING,
    HEAD,
    MESSAGE_START,
    MESSAGE_STOP,
    PING,
    STOPPED,
    TEXT,
    TEXT_START,
    TEXT_STOP,
    THINKING_START,
    WHOLE,
    ByteServer,
    chunk,
    playing,
    reset,
    sse,
)

pytestmark = pytest.mark.anyio

K = FaultKind
REQUEST = ModelRequest(
    model="practice-1",
    max_tokens=100,
    system=({"type": "text", "text": "Be brief."},),
    tools=({"name": "bash", "description": "", "input_schema": {"type": "object"}},),
    messages=(Message("user", ({"type": "text", "text": "hi"},)),),
    estimated_tokens=10,
)
SAID_HELLO: Json = {"type": "text", "text": "hello"}
Respond = Callable[[asyncio.StreamWriter, int], Awaitable[None]]


def client_of(server: ByteServer, watch: WatchLimits | None = None) -> ModelClient:
    return ModelClient(checked(server.url, api_key="sk-test-1234", origin="test"), watch=watch)


async def sent(client: ModelClient, *, emit: Callable[[Event], None] | None = None, fresh: bool = False) -> Outcome:
    return await client.send(REQUEST, emit or (lambda _: None), asyncio.Event(), fresh_connection=fresh)


async def outcome_of(respond: Respond | bytes, watch: WatchLimits | None = None) -> Outcome:
    """The outcome of one send to a server that answers so. Checks that there was exactly one POST."""
    async with ByteServer(playing(respond) if isinstance(respond, bytes) else respond) as server:
        client = client_of(server, watch)
        try:
            return await sent(client)
        finally:
            assert len(server.requests) == 1
            assert server.requests[0].headers["x-stainless-retry-count"] == "0"
            await client.aclose()


async def fault_of(respond: Respond | bytes, watch: WatchLimits | None = None) -> Fault:
    outcome = await outcome_of(respond, watch)
    assert isinstance(outcome, Fault)
    return outcome


# --- a good answer -------------------------------------------------------------------------------


async def test_a_reply_comes_back_whole_and_its_pieces_are_shown() -> None:
    async with ByteServer(playing(WHOLE)) as server:
        client, shown = client_of(server), list[Event]()
        reply = await sent(client, emit=shown.append)
        assert reply == Reply("m", "end_turn", (SAID_HELLO,), usage=Usage(3, 2), request_id="req_1")
        assert shown == [TextDelta("hello")]
        await client.aclose()


async def test_a_count_that_python_refuses_to_read_costs_only_the_count() -> None:
    data = b'{"message": {"model": "m", "usage": {"input_tokens": %s}}}' % (b"9" * 5_000)
    start = chunk(b"event: message_start\ndata: %s\n\n" % data)
    async with ByteServer(
        playing(HEAD + start + TEXT_START + TEXT + TEXT_STOP + ENDING + MESSAGE_STOP + END)
    ) as server:
        client = client_of(server)
        reply = await sent(client)
        assert reply == Reply("m", "end_turn", (SAID_HELLO,), usage=Usage(0, 2), request_id="req_1")
        await client.aclose()


async def test_the_request_is_what_was_asked_and_nothing_else() -> None:
    async with ByteServer(playing(WHOLE)) as server:
        client = client_of(server)
        await sent(client)
        (request,) = server.requests
        assert request.body == {
            "model": "practice-1",
            "max_tokens": 100,
            "messages": [{"role": "user", "content": [{"type": "text", "text": "hi"}]}],
            "system": [{"type": "text", "text": "Be brief."}],
            "tools": [{"name": "bash", "description": "", "input_schema": {"type": "object"}}],
            "stream": True,
            "diagnostics": {"previous_message_id": None},
        }
        assert request.headers["authorization"] == "Bearer sk-test-1234"
        await client.aclose()


async def test_five_turns_use_one_connection() -> None:
    async with ByteServer(playing(WHOLE)) as server:
        client = client_of(server)
        for _ in range(5):
            assert isinstance(await sent(client), Reply)
        assert len({request.port for request in server.requests}) == 1
        await client.aclose()


@pytest.mark.parametrize(
    "after",
    [
        b"",
        sse("error", {"type": "error", "error": {"type": "overloaded_error", "message": "Busy"}}) + END,
        b"this is no chunk\r\n",
        PING,
    ],
)
async def test_nothing_after_message_stop_can_spoil_the_reply(after: bytes) -> None:
    began = time.monotonic()
    assert isinstance(await outcome_of(STOPPED + after), Reply)
    assert time.monotonic() - began < 30


async def test_a_socket_that_stays_open_after_message_stop_costs_half_a_second() -> None:
    async with ByteServer(playing(STOPPED)) as server:
        client = client_of(server)
        assert isinstance(await sent(client), Reply)
        began = time.monotonic()
        assert isinstance(await sent(client), Reply)
        assert 0.4 < time.monotonic() - began < 10
        await client.aclose()


async def test_a_reset_after_message_stop_does_not_matter() -> None:
    async def respond(writer: asyncio.StreamWriter, _number: int) -> None:
        writer.write(STOPPED)
        await writer.drain()
        reset(writer)

    assert isinstance(await outcome_of(respond), Reply)


# --- answers that are not good -------------------------------------------------------------------


def status(code: int, body: bytes = b"", **headers: str) -> bytes:
    lines = [f"HTTP/1.1 {code} Whatever", f"content-length: {len(body)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (400, K.UNKNOWN),
        (401, K.AUTH),
        (413, K.REQUEST_TOO_LARGE),
        (429, K.RATE_LIMIT),
        (500, K.SERVER),
        (529, K.OVERLOADED),
    ],
)
async def test_an_error_status_is_a_fault_after_one_post(code: int, kind: FaultKind) -> None:
    fault = await fault_of(status(code, retry_after="2", request_id="req_9", x_should_retry="true"))
    assert (fault.kind, fault.status, fault.retry_after_s, fault.request_id) == (kind, code, 2.0, "req_9")
    assert fault.should_retry is True
    assert not fault.streamed


async def test_the_refused_key_is_not_shown_when_the_server_quotes_it() -> None:
    fault = await fault_of(status(401, b'{"error":{"message":"wrong key sk-test-1234 or (sk-test-1234)"}}'))
    assert fault.message == "wrong key ••• or (•••)"


@pytest.mark.parametrize(
    ("name", "error_status"), [("overloaded_error", 529), ("rate_limit_error", 429), ("api_error", 500)]
)
async def test_an_error_event_is_a_fault_with_what_was_complete(name: str, error_status: int) -> None:
    error = sse("error", {"type": "error", "error": {"type": name, "message": "Sorry"}})
    fault = await fault_of(BEGUN + TEXT_STOP + error + END)
    assert (fault.status, fault.error_type, fault.message, fault.streamed) == (error_status, name, "Sorry", True)
    assert (fault.kept, fault.usage, fault.request_id) == ((SAID_HELLO,), Usage(3, 0), "req_1")


OTHER_START = sse("message_start", {"message": {"id": "msg_2", "model": "m", "usage": {"input_tokens": 3}}})


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (HEAD + END, K.MALFORMED_RESPONSE),
        (HEAD + PING + PING + END, K.MALFORMED_RESPONSE),
        (HEAD + chunk(b"data: {}\n\n") + END, K.MALFORMED_RESPONSE),
        (BEGUN + END, K.NETWORK),
        (BEGUN + TEXT_STOP + END, K.NETWORK),
        (BEGUN + OTHER_START + END, K.MALFORMED_RESPONSE),
        (BEGUN + sse("content_block_delta", {"index": 7, "delta": {}}) + END, K.MALFORMED_RESPONSE),
        (BEGUN + chunk(b"event: message_delta\ndata: {oh\n\n") + END, K.MALFORMED_RESPONSE),
        (BEGUN + chunk(b"event: message_delta\ndata: [1]\xff\n\n") + END, K.MALFORMED_RESPONSE),
        (b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 6\r\n\r\n<html>", K.MALFORMED_RESPONSE),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n", K.MALFORMED_RESPONSE),
        (b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}", K.MALFORMED_RESPONSE),
        (b"SSH-2.0-OpenSSH_9.6\r\n\r\n", K.NETWORK),
    ],
)
async def test_an_answer_that_is_not_whole_is_a_fault(answer: bytes, kind: FaultKind) -> None:
    assert (await fault_of(answer)).kind is kind


@pytest.mark.parametrize("answer", [b"", HEAD, BEGUN, BEGUN + b"ff\r\nhalf a chu"])
@pytest.mark.parametrize("end", [asyncio.StreamWriter.close, reset])
async def test_a_lost_connection_is_a_network_fault(answer: bytes, end: Callable[[asyncio.StreamWriter], None]) -> None:
    async def respond(writer: asyncio.StreamWriter, _number: int) -> None:
        writer.write(answer)
        await writer.drain()
        end(writer)

    fault = await fault_of(respond)
    assert fault.kind is K.NETWORK
    assert fault.streamed is bool(answer)


async def test_a_refused_connection_is_a_network_fault() -> None:
    async with ByteServer(playing(b"")) as server:
        client = client_of(server)
    fault = await sent(client)
    assert isinstance(fault, Fault)
    assert (fault.kind, fault.unreachable, client.reached) == (K.NETWORK, True, False)
    assert re.fullmatch(r"no connection could be made to 127\.0\.0\.1:\d+: Connection refused", fault.message)


async def test_a_name_that_does_not_resolve_is_a_network_fault() -> None:
    fault = await sent(ModelClient(checked("http://no-such-host.invalid", api_key="sk-test-1234", origin="test")))
    assert isinstance(fault, Fault)
    assert (fault.kind, fault.unreachable) == (K.NETWORK, True)
    assert re.fullmatch(r"no connection could be made to no-such-host\.invalid: [A-Z][a-z ]+", fault.message)


@pytest.mark.parametrize(("answer", "reached"), [(WHOLE, True), (status(503), True), (b"garbage\r\n\r\n", False)])
async def test_a_client_knows_whether_its_server_has_ever_answered(answer: bytes, reached: bool) -> None:
    async with ByteServer(playing(answer)) as server:
        client = client_of(server)
        assert not client.reached
        await sent(client)
        assert client.reached is reached
        await client.aclose()


async def test_a_self_signed_certificate_is_a_tls_fault_and_final() -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(Path(__file__).parent / "data" / "self_signed.pem")
    async with ByteServer(playing(WHOLE), ssl_context=context) as server:
        client = client_of(server)
        fault = await sent(client)
        assert isinstance(fault, Fault)
        assert (fault.kind, fault.should_retry) == (K.TLS, False)
        assert server.requests == []
        await client.aclose()


async def test_text_that_cannot_be_sent_is_a_fault_of_the_history() -> None:
    async with ByteServer(playing(WHOLE)) as server:
        client = client_of(server)
        broken = ModelRequest("m", 1, (), (), (Message("user", ({"type": "text", "text": "\udcff"},)),), 1)
        fault = await client.send(broken, lambda _: None, asyncio.Event())
        assert isinstance(fault, Fault)
        assert fault.kind is K.HISTORY_INVALID
        assert server.requests == []
        await client.aclose()


# --- connections ---------------------------------------------------------------------------------


async def test_a_reset_on_a_used_connection_is_a_stale_socket_and_a_fresh_one_helps() -> None:
    async def respond(writer: asyncio.StreamWriter, number: int) -> None:
        if number == 2:
            reset(writer)
        else:
            writer.write(WHOLE)

    async with ByteServer(respond) as server:
        client = client_of(server)
        first, second = await sent(client), await sent(client)
        third = await sent(client, fresh=True)
        assert isinstance(first, Reply)
        assert isinstance(second, Fault)
        assert second.kind is K.STALE_SOCKET
        assert isinstance(third, Reply)
        assert server.requests[0].port == server.requests[1].port != server.requests[2].port
        await client.aclose()


async def test_a_fresh_connection_leaves_other_requests_alone() -> None:
    finish = asyncio.Event()

    async def respond(writer: asyncio.StreamWriter, number: int) -> None:
        writer.write(BEGUN)
        if number == 1:
            await finish.wait()
        writer.write(WHOLE.removeprefix(BEGUN))

    async with ByteServer(respond) as server:
        client = client_of(server)
        slow = asyncio.create_task(sent(client))
        await server.arrived.wait()
        assert isinstance(await sent(client, fresh=True), Reply)
        finish.set()
        assert isinstance(await slow, Reply)
        await client.aclose()


# --- silence, interruption, cancellation ---------------------------------------------------------

QUICK = WatchLimits(
    headers_s=0.3,
    quiet_bytes_s=0.5,
    quiet_event_s=0.8,
    content_bytes_s=0.2,
    content_event_s=0.4,
    hint_s=0.1,
)
PHASES = {
    "before the headers": (b"", 0.3, False),
    "before the first block": (HEAD + MESSAGE_START, 0.5, True),
    "while thinking": (HEAD + MESSAGE_START + THINKING_START, 0.5, True),
    "inside text": (BEGUN, 0.2, True),
}


@pytest.mark.parametrize("phase", PHASES)
async def test_silence_is_given_up_after_the_limit_of_its_phase(phase: str) -> None:
    answer, limit, streamed = PHASES[phase]
    async with ByteServer(playing(answer)) as server:
        client, shown = client_of(server, QUICK), list[Event]()
        began = time.monotonic()
        fault = await sent(client, emit=shown.append)
        gone_within = time.monotonic() - began
        assert isinstance(fault, Fault)
        assert (fault.kind, fault.streamed) == (K.TIMEOUT, streamed)
        assert gone_within >= limit
        hints = [event for event in shown if isinstance(event, SilenceHint)]
        assert hints
        assert hints[0].silent_s >= 0.1
        assert 0 < hints[0].gives_up_in_s <= limit
        await asyncio.wait_for(server.gone.wait(), 60)
        assert isinstance(await sent(client), Fault)
        await client.aclose()


@pytest.mark.parametrize(("begun", "limit"), [(HEAD + MESSAGE_START, 0.8), (BEGUN, 0.4)])
async def test_pings_alone_are_given_up_too(begun: bytes, limit: float) -> None:
    async def respond(writer: asyncio.StreamWriter, _number: int) -> None:
        writer.write(begun)
        while True:
            await asyncio.sleep(0.05)
            writer.write(PING)

    began = time.monotonic()
    fault = await fault_of(respond, QUICK)
    assert (fault.kind, "keep-alives" in fault.message) == (K.TIMEOUT, True)
    assert time.monotonic() - began >= limit


async def test_a_slow_but_steady_stream_is_not_given_up() -> None:
    async def respond(writer: asyncio.StreamWriter, _number: int) -> None:
        writer.write(BEGUN)
        for _ in range(8):
            await asyncio.sleep(0.1)
            writer.write(sse("content_block_delta", {"index": 0, "delta": {"type": "text_delta", "text": "."}}))
        writer.write(WHOLE.removeprefix(BEGUN))

    reply = await outcome_of(respond, QUICK)
    assert isinstance(reply, Reply)
    assert reply.text == "hello........"


@pytest.mark.parametrize("answer", [b"", HEAD, BEGUN])
async def test_an_interrupt_keeps_what_was_written_and_frees_the_connection(answer: bytes) -> None:
    async with ByteServer(playing(answer)) as server:
        client, interrupt, told = client_of(server), asyncio.Event(), asyncio.Event()
        sending = asyncio.create_task(client.send(REQUEST, lambda _: told.set(), interrupt))
        await server.arrived.wait()
        if answer == BEGUN:
            await told.wait()
        interrupt.set()
        asked_at = time.monotonic()
        fault = await sending
        assert isinstance(fault, Fault)
        assert fault.kind is K.CANCELLED
        assert fault.kept == ((SAID_HELLO,) if answer == BEGUN else ())
        await server.gone.wait()
        assert server.gone_at - asked_at < 0.2
        server.respond = playing(WHOLE)
        assert isinstance(await sent(client), Reply)
        await client.aclose()


async def test_an_interrupt_before_the_request_sends_nothing() -> None:
    async with ByteServer(playing(WHOLE)) as server:
        client, interrupt = client_of(server), asyncio.Event()
        interrupt.set()
        fault = await client.send(REQUEST, lambda _: None, interrupt)
        assert isinstance(fault, Fault)
        assert fault.kind is K.CANCELLED
        assert server.requests == []
        await client.aclose()


async def test_the_user_may_ask_for_a_new_connection() -> None:
    async with ByteServer(playing(BEGUN)) as server:
        client, reconnect = client_of(server), asyncio.Event()
        sending = asyncio.create_task(client.send(REQUEST, lambda _: None, asyncio.Event(), reconnect=reconnect))
        await server.arrived.wait()
        reconnect.set()
        fault = await sending
        assert isinstance(fault, Fault)
        assert (fault.kind, fault.error_code) == (K.TIMEOUT, "reconnect_asked")
        assert fault.message.startswith("reconnect asked")
        await client.aclose()


@pytest.mark.parametrize("answer", [b"", HEAD, BEGUN, STOPPED])
async def test_a_cancelled_task_closes_its_connection_at_once(answer: bytes) -> None:
    async with ByteServer(playing(answer)) as server:
        client = client_of(server)
        sending = asyncio.create_task(sent(client))
        await server.arrived.wait()
        await asyncio.sleep(0.05)
        asked_at = time.monotonic()
        sending.cancel()
        with pytest.raises(asyncio.CancelledError):
            await sending
        await server.gone.wait()
        assert server.gone_at - asked_at < 0.2
        server.respond = playing(WHOLE)
        assert isinstance(await sent(client), Reply)
        await client.aclose()


async def test_no_task_is_left_behind() -> None:
    async with ByteServer(playing(WHOLE)) as server:
        client = client_of(server)
        before = asyncio.all_tasks()
        await sent(client)
        await asyncio.sleep(0)
        await client.aclose()
        names = {task.get_coro().__qualname__ for task in asyncio.all_tasks() - before}  # type: ignore[union-attr]
        assert names <= {"ByteServer._serve", "ByteServer._answer"}


# --- the environment -----------------------------------------------------------------------------

PROGRAM = """
import asyncio, sys
from harness.events import Message
from harness.model.client import ModelClient, ModelRequest
from harness.model.endpoint import checked

async def main():
    client = ModelClient(checked(sys.argv[1], origin="test"))
    client.preload()
    message = Message("user", ({"type": "text", "text": "hi"},))
    # A model for which the SDK's own methods print a warning.
    request = ModelRequest("claude-opus-4-0", 9, (), (), (message,), 1)
    print((await client.send(request, lambda _: None, asyncio.Event())).text)
    await client.aclose()

asyncio.run(main())
"""


@pytest.mark.stories
async def test_loopback_is_safe_from_the_environment_and_stderr_stays_empty() -> None:
    poison = {
        "ANTHROPIC_API_KEY": "poison-key",
        "ANTHROPIC_AUTH_TOKEN": "poison-token",
        "ANTHROPIC_BASE_URL": "http://127.0.0.1:9",
        "ANTHROPIC_CUSTOM_HEADERS": "X-Poison: poison-header\nAuthorization: poison-auth\nanthropic-version: poison",
        "ANTHROPIC_PROFILE": "poison-profile",
        "ANTHROPIC_LOG": "debug",
        "ANTHROPIC_OPEN_TELEMETRY": "true",
        **dict.fromkeys(("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY"), "http://127.0.0.1:9"),
        "all_proxy": "socks5://127.0.0.1:9",
    }
    async with ByteServer(playing(WHOLE)) as server:
        arguments = [sys.executable, "-W", "always", "-c", PROGRAM, server.url]
        process = await asyncio.create_subprocess_exec(
            *arguments, env=os.environ | poison, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        output, errors = await process.communicate()
        assert (output.decode().strip(), process.returncode) == ("hello", 0), errors.decode()
        assert errors == b""
        (request,) = server.requests
        assert "poison" not in str(request.headers)
        assert request.headers["anthropic-version"][:2] == "20"


@pytest.mark.parametrize(("address", "remote"), [("https://api.example.com", True), ("http://127.0.0.1:8000", False)])
async def test_a_client_knows_whether_its_server_is_elsewhere(address: str, remote: bool) -> None:
    assert ModelClient(checked(address, api_key="sk-1", origin="test")).remote is remote


@pytest.mark.parametrize(
    ("content", "why"), [(None, "No such file or directory"), ("no PEM", "it contains no certificates")]
)
async def test_certificates_that_cannot_be_read_are_named_with_their_variable(
    content: str | None, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "ca.pem"
    if content is not None:
        file.write_text(content)
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    client = ModelClient(checked("https://127.0.0.1:9", api_key="sk-test-1234", origin="a test"))
    fault = await sent(client)
    assert isinstance(fault, Fault)
    assert (fault.kind, fault.should_retry) == (FaultKind.TLS, False)
    assert f"SSL_CERT_FILE={file} cannot be read ({why})" in fault.message
    await client.aclose()
