"""A tool of your own beside the standard tools."""

import asyncio

from harness import Agent, tool
from harness.events import ToolEnded, TurnEnded
from harness.tools import Effect


@tool(effect=Effect.READ)
def weather(city: str) -> str:
    """The weather in a city."""
    return f"It is raining in {city}."


async def main() -> None:
    """Ask about the weather; the model has every standard tool, and `weather`."""
    async with Agent(tools=[weather]) as agent:
        print(len(agent.toolbox.names), "tools, the last one is", agent.toolbox.names[-1])
        async for event in agent.run("What is the weather in Oslo?"):
            match event:
                case ToolEnded():
                    print("called:", event.summary)
                case TurnEnded():
                    print(event.answer)


if __name__ == "__main__":
    asyncio.run(main())
