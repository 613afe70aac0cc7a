"""An agent by hand: the bare SDK, one tool, one loop. Nothing here is of harness but the stage it plays on."""

import asyncio
from pathlib import Path
from subprocess import DEVNULL, PIPE, STDOUT, TimeoutExpired, run

from anthropic import APIError, AsyncAnthropic, DefaultAsyncHttpxClient
from anthropic.types import MessageParam, ToolParam, ToolResultBlockParam

from harness.lessons import Stage

MODEL = "practice-1"
MAX_TOKENS = 8_000
LIMIT_S = 30
MOST_CHARACTERS = 20_000

BASH: ToolParam = {
    "name": "bash",
    "description": "Run a command line with bash and read what it prints.",
    "input_schema": {
        "type": "object",
        "properties": {"command": {"type": "string", "description": "The command line."}},
        "required": ["command"],
    },
}


def run_bash(command: str, folder: Path) -> str:
    """What a command printed, and how it ended. It gets no keyboard and a time limit."""
    try:
        done = run(
            ["bash", "-c", command], cwd=folder, stdin=DEVNULL, stdout=PIPE, stderr=STDOUT, timeout=LIMIT_S, check=False
        )
    except TimeoutExpired:
        return f"[stopped: no end after {LIMIT_S} s]"
    printed = done.stdout.decode("utf-8", "replace")[-MOST_CHARACTERS:]
    return f"{printed}[exit code {done.returncode}]"


async def run_turn(client: AsyncAnthropic, messages: list[MessageParam], folder: Path) -> None:
    """Ask the model, run what it asks for, tell it what came out; again, until it asks for nothing."""
    while True:
        reply = await client.messages.create(model=MODEL, max_tokens=MAX_TOKENS, tools=[BASH], messages=messages)
        messages.append({"role": "assistant", "content": reply.content})
        results: list[ToolResultBlockParam] = []
        for block in reply.content:
            if block.type == "tool_use":
                output = await asyncio.to_thread(run_bash, str(block.input["command"]), folder)
                results.append({"type": "tool_result", "tool_use_id": block.id, "content": output})
        if not results:
            return
        messages.append({"role": "user", "content": results})


async def demo(stage: Stage) -> None:
    """A conversation: one list of messages that grows."""
    messages: list[MessageParam] = []
    straight = DefaultAsyncHttpxClient(mounts={"all://127.0.0.1": None})  # the model is on this machine: no proxy
    async with AsyncAnthropic(base_url=stage.address, api_key="none", max_retries=0, http_client=straight) as client:
        async for prompt in stage.prompts():
            before = len(messages)
            messages.append({"role": "user", "content": prompt})
            try:
                await run_turn(client, messages, stage.workspace)
            except APIError:
                del messages[before:]  # all this loop can do about a failed request: forget the whole turn
