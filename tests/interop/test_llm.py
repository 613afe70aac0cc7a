"""Another client, `llm` with llm-anthropic, against our practice model: plain, streaming, with tools, with faults.

The server checks every request as strictly as the real API does, so an answer also says that what `llm`
sends back (tool results, signed thinking) fits what it was sent.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from harness.events import Json
from harness.practice.script import Script
from harness.practice.server import PracticeServer
from tests.agent.stage import calls, says
from tests.interop.programs import LIMIT_S, LLM, confined, finished, needed
from tests.ui.program import Finished, Place, end_of, start

needed(LLM)
pytestmark = [pytest.mark.anyio, pytest.mark.interop]

MODEL = ("-m", "claude-sonnet-4.6")
ANSWER = "The product of six and seven is forty-two."
MULTIPLY = """
def multiply(x: int, y: int) -> int:
    "Multiply two numbers."
    return x * y
"""
SIX_TIMES_SEVEN = '{ name = "multiply", input = { x = 6, y = 7 } }'
TWO_TIMES_TWO = '{ name = "multiply", input = { x = 2, y = 2 } }'

Llm = Callable[..., Awaitable[Finished]]


def environment(home: Path, base_url: str) -> dict[str, str]:
    return confined(
        home, LLM_USER_PATH=str(home / "llm"), ANTHROPIC_BASE_URL=base_url, ANTHROPIC_API_KEY="a-key-for-tests"
    )


@pytest.fixture
def llm(llm_program: str, tmp_path: Path) -> Llm:
    """Run `llm` against a server: `await llm(base_url, *arguments)`."""

    async def run(base_url: str, *arguments: str) -> Finished:
        return await finished([llm_program, *arguments], environment(tmp_path, base_url), tmp_path)

    return run


@asynccontextmanager
async def practice(place: Place, *arguments: str) -> AsyncIterator[str]:
    """`harness practice …` as a process; its base URL."""
    process = await start(place, "practice", *arguments)
    assert process.stdout is not None
    try:
        async with asyncio.timeout(LIMIT_S):
            first = (await process.stdout.readline()).decode()
        yield first.split()[-1]
    finally:
        if process.returncode is None:
            process.terminate()
        await end_of(process)


def scripted(script: str) -> PracticeServer:
    return PracticeServer(script=Script.parse(f'after = "error"\n{script}'))


def sent_back(server: PracticeServer, kind: str) -> list[Json]:
    """The blocks of one type in the last request."""
    messages: list[Any] = server.requests[-1].body["messages"]
    blocks = [block for message in messages if isinstance(message["content"], list) for block in message["content"]]
    return [block for block in blocks if block["type"] == kind]


# ── the improviser, as a command ────────────────────────────────────────────────────────────────────


async def test_a_plain_and_a_streamed_answer_are_the_same(llm: Llm, place: Place) -> None:
    async with practice(place, "serve") as base_url:
        plain = await llm(base_url, *MODEL, "--no-stream", "hello")
        streamed = await llm(base_url, *MODEL, "hello")
    assert (plain.code, plain.err) == (0, "")
    assert "practice model" in plain.out
    assert streamed == plain


async def test_a_tool_of_its_own_is_called_and_its_result_reported(llm: Llm, place: Place) -> None:
    async with practice(place, "serve") as base_url:
        ended = await llm(base_url, *MODEL, "-T", "llm_version", "use llm_version", "--td")
    assert ended.code == 0
    assert "Tool call: llm_version({})" in ended.err
    version = ended.err.split()[-1]
    assert version in ended.out.split("llm_version answered:")[1]


async def test_a_fault_proxy_between_them(llm: Llm, place: Place, tmp_path: Path) -> None:
    script = tmp_path / "overloaded-once.toml"
    script.write_text("[[reply]]\nstatus = 529\n[[reply]]\npass = true\n")
    async with (
        practice(place, "serve") as base_url,
        practice(place, "proxy", base_url, "--script", str(script)) as between,
    ):
        ended = await llm(between, *MODEL, "hello")
    assert ended.code == 0
    assert "practice model" in ended.out


# ── scripts ─────────────────────────────────────────────────────────────────────────────────────────


async def test_an_answer_is_shown_while_it_streams(llm_program: str, tmp_path: Path) -> None:
    async with scripted(says(ANSWER, chunk="10", fault='{ kind = "stall", at = 5 }')) as server:
        process = await asyncio.create_subprocess_exec(
            *(llm_program, *MODEL, "six times seven"),
            env=environment(tmp_path, server.base_url),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
        )
        assert process.stdout is not None
        try:
            async with asyncio.timeout(LIMIT_S):
                assert await process.stdout.readexactly(20) == ANSWER[:20].encode()
        finally:
            process.kill()
            await process.wait()


async def test_tool_calls_with_arguments_go_both_ways(llm: Llm) -> None:
    script = calls(SIX_TIMES_SEVEN, TWO_TIMES_TWO, text="Let me see.") + says(ANSWER)
    async with scripted(script) as server:
        ended = await llm(server.base_url, *MODEL, "--functions", MULTIPLY, "six times seven?", "--td")
    assert ended.code == 0
    assert ended.out.endswith(f"{ANSWER}\n")
    assert [result["content"] for result in sent_back(server, "tool_result")] == ["42", "4"]
    assert len(server.requests) == 2


async def test_signed_thinking_comes_back_as_it_was(llm: Llm) -> None:
    script = calls(SIX_TIMES_SEVEN, thinking='"Six and seven. A tool can do that."') + says(ANSWER)
    async with scripted(script) as server:
        ended = await llm(server.base_url, *MODEL, "-o", "thinking", "1", "--functions", MULTIPLY, "six times seven?")
    assert (ended.code, len(server.requests)) == (0, 2)
    assert [block["thinking"] for block in sent_back(server, "thinking")] == ["Six and seven. A tool can do that."]


async def test_tokens_are_counted_and_models_listed(llm: Llm, tmp_path: Path) -> None:
    async with scripted(says(ANSWER)) as server:
        counted = await llm(server.base_url, "anthropic", "count", *MODEL, "six times seven?")
        refreshed = await llm(server.base_url, "anthropic", "refresh")
    assert (counted.code, refreshed.code) == (0, 0), counted.err + refreshed.err
    assert int(counted.out) > 3
    assert [request.path for request in server.requests] == ["/v1/messages/count_tokens", "/v1/models"]
    assert "claude-sonnet-4-6" in (tmp_path / "llm" / "anthropic_models.json").read_text()
