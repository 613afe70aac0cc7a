"""The learner's agent by hand, with a model behind the SDK and a tool that reads the letters."""

from collections.abc import Sequence
from types import ModuleType
from typing import Any

from anthropic import APIError, AsyncAnthropic, DefaultAsyncHttpxClient
from anthropic.types import ToolParam

from chapters.course import DemoSession
from chapters.s01_agent_loop.demo import MAX_TOKENS, MODEL, NO_PROXY

REQUESTS = 100
TEXT = {"type": "string"}
NAMES = {"type": "array", "items": TEXT}
TOOLS: dict[str, ToolParam] = {
    "read_letter": {
        "name": "read_letter",
        "description": "Read a letter by its number.",
        "input_schema": {"type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"]},
    },
    "agent": {
        "name": "agent",
        "description": "Have a new agent carry out a prompt; it may use the tools with these names.",
        "input_schema": {"type": "object", "properties": {"prompt": TEXT, "tools": NAMES}, "required": ["prompt"]},
    },
}


async def demo(session: DemoSession, work: ModuleType) -> None:
    """A conversation with one agent, which may ask others."""

    async def model(messages: Sequence[Any], tools: Sequence[str]) -> list[dict[str, Any]]:
        offered = [TOOLS[name] for name in tools]
        reply = await client.messages.create(model=MODEL, max_tokens=MAX_TOKENS, tools=offered, messages=list(messages))
        return [block.model_dump(exclude_none=True) for block in reply.content]

    def do(name: str, given: Any) -> str:
        file = session.workspace / "letters" / f"{int(given['number'])}.md"
        return file.read_text("utf-8") if file.is_file() else "there is no such letter"

    client = AsyncAnthropic(
        base_url=session.address,
        api_key="none",
        max_retries=0,
        http_client=DefaultAsyncHttpxClient(mounts=NO_PROXY),
    )
    agent = work.Agent(model, do, tuple(TOOLS), work.Budget(REQUESTS))
    async with client:
        async for prompt in session.prompts():
            before = len(agent.messages)
            try:
                await agent.run(prompt)
            except APIError:
                del agent.messages[before:]
