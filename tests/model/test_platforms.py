"""What a platform needs is checked before the first byte goes out, and its dialect is what the SDK's client sends."""

import asyncio
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from harness.events import Message, Reply
from harness.model.client import ModelClient, ModelRequest
from harness.model.endpoint import EndpointError, KeyHeader, Platform, checked, header
from harness.model.platforms import platform_endpoint
from harness.practice.script import Script
from harness.practice.server import PracticeServer
from harness.practice.wire.platforms import ORIGINAL_PATH
from harness.practice.wire.recorded import RecordedRequest
from tests.platforms import MODELS, TOKEN, google_credentials, needs, reach, without_platforms

pytestmark = pytest.mark.anyio
KEY = {"AWS_BEARER_TOKEN_BEDROCK": "a-bedrock-token"}
BEDROCK, VERTEX, FOUNDRY = Platform.BEDROCK, Platform.VERTEX, Platform.FOUNDRY


@pytest.fixture(autouse=True)
def nothing_of_this_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    without_platforms(monkeypatch, tmp_path)


@pytest.fixture
def google_file(tmp_path: Path) -> Iterator[Path]:
    needs(VERTEX)
    with google_credentials(tmp_path) as file:
        yield file


@pytest.mark.parametrize(
    ("platform", "environ", "setting", "remedy"),
    [
        (BEDROCK, KEY, "region", "AWS_REGION"),
        (BEDROCK, {"AWS_REGION": "eu-west-1"}, "endpoint", "AWS_BEARER_TOKEN_BEDROCK"),
        (BEDROCK, KEY | {"AWS_REGION": "evil.example/#"}, "region", "lower-case letters"),
        (BEDROCK, KEY | {"AWS_PROFILE": "missing"}, "endpoint", "put this right"),
        (VERTEX, {}, "region", "CLOUD_ML_REGION"),
        (VERTEX, {"CLOUD_ML_REGION": "global"}, "endpoint", "gcloud auth application-default login"),
        (FOUNDRY, {}, "endpoint", "ANTHROPIC_FOUNDRY_API_KEY"),
        (FOUNDRY, {"ANTHROPIC_FOUNDRY_API_KEY": "key"}, "foundry_resource", "ANTHROPIC_FOUNDRY_RESOURCE"),
        (
            FOUNDRY,
            {"ANTHROPIC_FOUNDRY_API_KEY": "key", "ANTHROPIC_FOUNDRY_RESOURCE": "evil.example/x"},
            "foundry_resource",
            "lower-case letters",
        ),
    ],
)
def test_what_is_missing_is_said_with_what_to_do(
    platform: Platform, environ: Mapping[str, str], setting: str, remedy: str
) -> None:
    needs(platform)
    with pytest.raises(EndpointError) as caught:
        platform_endpoint(platform, environ)
    assert caught.value.setting == setting
    assert remedy in caught.value.remedy


@pytest.mark.parametrize(
    ("platform", "environ", "address"),
    [
        (BEDROCK, KEY | {"AWS_REGION": "eu-west-1"}, "https://bedrock-runtime.eu-west-1.amazonaws.com"),
        (BEDROCK, KEY | {"AWS_DEFAULT_REGION": "us-east-1"}, "https://bedrock-runtime.us-east-1.amazonaws.com"),
        (
            FOUNDRY,
            {"ANTHROPIC_FOUNDRY_API_KEY": "key", "ANTHROPIC_FOUNDRY_RESOURCE": "mine"},
            "https://mine.services.ai.azure.com/anthropic",
        ),
    ],
)
def test_the_address_is_that_of_the_sdk(platform: Platform, environ: Mapping[str, str], address: str) -> None:
    needs(platform)
    assert platform_endpoint(platform, environ).base_url == address


@pytest.mark.parametrize(
    ("region", "host"),
    [
        ("global", "aiplatform.googleapis.com"),
        ("eu", "aiplatform.eu.rep.googleapis.com"),
        ("europe-west1", "europe-west1-aiplatform.googleapis.com"),
    ],
)
def test_vertex_takes_the_project_of_its_credentials_where_none_is_named(
    region: str, host: str, google_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(google_file))
    endpoint = platform_endpoint(VERTEX, {"CLOUD_ML_REGION": region})
    assert (endpoint.base_url, endpoint.project) == (f"https://{host}/v1", "project-of-the-account")


async def asked(client: ModelClient, server: PracticeServer, model: str = "claude-sonnet-4-6") -> RecordedRequest:
    """The one request that a prompt to this server is."""
    question = Message("user", ({"type": "text", "text": "hi"},))
    reply = await client.send(ModelRequest(model, 100, (), (), (question,), 10), lambda _: None, asyncio.Event())
    await client.aclose()
    assert isinstance(reply, Reply), reply
    assert reply.text == "Hello."
    (request,) = server.requests
    return request


def speaking() -> PracticeServer:
    return PracticeServer(script=Script.parse('[[reply]]\ntext = "Hello."'))


async def through(platform: Platform, google_file: Path | None, patch: pytest.MonkeyPatch) -> RecordedRequest:
    """A request by the client of a platform."""
    needs(platform)
    async with speaking() as server:
        environ = reach(platform, server.base_url, google_file)
        for name, value in environ.items():
            patch.setenv(name, value)
        client = ModelClient(platform_endpoint(platform, environ))
        return await asked(client, server, MODELS[platform].format("claude-sonnet-4-6"))


async def test_bedrock_gets_a_signed_request_at_the_path_of_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    request = await through(BEDROCK, None, monkeypatch)
    path = "/model/us.anthropic.claude-sonnet-4-6-20260201-v1:0/invoke-with-response-stream"
    assert request.headers[ORIGINAL_PATH] == path
    assert request.headers["authorization"] == "Bearer AKIAPRACTICE1234"  # what the server makes of the signature


async def test_vertex_gets_a_google_token_at_the_path_of_the_project(
    google_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = await through(VERTEX, google_file, monkeypatch)
    assert request.headers[ORIGINAL_PATH] == (
        "/v1/projects/practice-project/locations/global/publishers/anthropic/models/"
        "claude-sonnet-4-6@20260201:streamRawPredict"
    )
    assert request.headers["authorization"] == f"Bearer {TOKEN}"


async def test_foundry_gets_its_own_key_and_never_that_of_anthropic(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-of-anthropic-0123")
    request = await through(FOUNDRY, None, monkeypatch)
    assert request.headers[ORIGINAL_PATH] == "/anthropic/v1/messages"
    assert request.headers["x-api-key"] == request.headers["api-key"] == "foundry-key-0123456789"
    assert "sk-ant-of-anthropic-0123" not in str(request.headers)


@pytest.mark.parametrize("platform", [BEDROCK, VERTEX, FOUNDRY])
async def test_why_the_cache_missed_is_not_asked_where_it_may_be_refused(
    platform: Platform, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    file = request.getfixturevalue("google_file") if platform is VERTEX else None
    assert "diagnostics" not in (await through(platform, file, monkeypatch)).body


async def test_a_platform_is_not_asked_for_a_list_of_models(monkeypatch: pytest.MonkeyPatch) -> None:
    async with speaking() as server:
        client = ModelClient(platform_endpoint(FOUNDRY, reach(FOUNDRY, server.base_url)))
        assert await client.models() == ()
        await client.aclose()
        assert server.requests == []


async def test_a_gateway_gets_the_key_version_and_headers_that_it_wants() -> None:
    async with speaking() as server:
        endpoint = checked(
            server.base_url,
            api_key="sk-gateway-0123",
            origin="settings",
            key_header=KeyHeader.X_API_KEY,
            version="2023-06-01",
            headers=(header("X-Team", "blue"),),
        )
        headers = (await asked(ModelClient(endpoint), server)).headers
    assert headers["x-api-key"] == "sk-gateway-0123"
    assert "authorization" not in headers
    assert (headers["anthropic-version"], headers["x-team"]) == ("2023-06-01", "blue")


async def test_a_token_is_a_bearer_token_whatever_carries_the_key() -> None:
    async with speaking() as server:
        endpoint = checked(server.base_url, auth_token="token-0123", origin="settings", key_header=KeyHeader.X_API_KEY)
        headers = (await asked(ModelClient(endpoint), server)).headers
    assert headers["authorization"] == "Bearer token-0123"
    assert "x-api-key" not in headers
