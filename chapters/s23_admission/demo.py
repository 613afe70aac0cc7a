"""s23: seven pieces of work at once for six agents, two slots, and two places to wait."""

from chapters.course import DemoSession


async def demo(session: DemoSession) -> None:
    """Every agent has admission control for its subagents. Here its limits are small enough to follow."""
    settings = session.settings(max_concurrent=2, max_queue_size=2)
    async with session.agent(settings) as agent:
        async for prompt in session.prompts():
            await session.watch(agent.run(prompt))
