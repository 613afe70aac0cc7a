"""s22: one piece of work that only looks like a circle, one circle that a word ends, and one that nothing ends."""

from pathlib import Path

from harness.events import ToolEnded
from harness.lessons import Stage

LOG = "build.log"


def grow(log: Path) -> None:
    """The build goes on: one more line."""
    done = len(log.read_text("utf-8").splitlines())
    with log.open("a", encoding="utf-8") as file:
        file.write(f"compiled part {done} of 20\n")


async def demo(stage: Stage) -> None:
    """An agent as always: loop detection is part of it. Only the log grows."""
    async with stage.agent() as agent:
        async for prompt in stage.prompts():
            async for event in agent.run(prompt):
                stage.show(event)
                if isinstance(event, ToolEnded):
                    grow(stage.workspace / LOG)
