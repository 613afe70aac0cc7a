"""A program whose agents ask a model turn after turn: one of several that share a limit.

python -m tests.fleet.asker AGENTS SECONDS [FALLBACK]

Reads ANTHROPIC_BASE_URL, HARNESS_STATE_DIR, HARNESS_MAX_CONCURRENT and HARNESS_FLEET_URL as any session. Prints
"ready", begins with the first line of its input, and prints how its turns ended as JSON.
"""

import asyncio
import json
import sys
import time
from collections import Counter

from harness import Agent
from harness.engine.build.options import AgentOptions, Policies
from harness.events import Event, Notice, RequestHeld, RequestLimitSet, TurnEnded
from harness.policies.recovery import RecoveryLimits
from harness.settings import load

PAUSE_S = 3.0
"""Pause of the breaker of an endpoint."""


async def ask(agent: Agent, until: float, seen: Counter[str]) -> None:
    """Take one turn after the other; at least one."""
    while True:
        async for event in agent.run("hi"):
            seen.update(words(event))
        if time.monotonic() > until:
            return


def words(event: Event) -> list[str]:
    match event:
        case TurnEnded():
            return [event.code.value]
        case RequestHeld():
            return [f"held {event.why}"]
        case RequestLimitSet():
            return [f"limit {event.limit}"]
        case Notice():
            return [event.text]
    return []


async def main(agents: int, seconds: float, *fallbacks: str) -> None:
    settings = load().settings
    settings = settings.model_copy(update={"fallback_models": fallbacks})
    recovery = RecoveryLimits(endpoint_pauses_s=(PAUSE_S,))
    several = [Agent(settings, AgentOptions(policies=Policies(recovery=recovery))) for _ in range(agents)]
    for agent in several:
        await agent.open()
    print("ready", flush=True)
    await asyncio.to_thread(sys.stdin.readline)
    seen = Counter[str]()
    await asyncio.gather(*(ask(agent, time.monotonic() + seconds, seen) for agent in several))
    for agent in several:
        await agent.aclose()
    print(json.dumps(seen))


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), float(sys.argv[2]), *sys.argv[3:]))
