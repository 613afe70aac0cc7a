"""The real SDK against the server: each fault surfaces as api §1.1 and §2.1 say."""

import json
from typing import Any

import anthropic
import httpx2
import pytest

from harness.practice.script import Script
from harness.practice.server import PracticeServer

pytestmark = pytest.mark.anyio


async def ask(script: str, timeout_s: float = 60.0, **changes: Any) -> tuple[list[Any], Exception | None]:
    """The events that the SDK delivered, and what it raised."""
    events: list[Any] = []
    async with (
        PracticeServer(script=Script.parse(script)) as server,
        anthropic.AsyncAnthropic(api_key="key", base_url=server.base_url, max_retries=0, timeout=timeout_s) as client,
    ):
        try:
            async with await client.messages.create(**(_request() | changes), stream=True) as stream:
                async for event in stream:
                    events.append(event)
        except (anthropic.APIError, httpx2.HTTPError, ValueError) as error:
            return events, error
    return events, None


def _request() -> dict[str, Any]:
    return {"model": "practice-1", "max_tokens": 100, "messages": [{"role": "user", "content": "Hello"}]}


async def fault(fault: str, **changes: Any) -> tuple[list[Any], Exception | None]:
    return await ask(f'[[reply]]\ntext = "abcdefgh"\nchunk = 2\nfault = {fault}', **changes)


async def test_a_tool_call_goes_out_and_its_result_comes_back() -> None:
    script = Script.parse("""
        [[reply]]
        text = "I look."
        tools = [ { name = "bash", input = { command = "ls" } } ]
        [[reply]]
        text = "Two files."
    """)
    async with (
        PracticeServer(script=script) as server,
        anthropic.AsyncAnthropic(api_key="key", base_url=server.base_url, max_retries=0) as client,
    ):
        tools: Any = [{"name": "bash", "input_schema": {"type": "object"}}]
        messages: list[Any] = [{"role": "user", "content": "Hello"}]
        first = await client.messages.create(model="practice-1", max_tokens=100, tools=tools, messages=messages)
        call = first.content[-1]
        assert call.type == "tool_use"
        assert (first.stop_reason, call.name, call.input) == ("tool_use", "bash", {"command": "ls"})
        messages.append({"role": "assistant", "content": first.content})
        messages.append(
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call.id, "content": "a b"}]}
        )
        second = await client.messages.create(model="practice-1", max_tokens=100, tools=tools, messages=messages)
        assert second.stop_reason == "end_turn"
        counted = await client.messages.count_tokens(model="practice-1", messages=messages, tools=tools)
        assert counted.input_tokens == second.usage.input_tokens
        models = [model.id async for model in client.models.list()]
        assert "practice-1" in models
        assert (await client.models.retrieve("practice-1")).max_input_tokens == 200_000


async def test_a_spend_cap_has_its_error_code() -> None:
    _, error = await ask('[[reply]]\nstatus = 429\nerror_code = "enforced_spend_limit_reached"')
    assert type(error).__name__ == "EnforcedSpendLimitReachedError"


@pytest.mark.parametrize(
    ("wire", "expected", "delivered"),
    [
        ('"error_event"', anthropic.APIStatusError, 3),
        ('{ kind = "error_event", at = 0 }', anthropic.APIStatusError, 0),
        ('{ kind = "error_event", at = "end" }', anthropic.APIStatusError, 9),
        ('{ kind = "error_event", raw = "died" }', anthropic.APIStatusError, 3),
        ('"cut_chunk"', httpx2.RemoteProtocolError, 3),
        ('"short_length"', httpx2.RemoteProtocolError, 3),
        ('"reset"', httpx2.ReadError, 3),
        ('{ kind = "reset", at = "headers" }', anthropic.APIConnectionError, 0),
        ('{ kind = "clean_end", at = "headers" }', anthropic.APIConnectionError, 0),
        ('"bad_json"', json.JSONDecodeError, 3),
        ('"bad_utf8"', UnicodeDecodeError, 3),
        ('"clean_end"', None, 3),
        ('{ kind = "clean_end", at = "message_stop" }', None, 8),
        ('"close_delimited"', None, 3),
        ('{ kind = "clean_end", at = 0 }', None, 0),
        ('{ kind = "pings_only", every_s = 0.01, count = 3 }', None, 0),
        ('"data_only"', None, 0),
        ('"json_body"', None, 0),
        ('"html_body"', None, 0),
        ('{ kind = "omit", events = ["content_block_stop"] }', None, 8),
        ('"unknown_event"', None, 10),
        ('"unknown_delta"', None, 10),
        ('"unknown_block"', None, 11),
        ('"stop_reason"', None, 9),
        ('"bad_index"', None, 9),
        ('"missing_usage"', None, 9),
        ('"second_start"', None, 10),
        ('"crlf"', None, 9),
        ('"comments"', None, 9),
        ('"byte_by_byte"', None, 9),
    ],
)
async def test_faults_surface_as_measured(wire: str, expected: type[Exception] | None, delivered: int) -> None:
    events, error = await fault(wire)
    assert len(events) == delivered
    assert error is None if expected is None else isinstance(error, expected)


@pytest.mark.parametrize("at", ['"headers"', "4", '"end"'])
async def test_a_stall_is_a_timeout_before_the_response_and_a_read_timeout_after(at: str) -> None:
    _, error = await fault(f'{{ kind = "stall", at = {at} }}', timeout_s=0.2)
    assert type(error).__name__ == ("APITimeoutError" if at == '"headers"' else "ReadTimeout")
