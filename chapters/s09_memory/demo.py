"""s09: two sessions, one after the other. All they have in common is a folder with memories."""

from collections.abc import AsyncIterator
from pathlib import Path

from chapters.course import DemoSession
from harness.agent import Agent
from harness.base.errors import HarnessError
from harness.events import Notice
from harness.memory.prompt_section import index_lines

NAME = "indentation"
LOGS, LINES = 3, 900


def write_logs(folder: Path) -> None:
    """Logs that are long enough to make a compaction worth while."""
    for number in range(LOGS):
        lines = (f"parcel {number}-{line} left the house in time" for line in range(LINES))
        (folder / f"log-{number}.txt").write_text("\n".join(lines) + "\n")


def show_files(session: DemoSession, agent: Agent) -> None:
    """Show the files on disk."""
    for memory in agent.parts.core.shared.memory.store.find().memories:
        session.show(Notice("info", f"{memory.file.name}, {memory.size} bytes, of the {memory.place}: {memory.text}"))


def show_index(session: DemoSession, agent: Agent) -> None:
    """Show what the system prompt of this session says of it."""
    for line in index_lines(agent.parts.core.shared.memory.store.find().memories):
        session.show(Notice("info", line.removeprefix("- ")))


def bring_back(session: DemoSession, agent: Agent) -> None:
    """What /memory undo does."""
    try:
        agent.parts.core.shared.memory.store.undo(NAME)
    except HarnessError as error:
        session.show(Notice("warning", str(error)))
        return
    [memory] = agent.parts.core.shared.memory.store.find().named(NAME)
    session.show(Notice("info", f"{memory.name} is again: {memory.text}"))


async def turns(session: DemoSession, agent: Agent, prompts: AsyncIterator[str], count: int) -> None:
    """Take so many prompts."""
    for _ in range(count):
        await session.watch(agent.run(await anext(prompts)))


async def demo(session: DemoSession) -> None:
    """The first agent is closed before the second one is made."""
    write_logs(session.workspace)
    prompts = session.prompts()
    async with session.agent() as first:
        await turns(session, first, prompts, 2)
        show_files(session, first)
    async with session.agent() as second:
        show_index(session, second)
        await turns(session, second, prompts, 3)
        await session.watch(second.parts.user_commands.compact())
        await turns(session, second, prompts, 1)
        bring_back(session, second)
        async for prompt in prompts:
            await session.watch(second.run(prompt))
