"""s06: an agent that lets others read, so that its own history stays short."""

from harness.events import Notice
from harness.lessons import Stage


async def demo(stage: Stage) -> None:
    """An agent may take four steps for its task here, so that one of them does not finish."""
    settings = stage.settings(agent_turns=4)
    async with stage.agent(settings) as agent:
        async for prompt in stage.prompts():
            await stage.watch(agent.run(prompt))
            tokens, _ = agent.context()
            stage.show(Notice("info", f"the next request of the agent that you talk to begins with {tokens:,} tokens"))
