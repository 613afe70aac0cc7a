"""An agent by hand: a model, one tool, and the loop between them."""

import subprocess
from typing import Any

MODEL = "practice-1"
BASH: Any = {
    "name": "bash",
    "description": "Run a command line with bash and read what it prints.",
    "input_schema": {
        "type": "object",
        "properties": {"command": {"type": "string", "description": "The command line."}},
        "required": ["command"],
    },
}


def run_bash(command: str) -> tuple[str, bool]:
    """The output of a command, and whether it failed."""
    done = subprocess.run(
        ["bash", "-c", command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=20,
        check=False,
    )
    return done.stdout.decode("utf-8", "replace"), done.returncode != 0


async def run(client: Any, prompt: str) -> str:
    """Ask the model until it calls no more tools; returns its last text."""
    messages: list[Any] = [{"role": "user", "content": prompt}]
    while True:
        reply = await client.messages.create(model=MODEL, max_tokens=1000, tools=[BASH], messages=messages)
        messages.append({"role": "assistant", "content": reply.content})
        calls = [block for block in reply.content if block.type == "tool_use"]
        if not calls:
            return "".join(block.text for block in reply.content if block.type == "text")
        messages.append({"role": "user", "content": answers(calls)})


def answers(calls: list[Any]) -> list[Any]:
    """The results of the tool calls: a list of blocks for one user message.

    A call has `call.id`, `call.name` and `call.input`.
    """
    # ── your part begins ─────────────────────────────────────────────
    return [{"type": "text", "text": "Go on."}]
    # ── your part ends ───────────────────────────────────────────────
