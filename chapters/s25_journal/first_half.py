"""The first half of s25: a program of its own that can be killed. The demo starts it and hands it its prompt."""

import asyncio
import json
import sys
from pathlib import Path

from harness.agent import Agent
from harness.engine.conversation import Conversation
from harness.journal import Journal, Recorder
from harness.settings import Settings


async def main() -> None:
    """One turn of one agent, written to the journal that standard input names."""
    order = json.load(sys.stdin)
    with Journal.open(Path(order["journal"])) as journal:
        agent = Agent(Settings.model_validate(order["settings"]), conversation=Conversation(Recorder(journal)))
        async with agent:
            async for _ in agent.run(order["prompt"]):
                pass


if __name__ == "__main__":
    asyncio.run(main())
