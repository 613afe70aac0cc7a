"""s22: one piece of work that only looks like a loop, one loop that a word ends, and one that nothing ends."""

from pathlib import Path

from chapters.course import DemoSession
from harness.events import ToolEnded

LOG = "build.log"


def grow(log: Path) -> None:
    """The build continues: one more line."""
    done = len(log.read_text("utf-8").splitlines())
    with log.open("a", encoding="utf-8") as file:
        file.write(f"compiled part {done} of 20\n")


async def demo(session: DemoSession) -> None:
    """An agent as always: loop detection is part of it. Only the log grows."""
    async with session.agent() as agent:
        async for prompt in session.prompts():
            async for event in agent.run(prompt):
                session.show(event)
                if isinstance(event, ToolEnded):
                    grow(session.workspace / LOG)
