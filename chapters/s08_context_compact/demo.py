"""s08: an agent reads one log after the other, in front of a model with a small window."""

from pathlib import Path

from chapters.course import DemoSession
from harness.agent import Agent
from harness.events import CompactionEnded, Event, Notice

DAYS = 24
LINES = 135


def write_logs(folder: Path) -> None:
    """A log for each day. Together they are larger than the window."""
    for day in range(1, DAYS + 1):
        lines = (f"order {day * 1_000 + number} was packed by the early shift" for number in range(LINES))
        (folder / f"day-{day:02}.log").write_text("\n".join(lines) + "\n")


def tell(session: DemoSession, agent: Agent) -> None:
    """Show what fills the window, and how often it had to be made emptier."""
    use, done = agent.parts.context.usage, agent.conversation.state.shortenings
    parts = ", ".join(f"{part.name} {part.tokens:,}" for part in use.parts)
    session.show(Notice("info", f"{use.tokens:,} of {use.window:,} tokens: {parts}"))
    session.show(Notice("info", f"{done.drains} drains, {done.summaries} summaries, {done.cuts} cuts"))


def originals(agent: Agent, event: Event) -> list[Path]:
    """The files with the whole text of drained results; none for other events."""
    calls = event.drained if isinstance(event, CompactionEnded) else ()
    return [next(agent.parts.core.outputs.glob(f"{call}.old*.txt")) for call in calls]


async def demo(session: DemoSession) -> None:
    """After each drain the files of the originals are looked for, as the model could do."""
    write_logs(session.workspace)
    async with session.agent() as agent:
        async for prompt in session.prompts():
            async for event in agent.run(prompt):
                session.show(event)
                if files := originals(agent, event):
                    characters = sum(len(file.read_text()) for file in files)
                    session.show(Notice("info", f"{len(files)} files hold the originals, {characters:,} characters"))
            tell(session, agent)
