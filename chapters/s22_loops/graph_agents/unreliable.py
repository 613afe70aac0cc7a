"""Tools that fail at random, from a seed."""

from dataclasses import dataclass
from random import Random

from chapters.s22_loops.graph_agents.protocols import Arguments, ToolFailed
from chapters.s22_loops.graph_agents.worlds import World
from harness.base.clock import Clock
from harness.policies.loops.observations import Poll


@dataclass(frozen=True, slots=True)
class UnreliableTool:
    """Works on a place for a while; then it has succeeded, or the service behind it was not there."""

    name: str
    fail_rate: float
    dice: Random
    clock: Clock
    idempotent: bool = True
    mutates: bool = False
    poll: Poll | None = None

    async def run(self, arguments: Arguments) -> str:
        """Say that the place is ready. Raises ToolFailed as often as it is meant to."""
        await self.clock.sleep(round(self.dice.uniform(0.1, 0.9), 1))
        if self.dice.random() < self.fail_rate:
            raise ToolFailed("service unavailable", status=503)
        return f"{arguments['place']} is ready"


def tools_of(world: World, seed: int, clock: Clock) -> tuple[UnreliableTool, ...]:
    """The tools of a world. Each throws dice of its own, so that what one does changes nothing for another."""
    return tuple(UnreliableTool(name, rate, Random(f"{name} {seed}"), clock) for name, rate in world.rates.items())
