"""The loop of s01 with five tools: a list of schemas, a table of handlers, and an answer to every call."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

from anthropic import APIError, AsyncAnthropic, DefaultAsyncHttpxClient
from anthropic.types import ToolParam, ToolResultBlockParam, ToolUseBlock

from chapters.course import DemoSession
from chapters.s01_agent_loop.demo import MAX_TOKENS, MODEL, NO_PROXY, Messages, run_bash

MOST_LINES = 200


class Refusal(Exception):  # noqa: N818 - an answer to the model, not a mistake of ours
    """Why a call is not carried out, in words that help the model to do better."""


def bash(folder: Path, command: str) -> str:
    """Run a command line, as in s01."""
    return run_bash(command, folder)


def read_file(folder: Path, path: str, offset: int = 1) -> str:
    """Lines with their numbers, and how to get at the rest."""
    lines = inside(folder, path).read_text("utf-8", "replace").splitlines()
    numbered = [f"{number}\t{line}" for number, line in enumerate(lines, 1)][max(offset, 1) - 1 :]
    rest = len(numbered) - MOST_LINES
    note = [f"[{rest} more lines, from offset {max(offset, 1) + MOST_LINES}]"] if rest > 0 else []
    return "\n".join(numbered[:MOST_LINES] + note)


def write_file(folder: Path, path: str, content: str) -> str:
    """Write a whole file."""
    target = inside(folder, path)
    target.parent.mkdir(parents=True, exist_ok=True)
    return f"wrote {target.write_bytes(content.encode())} bytes"


def edit_file(folder: Path, path: str, old: str, new: str) -> str:
    """Replace `old`, which must occur exactly once."""
    target = inside(folder, path)
    text = target.read_text("utf-8")
    if (places := text.count(old)) != 1:
        raise Refusal(f"this text occurs {places} times in {path}; give a piece that occurs once")
    target.write_text(text.replace(old, new), "utf-8")
    return f"changed {path}"


def glob(folder: Path, pattern: str) -> str:
    """Files whose name fits, in this folder and in all below it."""
    wanted = pattern.removeprefix("**/") or "*"
    found = [path.relative_to(folder) for path in sorted(folder.rglob("*")) if path.is_file()]
    return "\n".join(str(path) for path in found if path.match(wanted)) or "nothing fits"


def inside(folder: Path, path: str) -> Path:
    """The real place of a path, links and `..` followed, if it is in the folder."""
    place = (folder / path).resolve()
    if not place.is_relative_to(folder.resolve()):
        raise Refusal(f"{path} is outside of the folder you work in")
    return place


def schema(name: str, description: str, types: dict[str, str], *, optional: tuple[str, ...] = ()) -> ToolParam:
    """All that the model knows about a tool."""
    properties = {field: {"type": type} for field, type in types.items()}
    required = [field for field in types if field not in optional]
    rules: dict[str, object] = {"type": "object", "properties": properties, "required": required}
    return {"name": name, "description": description, "input_schema": rules}


ONE_PLACE = {"path": "string", "old": "string", "new": "string"}
TOOLS: list[ToolParam] = [
    schema("bash", "Run a command line with bash.", {"command": "string"}),
    schema("read_file", "Read lines.", {"path": "string", "offset": "integer"}, optional=("offset",)),
    schema("write_file", "Write a whole file.", {"path": "string", "content": "string"}),
    schema("edit_file", "Replace `old`, which must occur exactly once, by `new`.", ONE_PLACE),
    schema("glob", "Find files by name, also in folders below.", {"pattern": "string"}),
]
HANDLERS: dict[str, Callable[..., str]] = {
    tool.__name__: tool for tool in (bash, read_file, write_file, edit_file, glob)
}
PYTHON_TYPES = {"string": str, "integer": int}


def checked(name: str, given: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a call, if they are what the schema asks for."""
    rules: dict[str, Any] = dict(next(tool for tool in TOOLS if tool["name"] == name)["input_schema"])
    fields = rules["properties"]
    if strange := [field for field in given if field not in fields]:
        raise Refusal(f"{name} takes no {strange[0]}; it takes {', '.join(fields)}")
    if missing := [field for field in rules["required"] if field not in given]:
        raise Refusal(f"{name} needs {', '.join(missing)}")
    for field, value in given.items():
        if not isinstance(value, PYTHON_TYPES[fields[field]["type"]]):
            raise Refusal(f"{field} of {name} has to be of type {fields[field]['type']}")
    return given


async def answer(call: ToolUseBlock, folder: Path) -> ToolResultBlockParam:
    """The result of one call. A mistake of the model becomes an error result and does not end the program."""
    result: ToolResultBlockParam = {"type": "tool_result", "tool_use_id": call.id}
    try:
        if call.name not in HANDLERS:
            raise Refusal(f"there is no tool {call.name}; there are {', '.join(HANDLERS)}")
        handler, arguments = HANDLERS[call.name], checked(call.name, call.input)
        return {**result, "content": await asyncio.to_thread(handler, folder, **arguments)}
    except (Refusal, OSError, UnicodeError) as error:
        return {**result, "content": f"Error: {error}", "is_error": True}


async def run_turn(client: AsyncAnthropic, messages: Messages, folder: Path) -> None:
    """The loop of s01, with several tools and an answer to every call."""
    while True:
        reply = await client.messages.create(
            model=MODEL,
            max_tokens=MAX_TOKENS,
            tools=TOOLS,
            messages=messages,
        )
        messages.append({"role": "assistant", "content": reply.content})
        calls = [block for block in reply.content if block.type == "tool_use"]
        results = [await answer(call, folder) for call in calls]
        if not results:
            return
        messages.append({"role": "user", "content": results})


async def demo(session: DemoSession) -> None:
    """A conversation: one list of messages that grows."""
    messages: Messages = []
    client = AsyncAnthropic(
        base_url=session.address,
        api_key="none",
        max_retries=0,
        http_client=DefaultAsyncHttpxClient(mounts=NO_PROXY),
    )
    async with client:
        async for prompt in session.prompts():
            before = len(messages)
            messages.append({"role": "user", "content": prompt})
            try:
                await run_turn(client, messages, session.workspace)
            except APIError:
                del messages[before:]
