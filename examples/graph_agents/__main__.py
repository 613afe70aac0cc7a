"""`python -m examples.graph_agents`: one walk, step by step. Exit code 3 if it does not reach the goal."""

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator

from examples.graph_agents.walk import End, Walk
from examples.graph_agents.worlds import LARGEST, SMALLEST, random_graph, ring
from harness.events import Event, LoopChoice, LoopFound, LoopLeft


def options() -> Namespace:
    parser = ArgumentParser(prog="examples.graph_agents", description="Watch an agent in a loop on a graph.")
    parser.add_argument("--graph", choices=("ring", "random"), default="ring")
    parser.add_argument("--size", type=int, default=12, help="places of a random graph")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--fail-rate", type=float, help="of all tools, from 0 to 1; default: each its own")
    parser.add_argument("--steps", type=int, default=100, help="at most so many")
    parser.add_argument("--user", choices=[one.value for one in LoopChoice], help="the answer when asked about a loop")
    given = parser.parse_args()
    if not SMALLEST <= given.size <= LARGEST or not 0 <= (given.fail_rate or 0) <= 1:
        parser.error(f"the size is from {SMALLEST} to {LARGEST}, the fail rate from 0 to 1")
    return given


def lines(walk: Walk, events: list[Event]) -> Iterator[str]:
    """Each step, and below it the loops that it completed or left and the intervention."""
    for step in walk.steps:
        outcome = "  ".join(filter(None, (step.outcome, step.target and f"→ {step.target}")))
        yield f"{step.number:>4}  {step.place:<5} {step.tool:<8}  {outcome}"
        for event in events:
            match event:
                case LoopFound(loop=loop, step=number) if number == step.number:
                    yield f"      ⟲ loop ({loop.projection.value}): {loop.copies} × {loop.summary}"
                case LoopLeft(step=number, freed_by=rung) if number == step.number:
                    yield f"      ✓ loop left{f', after {rung.value}' if rung else ' by itself'}"
        if step.advice is not None:
            yield f"      ▸ {step.advice.rung.value}: {step.advice.text}"
    yield f"{walk.end.value if walk.end else ''}, at {walk.agent.place} after {len(walk.steps)} steps"


given = options()
world = ring(given.fail_rate) if given.graph == "ring" else random_graph(given.size, given.seed, given.fail_rate)
events: list[Event] = []
walk = Walk(world, given.seed, user=LoopChoice(given.user) if given.user else None, on_event=events.append)
end = walk.run(given.steps)
print(f"{world.name}, from {world.start} to {world.goal}; tools fail: "
      + ", ".join(f"{name} {rate:.0%}" for name, rate in world.rates.items()))  # fmt: skip
print(*lines(walk, events), sep="\n")
raise SystemExit(0 if end is End.GOAL else 3)
