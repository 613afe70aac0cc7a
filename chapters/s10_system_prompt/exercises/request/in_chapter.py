"""A conversation by hand whose requests the learner puts together; the server says what it read from its cache."""

import time
from types import ModuleType
from typing import Any

from anthropic import APIStatusError, AsyncAnthropic, DefaultAsyncHttpxClient

from chapters.course import DemoSession
from harness.events import Notice, ReplyReceived, Usage

NO_PROXY = {"all://127.0.0.1": None}
RULES = "\n".join(f"- Rule {number}: the file of part {number} has tests of its own." for number in range(1, 121))
SECTIONS = {"role": "You help with a program of many parts.", "skills": "  \n", "rules": RULES}
"""One of them says nothing."""
FACTS = (
    "<facts>It is Monday, the branch is main.</facts>",
    "<facts>It is Monday, the branch is main.</facts>",
    "<facts>It is Tuesday, the branch is drafts.</facts>",
)
"""For each turn."""


def tool_called(name: str) -> dict[str, Any]:
    """A tool without arguments."""
    return {"name": name, "description": f"Use {name}.", "input_schema": {"type": "object", "properties": {}}}


TOOLS = tuple(map(tool_called, ("read_file", "bash", "grep")))


async def demo(session: DemoSession, work: ModuleType) -> None:
    """In each turn the tools arrive in another order."""
    history: list[dict[str, Any]] = []
    client = AsyncAnthropic(
        base_url=session.address,
        api_key=session.KEY,
        max_retries=0,
        http_client=DefaultAsyncHttpxClient(mounts=NO_PROXY),
    )
    turn = 0
    async with client:
        async for prompt in session.prompts():
            first = turn % len(TOOLS)
            tools = (*TOOLS[first:], *TOOLS[:first])
            facts = FACTS[min(turn, len(FACTS) - 1)]
            turn += 1
            sent = work.request(SECTIONS, tools, tuple(history), facts, prompt)
            began = time.monotonic()
            try:
                reply = await client.messages.create(model=session.MODEL, max_tokens=1_000, **sent)
            except APIStatusError as error:
                session.show(Notice("error", f"the server refuses the request: {error.message}"))
                continue
            usage = Usage(
                reply.usage.input_tokens,
                reply.usage.output_tokens,
                reply.usage.cache_creation_input_tokens or 0,
                reply.usage.cache_read_input_tokens or 0,
            )
            took = time.monotonic() - began
            session.show(ReplyReceived(reply.model, str(reply.stop_reason), usage, reply.id, took))
            said = [{"type": "text", "text": block.text} for block in reply.content if block.type == "text"]
            history = [*sent["messages"], {"role": "assistant", "content": said}]
