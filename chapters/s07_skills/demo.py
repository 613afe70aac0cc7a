"""s07: skills of a person and of a project. The folder `you` stands for the one beside your settings."""

from harness.agent import Agent
from harness.events import Notice
from harness.lessons import Stage


def tell(stage: Stage, agent: Agent) -> None:
    """Show which skills were found, what is wrong with which file, and what the catalogue costs."""
    book = agent.skills
    for skill in book.skills:
        stage.show(Notice("info", f"{skill.name}, of the {skill.origin}: {skill.description}"))
    for problem in book.problems:
        file = problem.file.relative_to(stage.workspace)
        stage.show(Notice("warning", f"{file}: {problem.text}"))
    listed = sum(len(part.text) for part in agent.prompt_parts() if part.name == "skills")
    whole = sum(len(skill.text) for skill in book.skills)
    stage.show(Notice("info", f"The catalogue has {listed:,} characters, the texts together {whole:,}"))


async def demo(stage: Stage) -> None:
    """The same agent for all prompts. It reads the skills when it is made."""
    settings = stage.settings(user_dir=stage.workspace / "you")
    async with stage.agent(settings) as agent:
        tell(stage, agent)
        async for prompt in stage.prompts():
            await stage.watch(agent.run(prompt))
