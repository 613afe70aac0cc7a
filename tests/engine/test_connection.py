"""The connection to the model: which address, which key, and what a server of its own leaves behind."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from harness.base.errors import HarnessError, SettingsError
from harness.engine.connection import (
    PRACTICE_KEY,
    ModelConnection,
    OrderedToolFaults,
    PracticeFaults,
    address_of,
    endpoint_of,
)
from harness.events import Event, FaultOrdered
from harness.model.tokens import TokenCounter
from harness.settings import PRACTICE_MODEL, Settings
from harness.tools.grep import grep_tool
from harness.tools.toolbox import Toolbox
from tests.agent.stage import KEY, settings_of
from tests.agent.test_warming import listening, practising

pytestmark = pytest.mark.anyio

HERE, THERE = "http://127.0.0.1:9", "http://127.0.0.1:10"
REMOTE = "https://models.example.com"


def real(folder: Path, base_url: str | None = HERE, **values: object) -> Settings:
    """Settings with an address, or none."""
    return settings_of(folder, base_url, **values).settings  # type: ignore[arg-type]


@asynccontextmanager
async def connection(
    settings: Settings, reread: Callable[[], Settings] | None = None
) -> AsyncIterator[ModelConnection]:
    made = ModelConnection(settings, logging.getLogger("test"), TokenCounter(), reread)
    try:
        yield made
    finally:
        await made.aclose()


# ── the practice model ──────────────────────────────────────────────────────────────────────────────


async def test_the_practice_server_starts_once_however_many_ask_and_ends_with_the_connection(tmp_path: Path) -> None:
    before = listening()
    async with connection(practising(tmp_path).settings) as made:
        assert made.address == "the built-in practice model"
        made.check()
        assert (listening(), made.address) == (before, "the built-in practice model")
        with pytest.raises(RuntimeError, match="not open"):
            _ = made.client
        await asyncio.gather(made.open(), made.open())
        client = made.client
        await made.open()
        assert made.client is client
        assert listening() == before + 1
        assert made.address.startswith("http://127.0.0.1:")
        assert await answers(made) == 200
    assert listening() == before
    with pytest.raises(RuntimeError, match="not open"):
        _ = made.client


async def test_a_connection_that_was_closed_can_be_opened_again(tmp_path: Path) -> None:
    before = listening()
    async with connection(practising(tmp_path).settings) as made:
        await made.open()
        await made.aclose()
        assert listening() == before
        await made.open()
        assert listening() == before + 1
    assert listening() == before


async def test_a_script_that_cannot_be_played_is_refused_before_anything_starts(tmp_path: Path) -> None:
    script = tmp_path / "script.toml"
    script.write_text("[[reply]]\nno_such_key = 1\n")
    settings, before = practising(tmp_path, practice_script=script).settings, listening()
    async with connection(settings) as made:
        for refused in (made.check, made.check):
            with pytest.raises(HarnessError, match="no_such_key"):
                refused()
        with pytest.raises(HarnessError, match="no_such_key"):
            await made.open()
        assert listening() == before
    script.write_text("[[reply]]\ntext = 'fine'\n")
    async with connection(settings) as made:
        made.check()
        script.unlink()
        await made.open()  # the checked script is played


# ── a real model ────────────────────────────────────────────────────────────────────────────────────


async def test_an_address_without_a_key_is_refused_by_name_unless_it_is_this_machine(tmp_path: Path) -> None:
    async with connection(real(tmp_path, REMOTE, api_key=None)) as made:
        for refused in (made.check, lambda: endpoint_of(real(tmp_path, REMOTE, api_key=None))):
            with pytest.raises(SettingsError, match=r"api_key \(ANTHROPIC_API_KEY\) is not set"):
                refused()
    assert endpoint_of(real(tmp_path, HERE, api_key=None)).credential is None


async def test_the_key_goes_before_the_token_and_the_token_is_used_without_one(tmp_path: Path) -> None:
    both, token = (
        endpoint_of(real(tmp_path, REMOTE, api_key=key, auth_token="a-token-of-some-length")) for key in (KEY, None)
    )
    assert (both.api_key is not None, both.auth_token) == (True, None)
    assert token.api_key is None
    assert token.auth_token is not None
    assert token.auth_token.reveal() == "a-token-of-some-length"


def test_without_an_address_it_is_that_of_anthropic_and_a_platform_is_named_with_its_place(tmp_path: Path) -> None:
    settings = real(tmp_path)
    assert address_of(settings) == HERE
    none = settings.model_copy(update={"base_url": None})
    assert address_of(none) == endpoint_of(none).base_url == "https://api.anthropic.com"
    platform = real(tmp_path, endpoint="vertex", region="europe-west1", vertex_project="ours", base_url=None)
    assert address_of(platform).endswith(", europe-west1, ours")


@pytest.mark.parametrize(
    ("values", "says_so"),
    [
        ({"endpoint": "bedrock", "region": "eu-west-1"}, "no name on Bedrock"),
        ({"endpoint": "bedrock", "region": "eu-west-1", "model": "m", "anthropic_version": "1"}, "has no meaning on"),
    ],
)
def test_what_a_platform_does_not_take_is_refused_with_the_remedy(
    tmp_path: Path, values: dict[str, object], says_so: str
) -> None:
    plain = {"base_url": None, "api_key": None, "model": Settings.model_fields["model"].default}
    settings = real(tmp_path, **(plain | values))
    with pytest.raises(SettingsError, match=says_so):
        endpoint_of(settings)


# ── a key that was changed meanwhile ────────────────────────────────────────────────────────────────


async def test_a_changed_key_is_used_from_the_next_request_on(tmp_path: Path) -> None:
    now = [real(tmp_path)]
    async with connection(now[0], lambda: now[0]) as made:
        await made.open()
        client = made.client
        assert await made.reload() is False
        assert made.client is client
        now[0] = real(tmp_path, THERE, api_key="another-key-0123456789")
        assert await made.reload() is True
        assert made.client is not client
        assert made.address == THERE
        client = made.client
        now[0] = real(tmp_path, THERE, api_key="a-third-key-0123456789")
        assert await made.reload() is True
        assert made.client is not client


async def test_settings_that_cannot_be_read_again_leave_the_connection_as_it_is(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with connection(real(tmp_path), lambda: real(tmp_path, REMOTE, api_key=None)) as made:
        await made.open()
        client = made.client
        assert await made.reload() is False
        assert made.client is client
    assert "could not be read again" in caplog.text
    assert KEY not in caplog.text


@pytest.mark.parametrize("practice", [True, False])
async def test_nothing_is_read_again_for_the_practice_model_or_without_a_user(tmp_path: Path, practice: bool) -> None:
    def reread() -> Settings:
        raise AssertionError("it was read")

    settings = practising(tmp_path).settings if practice else real(tmp_path)
    async with connection(settings, reread if practice else None) as made:
        await made.open()
        assert await made.reload() is False


# ── faults on purpose ───────────────────────────────────────────────────────────────────────────────


async def test_faults_of_a_real_model_are_refused_with_what_to_do(tmp_path: Path) -> None:
    async with connection(real(tmp_path)) as made:
        faults = PracticeFaults(made, OrderedToolFaults(), Toolbox([grep_tool()]), lambda event: None)
        with pytest.raises(HarnessError, match=f"The model at {HERE} cannot be broken from here; start"):
            faults.break_model("529")


async def test_faults_that_are_ordered_before_the_server_runs_reach_it_and_each_order_is_reported(
    tmp_path: Path,
) -> None:
    seen: list[Event] = []
    tools = OrderedToolFaults()
    async with connection(practising(tmp_path).settings) as made:
        faults = PracticeFaults(made, tools, Toolbox([grep_tool()]), seen.append)
        faults.break_model("529 3")
        early = made.orders
        await made.open()
        assert made.orders is early
        assert [order.times for order in made.orders.waiting] == [3]
        faults.break_tool("grep timeout 2")
        assert [order.tool for order in tools.orders.waiting] == ["grep"]
        told = len(seen)
        faults.break_model("")  # only lists
        assert len(seen) == told
    assert seen == [FaultOrdered("model", "529 3"), FaultOrdered("tool", "grep timeout 2")]


async def test_faults_that_are_ordered_later_are_those_of_the_server(tmp_path: Path) -> None:
    async with connection(practising(tmp_path).settings) as made:
        await made.open()
        PracticeFaults(made, OrderedToolFaults(), Toolbox(()), lambda event: None).break_model("529")
        waiting = made.orders.waiting
        assert [order.times for order in waiting] == [1]
        assert await answers(made) == 529
        assert made.orders.waiting == ()


async def answers(made: ModelConnection) -> int:
    """The status with which the practice server answers a request."""
    body = {"model": PRACTICE_MODEL, "max_tokens": 10, "messages": [{"role": "user", "content": "hello"}]}
    headers = {"x-api-key": PRACTICE_KEY, "anthropic-version": "2023-06-01", "content-type": "application/json"}
    request = Request(f"{made.address}/v1/messages", json.dumps(body).encode(), headers)

    def sent() -> int:
        try:
            with urlopen(request) as response:
                return int(response.status)
        except HTTPError as error:
            return error.code

    return await asyncio.to_thread(sent)
