"""An agent by hand: the bare SDK, one tool, one loop. Nothing here is of harness but the session it plays on."""

import asyncio
from pathlib import Path
from subprocess import DEVNULL, PIPE, STDOUT, TimeoutExpired, run

from anthropic import APIError, AsyncAnthropic, DefaultAsyncHttpxClient
from anthropic.types import MessageParam, ToolParam, ToolResultBlockParam

from chapters.course import DemoSession

MODEL = "practice-1"
MAX_TOKENS = 8_000
LIMIT_S = 30
MOST_CHARACTERS = 20_000
NO_PROXY = {"all://127.0.0.1": None}
"""The model of the course is on this machine: the way to it leads through no proxy."""

Messages = list[MessageParam]

BASH: ToolParam = {
    "name": "bash",
    "description": "Run a command line and read what it prints.",
    "input_schema": {
        "type": "object",
        "properties": {"command": {"type": "string"}},
        "required": ["command"],
    },
}


def run_bash(command: str, folder: Path) -> str:
    """What a command printed, and how it ended."""
    try:
        done = run(
            ["bash", "-c", command],
            cwd=folder,
            stdin=DEVNULL,
            stdout=PIPE,
            stderr=STDOUT,
            timeout=LIMIT_S,
            check=False,
        )
    except TimeoutExpired:
        return f"[stopped: no end after {LIMIT_S} s]"
    printed = done.stdout.decode("utf-8", "replace")
    return f"{printed[-MOST_CHARACTERS:]}[exit code {done.returncode}]"


async def run_turn(client: AsyncAnthropic, messages: Messages, folder: Path) -> None:
    """Send the messages, run the calls of the reply, append the results; until a reply has no calls."""
    while True:
        reply = await client.messages.create(
            model=MODEL,
            max_tokens=MAX_TOKENS,
            tools=[BASH],
            messages=messages,
        )
        messages.append({"role": "assistant", "content": reply.content})
        results: list[ToolResultBlockParam] = []
        for block in reply.content:
            if block.type == "tool_use":
                command = str(block.input["command"])
                output = await asyncio.to_thread(run_bash, command, folder)
                results.append(
                    {
                        "type": "tool_result",
                        "tool_use_id": block.id,
                        "content": output,
                    }
                )
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
