"""s06: an agent that lets others read, so that its own history stays short."""

from chapters.course import DemoSession
from harness.events import Notice


async def demo(session: DemoSession) -> None:
    """An agent may take four steps for its task here, so that one of them does not finish."""
    settings = session.settings(subagent_steps=4)
    async with session.agent(settings) as agent:
        async for prompt in session.prompts():
            await session.watch(agent.run(prompt))
            tokens, _ = agent.parts.context.size
            session.show(
                Notice("info", f"the next request of the agent that you talk to begins with {tokens:,} tokens")
            )
