"""A server of the model may redirect within itself; key, headers and conversation go nowhere else."""

import asyncio
from collections.abc import Callable

import pytest

from harness.events import Fault, FaultKind, Outcome, Reply
from harness.model.client import ModelClient
from harness.model.endpoint import Endpoint, KeyHeader, Platform, checked, header
from harness.model.sdk import REDIRECTS
from tests.model.byte_server import WHOLE, ByteServer, playing
from tests.model.test_client import sent

pytestmark = pytest.mark.anyio
STATUSES = (301, 302, 303, 307, 308)
SECRETS = ("sk-test-1234", "secret-token", "secret-header")


def moved(status: int, location: str) -> bytes:
    return f"HTTP/1.1 {status} Moved\r\nlocation: {location}\r\ncontent-length: 0\r\n\r\n".encode()


def bearer(url: str) -> Endpoint:
    return checked(url, api_key="sk-test-1234", origin="test")


def x_api_key(url: str) -> Endpoint:
    return checked(url, api_key="sk-test-1234", origin="test", key_header=KeyHeader.X_API_KEY)


def token_and_headers(url: str) -> Endpoint:
    return checked(url, auth_token="secret-token", origin="test", headers=[header("x-secret", "secret-header")])


def foundry(url: str) -> Endpoint:
    key = bearer(url).api_key
    return Endpoint(url, key, None, "test", Platform.FOUNDRY, key_header=KeyHeader.X_API_KEY)


async def asked(endpoint: Endpoint) -> Outcome:
    client = ModelClient(endpoint)
    try:
        await client.models()
        return await sent(client)
    finally:
        await client.aclose()


@pytest.mark.parametrize("status", STATUSES)
@pytest.mark.parametrize("endpoint_at", [bearer, x_api_key, token_and_headers, foundry])
async def test_nothing_is_sent_to_another_server(status: int, endpoint_at: Callable[[str], Endpoint]) -> None:
    async with ByteServer(playing(WHOLE)) as other:
        target = f"http://user:hunter2@{other.url.removeprefix('http://')}/v1/messages?token=hunter2"
        async with ByteServer(playing(moved(status, target))) as server:
            endpoint = endpoint_at(server.url)
            fault = await asked(endpoint)
            assert isinstance(fault, Fault)
            assert (fault.kind, fault.should_retry) == (FaultKind.UNKNOWN, False)
            assert fault.message == (
                f"{server.url} redirects to {other.url}, and nothing was sent there; if you trust {other.url}, "
                f"set {endpoint.address_setting} to it"
            )
            assert (other.requests, other.arrived.is_set()) == ([], False)
            assert len(server.requests) == (1 if endpoint.platform is Platform.FOUNDRY else 2)
            assert not any(word in fault.message for word in (*SECRETS, "hunter2"))


@pytest.mark.parametrize(
    "target", ["http://localhost:{port}", "http://[::1]:{port}", "https://127.0.0.1:{port}", "//localhost:{port}"]
)
async def test_another_name_or_scheme_of_the_same_server_is_another_server(target: str) -> None:
    async with ByteServer(playing(b"")) as server:
        location = target.format(port=server.url.rpartition(":")[2])
        server.respond = playing(moved(308, f"{location}/v1/messages"))
        fault = await asked(x_api_key(server.url))
        assert isinstance(fault, Fault)
        named = location if "http" in location else f"http:{location}"
        assert f"redirects to {named}, and nothing was sent there" in fault.message
        assert len(server.requests) == 2  # the list of models and the prompt


@pytest.mark.parametrize("status", [307, 308])
async def test_a_redirect_within_the_server_is_followed_with_key_and_body(status: int) -> None:
    async with ByteServer(playing(WHOLE)) as server:

        async def respond(writer: asyncio.StreamWriter, number: int) -> None:
            writer.write(moved(status, f"{server.url}/v2/messages") if number == 1 else WHOLE)

        server.respond = respond
        client = ModelClient(x_api_key(server.url))
        assert isinstance(await sent(client), Reply)
        first, second = server.requests
        assert (second.path, second.headers["x-api-key"], second.body) == ("/v2/messages", "sk-test-1234", first.body)
        await client.aclose()


async def test_a_loop_ends_after_a_few_redirects() -> None:
    async with ByteServer(playing(moved(307, "/v1/messages"))) as server:
        client = ModelClient(x_api_key(server.url))
        fault = await sent(client)
        assert isinstance(fault, Fault)
        assert (fault.should_retry, len(server.requests)) == (False, REDIRECTS + 1)
        assert "redirects to itself" in fault.message
        await client.aclose()
