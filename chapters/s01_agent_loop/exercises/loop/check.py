"""Checks of the loop: the real client, and a practice server that is as strict as the API."""

import json
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from anthropic import AsyncAnthropic, DefaultAsyncHttpxClient

from harness.practice.script import Script
from harness.practice.server import PracticeServer

END = "All done."


async def played(work: ModuleType, *replies: Sequence[dict[str, Any]]) -> tuple[str, list[list[Any]]]:
    """Let the loop run: every reply of the model makes some calls, a last one says END.

    Returns what the loop returned and, for each reply with calls, the results in the order of these calls.
    """
    calls = [f"[[reply]]\ntools = [{', '.join(map(toml, reply))}]" for reply in replies]
    script = Script.parse("\n".join(['after = "error"', *calls, f'[[reply]]\ntext = "{END}"']))
    straight = DefaultAsyncHttpxClient(mounts={"all://127.0.0.1": None})  # this machine: no proxy
    async with (
        PracticeServer(script=script) as server,
        AsyncAnthropic(base_url=server.base_url, api_key="practice", max_retries=0, http_client=straight) as client,
    ):
        said = await work.run(client, "Look around.")
        bodies = [request.body for request in server.requests]
    return said, [results_of(*body["messages"][-2:]) for body in bodies[1:]]


def results_of(asked: dict[str, Any], sent: dict[str, Any]) -> list[Any]:
    """For each call of a message of the model the result that was sent for it, found by its id."""
    results = {block["tool_use_id"]: block for block in sent["content"]}
    return [results[block["id"]] for block in asked["content"] if block["type"] == "tool_use"]


def bash(command: str) -> dict[str, Any]:
    """A call of the only tool."""
    return {"name": "bash", "input": {"command": command}}


def toml(call: dict[str, Any]) -> str:
    """A call as a script writes it."""
    fields = ", ".join(f"{name} = {json.dumps(value)}" for name, value in call["input"].items())
    return f'{{ name = "{call["name"]}", input = {{ {fields} }} }}'


def text_of(result: Any) -> str:
    """The text of a tool_result: a string or blocks."""
    content = result.get("content", "")
    return content if isinstance(content, str) else "".join(str(block.get("text", "")) for block in content)


async def check_every_call_is_answered(work: ModuleType) -> None:
    said, sent = await played(work, [bash("echo first")], [bash("echo second")])
    assert said == END, f"run() -> {said!r}; the model said {END!r}"
    for (result,), word in zip(sent, ("first", "second"), strict=True):
        assert word in text_of(result), f"echo {word} -> {result}"
        assert not result.get("is_error"), f"echo {word} -> {result}"


async def check_several_calls_in_one_reply(work: ModuleType) -> None:
    words = ("one", "two", "three")
    said, (results,) = await played(work, [bash(f"echo {word}") for word in words])
    assert said == END, f"run() -> {said!r}; the model said {END!r}"
    texts = [text_of(result).strip() for result in results]
    assert texts == list(words), f"echo one, echo two, echo three -> {texts}"


async def check_unknown_tool(work: ModuleType) -> None:
    weather = {"name": "weather", "input": {"city": "Oslo"}}
    said, ((first, second),) = await played(work, [weather, bash("echo still here")])
    assert first.get("is_error") is True, f"weather -> {first}"
    assert "weather" in text_of(first), f"weather -> {first}"
    assert "still here" in text_of(second), f"echo still here -> {second}"
    assert said == END, f"run() -> {said!r}; the model said {END!r}"


async def check_failing_command(work: ModuleType) -> None:
    said, ((result,),) = await played(work, [bash("echo no such thing; exit 3")])
    assert result.get("is_error") is True, f"echo no such thing; exit 3 -> {result}"
    assert "no such thing" in text_of(result), f"echo no such thing; exit 3 -> {result}"
    assert said == END, f"run() -> {said!r}; the model said {END!r}"
