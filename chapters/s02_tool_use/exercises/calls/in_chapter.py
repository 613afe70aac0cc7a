"""The loop of s02 with the learner's `answers`, which gets the tools of the chapter."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import ModuleType

from anthropic import APIError, AsyncAnthropic, DefaultAsyncHttpxClient
from anthropic.types import ToolParam

from chapters.course import DemoSession
from chapters.s01_agent_loop.demo import MAX_TOKENS, MODEL, NO_PROXY, Messages
from chapters.s02_tool_use.demo import HANDLERS, Refusal, edit_file, glob, schema
from harness.events import Notice

TAKES: dict[str, dict[str, type]] = {
    "bash": {"command": str},
    "read_file": {"path": str},
    "write_file": {"path": str, "content": str},
    edit_file.__name__: {"path": str, "old": str, "new": str},
    glob.__name__: {"pattern": str},
}
READS = {"read_file", "glob"}
TOOLS: list[ToolParam] = [
    schema(name, str(HANDLERS[name].__doc__), dict.fromkeys(takes, "string")) for name, takes in TAKES.items()
]


class RunningCalls:
    """Counts the calls that run at the same time."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._running = 0
        self._writing = 0
        self.most_reading = 0
        """The most reading calls at the same time."""
        self.beside_writing = 0
        """Calls that ran at the same time as one that changes something."""

    def tool(self, name: str) -> Callable[..., Awaitable[str]]:
        """The function of a tool, counted."""

        async def run(**given: object) -> str:
            writes = name not in READS
            self._running += 1
            self._writing += writes
            if self._writing:
                self.beside_writing = max(self.beside_writing, self._running - 1)
            else:
                self.most_reading = max(self.most_reading, self._running)
            try:
                return await asyncio.to_thread(HANDLERS[name], self._folder, **given)
            finally:
                self._running -= 1
                self._writing -= writes

        return run

    @property
    def said(self) -> str:
        """The counts in a sentence."""
        return (
            f"reading calls at the same time: {self.most_reading}; calls beside one that writes: {self.beside_writing}"
        )


async def run_turn(client: AsyncAnthropic, messages: Messages, work: ModuleType, calls: RunningCalls) -> None:
    """The loop of the chapter; the results come from the learner."""
    tools = {name: work.Tool(calls.tool(name), takes, name in READS) for name, takes in TAKES.items()}
    while True:
        reply = await client.messages.create(model=MODEL, max_tokens=MAX_TOKENS, tools=TOOLS, messages=messages)
        messages.append({"role": "assistant", "content": reply.content})
        if not any(block.type == "tool_use" for block in reply.content):
            return
        results = await work.answers([block.model_dump() for block in reply.content], tools)
        messages.append({"role": "user", "content": results})


async def demo(session: DemoSession, work: ModuleType) -> None:
    """A conversation whose calls the learner answers."""
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
            calls = RunningCalls(session.workspace)
            try:
                await run_turn(client, messages, work, calls)
            except (APIError, Refusal):
                del messages[before:]
            session.show(Notice("info", calls.said))
