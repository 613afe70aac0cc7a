"""The demo of s01 with the learner's `answers`."""

from functools import partial
from pathlib import Path
from types import ModuleType

from anthropic import APIError, AsyncAnthropic, DefaultAsyncHttpxClient

from chapters.course import DemoSession
from chapters.s01_agent_loop.demo import BASH, MAX_TOKENS, MODEL, NO_PROXY, Messages, run_bash


def run_here(command: str, *, folder: Path) -> tuple[str, bool]:
    """The `run_bash` of the exercise, in the folder of the session."""
    printed = run_bash(command, folder)
    return printed, not printed.endswith("[exit code 0]")


async def run_turn(client: AsyncAnthropic, messages: Messages, work: ModuleType) -> None:
    """The loop of the chapter; the results come from the learner."""
    while True:
        reply = await client.messages.create(model=MODEL, max_tokens=MAX_TOKENS, tools=[BASH], messages=messages)
        messages.append({"role": "assistant", "content": reply.content})
        calls = [block for block in reply.content if block.type == "tool_use"]
        if not calls:
            return
        messages.append({"role": "user", "content": work.answers(calls)})


async def demo(session: DemoSession, work: ModuleType) -> None:
    """A conversation with the learner's loop."""
    work.run_bash = partial(run_here, folder=session.workspace)  # type: ignore[attr-defined]
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
                await run_turn(client, messages, work)
            except APIError:
                del messages[before:]
