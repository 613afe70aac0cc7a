"""s09: two sessions, one after the other. All they have in common is a folder with memories."""

from collections.abc import AsyncIterator
from pathlib import Path

from harness.agent import Agent
from harness.base.errors import HarnessError
from harness.events import Notice
from harness.lessons import Stage
from harness.memory.prompt_texts import index_lines

NAME = "indentation"
LOGS, LINES = 3, 900


def write_logs(folder: Path) -> None:
    """Logs that are long enough to make a compaction worth while."""
    for number in range(LOGS):
        lines = (f"parcel {number}-{line} left the house in time" for line in range(LINES))
        (folder / f"log-{number}.txt").write_text("\n".join(lines) + "\n")


def show_files(stage: Stage, agent: Agent) -> None:
    """Show the files on disk."""
    for memory in agent.memory.store.find().memories:
        stage.show(Notice("info", f"{memory.file.name}, {memory.size} bytes, of the {memory.place}: {memory.text}"))


def show_index(stage: Stage, agent: Agent) -> None:
    """Show what the system prompt of this session says of it."""
    for line in index_lines(agent.memory.store.find().memories):
        stage.show(Notice("info", line.removeprefix("- ")))


def bring_back(stage: Stage, agent: Agent) -> None:
    """What /memory undo does."""
    try:
        agent.memory.store.undo(NAME)
    except HarnessError as error:
        stage.show(Notice("warning", str(error)))
        return
    [memory] = agent.memory.store.find().named(NAME)
    stage.show(Notice("info", f"{memory.name} is again: {memory.text}"))


async def turns(stage: Stage, agent: Agent, prompts: AsyncIterator[str], count: int) -> None:
    """Take so many prompts."""
    for _ in range(count):
        await stage.watch(agent.run(await anext(prompts)))


async def demo(stage: Stage) -> None:
    """The first agent is closed before the second one is made."""
    write_logs(stage.workspace)
    prompts = stage.prompts()
    async with stage.agent() as first:
        await turns(stage, first, prompts, 2)
        show_files(stage, first)
    async with stage.agent() as second:
        show_index(stage, second)
        await turns(stage, second, prompts, 3)
        await stage.watch(second.compact())
        await turns(stage, second, prompts, 1)
        bring_back(stage, second)
        async for prompt in prompts:
            await stage.watch(second.run(prompt))
