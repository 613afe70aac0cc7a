"""s23: seven pieces of work at once for six agents, two slots, and two places to wait."""

from harness.lessons import Stage


async def demo(stage: Stage) -> None:
    """Every agent has a gate before its subagents. Here it is small enough to follow."""
    settings = stage.settings(max_concurrent=2, max_queue_size=2)
    async with stage.agent(settings) as agent:
        async for prompt in stage.prompts():
            await stage.watch(agent.run(prompt))
