"""Checks of the hook: a real agent that may do everything, and a model that tries to write into .env."""

import json
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

from harness import Agent, HookCall
from harness.events import HookFailed
from harness.hooks import Hook
from harness.practice.script import Script
from harness.practice.server import PracticeServer
from harness.settings import Settings

KEYS = "TOKEN=secret\n"


@dataclass(frozen=True)
class Told:
    """The result of a call for the model."""

    text: str
    refused: bool


async def told(work: ModuleType, folder: str, *calls: tuple[str, dict[str, Any]]) -> list[Told]:
    """Let an agent with the hook make some calls in a new folder, and return what the model reads of each."""
    workspace = Path(folder).resolve()
    (workspace / "config").mkdir(parents=True)
    for name in (".env", "config/.env"):
        (workspace / name).write_text(KEYS)
    tools = ", ".join(f'{{ name = "{tool}", input = {toml(input)} }}' for tool, input in calls)
    script = Script.parse(f'after = "error"\n[[reply]]\ntools = [{tools}]\n[[reply]]\ntext = "I see."')
    async with PracticeServer(script=script) as server:
        own = {"base_url": server.base_url, "api_key": "practice", "workspace": workspace}
        settings = Settings.model_validate(own | {"permission_mode": "yolo", "shared_admission": False})
        raised: list[Exception] = []
        async with Agent(settings, hooks=[watched(work.guard, raised)]) as agent:
            async for event in agent.run("Write it down."):
                if isinstance(event, HookFailed):
                    raise raised[0] if raised else TypeError(event.why)
        blocks = server.requests[-1].body["messages"][-1]["content"]
    results = [block for block in blocks if block["type"] == "tool_result"]
    return [Told(str(block["content"]), bool(block.get("is_error"))) for block in results]


def watched(guard: Hook, raised: list[Exception]) -> Hook:
    """The hook; exceptions are recorded, because an agent reports them and continues."""
    action = guard.action
    assert callable(action), f"guard -> {guard}"

    def asked(call: HookCall) -> Any:
        try:
            return action(call)
        except Exception as error:
            raised.append(error)
            raise

    return replace(guard, action=asked)


def write(path: str) -> tuple[str, dict[str, Any]]:
    """A call that writes a file."""
    return "write_file", {"path": path, "content": "TOKEN=mine\n"}


def toml(input: dict[str, Any]) -> str:
    """The input of a call as a script writes it."""
    return "{ " + ", ".join(f"{name} = {json.dumps(value)}" for name, value in input.items()) + " }"


async def check_env_is_not_written(work: ModuleType) -> None:
    (result,) = await told(work, "first", write(".env"))
    content = Path("first/.env").read_text()
    assert content == KEYS, f"write_file .env -> {content!r}"
    assert result.refused, f"write_file .env -> {result.text!r}"


async def check_the_model_reads_why(work: ModuleType) -> None:
    (result,) = await told(work, "second", write(".env"))
    assert result.refused, f"write_file .env -> {result.text!r}"
    assert ".env.example" in result.text, f"write_file .env -> {result.text!r}"


async def check_other_ways_to_the_same_file(work: ModuleType) -> None:
    edit = ("edit_file", {"path": "config/.env", "old_string": "secret", "new_string": "mine"})
    calls = (edit, write("config/.env"), write("config/../.env"), write("new/folder/.env"))
    for (tool, input), result in zip(calls, await told(work, "third", *calls), strict=True):
        assert result.refused, f"{tool} {input['path']} -> {result.text!r}"
    contents = [Path("third", name).read_text() for name in (".env", "config/.env")]
    assert contents == [KEYS, KEYS], f".env, config/.env -> {contents}"
    assert not Path("third/new/folder/.env").exists(), "write_file new/folder/.env -> written"


async def check_everything_else_is_written(work: ModuleType) -> None:
    paths = (".env.example", "notes.env", ".environment", "docs/.env.md", ".env.d/keys.txt")
    for path, result in zip(paths, await told(work, "fourth", *map(write, paths)), strict=True):
        assert not result.refused, f"write_file {path} -> {result.text!r}"
        assert Path("fourth", path).exists(), f"write_file {path} -> not written"
