"""s07: skills of the user and of a project. The folder `you` takes the place of the one beside your settings."""

from chapters.course import DemoSession
from harness.agent import Agent
from harness.events import Notice


def tell(session: DemoSession, agent: Agent) -> None:
    """Show the skills found, the errors in files, and the cost of the catalogue."""
    book = agent.parts.core.shared.skills
    for skill in book.skills:
        session.show(Notice("info", f"{skill.name}, of the {skill.origin}: {skill.description}"))
    for problem in book.problems:
        file = problem.file.relative_to(session.workspace)
        session.show(Notice("warning", f"{file}: {problem.text}"))
    listed = sum(len(part.text) for part in agent.parts.context.prompt_parts if part.name == "skills")
    whole = sum(len(skill.text) for skill in book.skills)
    session.show(Notice("info", f"The catalogue has {listed:,} characters, the texts together {whole:,}"))


async def demo(session: DemoSession) -> None:
    """The same agent for all prompts. It reads the skills when it is made."""
    settings = session.settings(user_dir=session.workspace / "you")
    async with session.agent(settings) as agent:
        tell(session, agent)
        async for prompt in session.prompts():
            await session.watch(agent.run(prompt))
