"""An agent whose tool `skill` is the learner's `read`, with the skills that harness finds."""

from types import ModuleType
from typing import Any

from chapters.course import DemoSession
from harness.tools import Effect, ToolError, tool

STANDARD = ("read_file", "write_file", "edit_file", "bash", "glob")


async def demo(session: DemoSession, work: ModuleType) -> None:
    """The same agent for all prompts."""
    skills: list[Any] = []
    errors: list[Exception] = []

    @tool(effect=Effect.READ)
    async def skill(name: str | None = None, file: str | None = None) -> str:
        """Read a skill, or a file that belongs to it; without a name a list of all."""
        try:
            return str(work.read(skills, name, file))
        except work.ToolError as refused:
            raise ToolError(str(refused)) from refused
        except Exception as error:
            errors.append(error)
            raise

    settings = session.settings(user_dir=session.workspace / "you")
    async with session.agent(settings, tools=[skill], standard=STANDARD) as agent:
        found = agent.parts.core.shared.skills.skills
        skills += [work.Skill(one.name, one.description, one.text, one.folder) for one in found]
        async for prompt in session.prompts():
            await session.watch(agent.run(prompt))
            if errors:
                raise errors[0]
