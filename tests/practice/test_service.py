"""The two commands, run as tasks."""

import asyncio
import io
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from harness.events import Json
from harness.practice.script.entries import Chance
from harness.practice.server import PracticeServer
from harness.practice.service import AddressError, proxy, serve
from harness.practice.toml_table import ScriptError
from harness.practice.wire.listener import Address
from harness.practice.wire.replies import ScriptedReply, say
from tests.practice.raw_client import post

pytestmark = pytest.mark.anyio


class Parrot:
    """A brain of few words."""

    def answer(self, request: Json) -> ScriptedReply:
        return say("Pretty Polly")


class Lines(io.StringIO):
    """A text stream that sets an event at its first line."""

    def __init__(self) -> None:
        super().__init__()
        self.begun = asyncio.Event()

    def write(self, text: str) -> int:
        if "\n" in text:
            self.begun.set()
        return super().write(text)


@asynccontextmanager
async def running(command: Coroutine[None, None, None], out: Lines) -> AsyncIterator[str]:
    """The base URL of a command, which is cancelled at the end."""
    task = asyncio.create_task(command)
    await asyncio.wait((task, asyncio.create_task(out.begun.wait())), return_when=asyncio.FIRST_COMPLETED)
    yield out.getvalue().split()[-1]
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_serve_prints_its_address_and_one_line_a_request(tmp_path: Path) -> None:
    script = tmp_path / "s.toml"
    script.write_text("[[reply]]\nstatus = 529", "utf-8")
    out = Lines()
    async with running(serve(Parrot(), out, script=script), out) as url:
        await post(url)
        assert b"Pretty Polly" in (await post(url)).body
    lines = out.getvalue().splitlines()
    assert lines[0] == f"practice model at {url}"
    assert "POST /v1/messages  practice-1  529 overloaded_error" in lines[1]
    assert "POST /v1/messages  practice-1  200  0." in lines[2]
    assert len(lines) == 3


async def test_serve_takes_a_window_and_faults_by_chance() -> None:
    out = Lines()
    async with running(serve(Parrot(), out, window=1, chance=Chance(1, mix=("overloaded",))), out) as url:
        seen = await post(url)
    assert "prompt is too long" in seen.json["error"]["message"]


async def test_proxy_prints_its_address_and_the_faults_it_put_in() -> None:
    out = Lines()
    async with (
        PracticeServer(Parrot()) as server,
        running(proxy(server.base_url, out, chance=Chance(1, 2, ("reset",))), out) as url,
    ):
        assert (await post(url)).ending == "reset"
    assert f"fault proxy before {server.base_url} at {url}" in out.getvalue()
    assert "200 with reset  (connection ended)" in out.getvalue()


async def test_bad_arguments_are_one_sentence() -> None:
    out = Lines()
    with pytest.raises(ScriptError, match="command line: faults must be between 0 and 1, not 2"):
        await serve(None, out, chance=Chance(2))
    with pytest.raises(ScriptError, match="command line: faults = 'rest' is not known; did you mean 'reset'"):
        await serve(None, out, chance=Chance(0.1, mix=("rest",)))
    with pytest.raises(ScriptError, match=r"nowhere\.toml: there is no such script file; give a path, or one of"):
        await serve(None, out, script="nowhere.toml")
    async with PracticeServer() as server:
        with pytest.raises(AddressError, match="choose another port or host"):
            await serve(None, out, address=Address(port=int(server.base_url.rpartition(":")[2])))
