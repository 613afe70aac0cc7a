"""An agent of your own. Chapter s01: a model, one tool, and the loop between them.

    python my_agent.py "How many lines does notes.txt have?"

Without a prompt it reads prompts line by line. It asks the server at ANTHROPIC_BASE_URL with the key ANTHROPIC_API_KEY
and works in the current folder. Answers go to standard output, everything else to standard error.
"""

import asyncio
import os
import sys
from typing import Any

from anthropic import APIError, AsyncAnthropic

MODEL = os.environ.get("MY_AGENT_MODEL", "claude-sonnet-5-5")
MAX_TOKENS = 8_000
LONGEST_S = 120.0
BASH: Any = {
    "name": "bash",
    "description": "Run a command line with bash and read what it prints.",
    "input_schema": {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]},
}


def note(text: str) -> None:
    """A line for the user, outside of the answer."""
    print(text, file=sys.stderr, flush=True)


async def run_bash(command: str) -> str:
    """What a command printed, and how it ended."""
    process = await asyncio.create_subprocess_exec(
        *("bash", "-c", command),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        async with asyncio.timeout(LONGEST_S):
            output, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
    return f"{output.decode('utf-8', 'replace')}[exit code {process.returncode}]"


class Agent:
    """One conversation."""

    def __init__(self) -> None:
        self.client = AsyncAnthropic(api_key=os.environ.get("ANTHROPIC_API_KEY") or "none")
        self.messages: list[Any] = []

    async def run(self, prompt: str) -> str:
        """Ask the model until it asks for no more tools; returns its last text."""
        self.add("user", [{"type": "text", "text": prompt}])
        while True:
            reply = await self.ask()
            self.add("assistant", reply)
            calls = [block for block in reply if block["type"] == "tool_use"]
            if not calls:
                return "".join(block["text"] for block in reply if block["type"] == "text")
            self.add("user", [await self.result(call) for call in calls])

    def add(self, role: str, content: list[Any]) -> None:
        """Append a message to the history."""
        self.messages.append({"role": role, "content": content})

    async def ask(self) -> list[Any]:
        """The blocks of the model's reply to the history."""
        reply = await self.client.messages.create(
            model=MODEL, max_tokens=MAX_TOKENS, tools=[BASH], messages=self.messages
        )
        return [block.model_dump(mode="json", exclude_none=True) for block in reply.content]

    async def result(self, call: Any) -> Any:
        """The block that answers a tool call."""
        note(f"○ {call['name']} {call['input']}")
        content = await run_bash(call["input"]["command"])
        return {"type": "tool_result", "tool_use_id": call["id"], "content": content}


async def main(arguments: list[str]) -> int:
    """Answer the prompt of the command line, or the lines of standard input; returns the exit code."""
    agent, code = Agent(), 0
    for prompt in [" ".join(arguments)] if arguments else sys.stdin:
        try:
            if prompt.strip():
                print(await agent.run(prompt.strip()), flush=True)
        except APIError as error:
            code = 1
            note(f"my_agent: {error}")
    return code


if __name__ == "__main__":
    try:
        sys.exit(asyncio.run(main(sys.argv[1:])))
    except KeyboardInterrupt:
        sys.exit(130)
