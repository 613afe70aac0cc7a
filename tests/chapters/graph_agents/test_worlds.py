"""The graphs of the simulation, and the agent that goes round in them forever."""

import asyncio

import pytest

from chapters.s22_loops.graph_agents.naive import NaiveAgent
from chapters.s22_loops.graph_agents.protocols import Answer, Arguments, ToolFailed
from chapters.s22_loops.graph_agents.unreliable import tools_of
from chapters.s22_loops.graph_agents.virtual_clock import VirtualClock
from chapters.s22_loops.graph_agents.worlds import GENERIC, LARGEST, SMALLEST, World, random_graph, ring

pytestmark = pytest.mark.anyio


class Unwatched:
    """Calls the tools of a world, and nobody looks."""

    def __init__(self, world: World, seed: int) -> None:
        self._tools = {tool.name: tool for tool in tools_of(world, seed, VirtualClock())}

    async def __call__(self, tool: str, arguments: Arguments) -> Answer:
        try:
            return Answer(ok=True, text=await self._tools[tool].run(arguments), tool=tool)
        except ToolFailed as failed:
            return Answer(ok=False, text=str(failed), tool=tool)


async def places_of(world: World, seed: int, steps: int) -> list[str]:
    """Where the naive agent goes without the mechanism."""
    agent, call = NaiveAgent(world), Unwatched(world, seed)
    places = [agent.where().node]
    while not agent.where().at_goal and len(places) <= steps:
        await agent.step(call)
        places.append(agent.where().node)
    return places


def test_the_ring_is_that_of_the_seed() -> None:
    world = ring()
    edges = [path.edge for paths in world.paths.values() for path in paths]
    assert edges == [("A", "B"), ("B", "C"), ("C", "A"), ("C", "D"), ("D", "E")]
    assert (world.start, world.goal) == ("A", "E")
    assert world.rates == {"ToolB": 0.6, "ToolC": 0.1, GENERIC: 0.2}
    assert set(ring(0.3).rates.values()) == {0.3}


@pytest.mark.parametrize("size", [SMALLEST, 4, 7, 30, LARGEST])
def test_in_a_random_graph_every_place_leads_to_the_goal_soon(size: int) -> None:
    for seed in range(20 if size < LARGEST else 1):
        world = random_graph(size, seed)
        distances = world.distances()
        assert set(distances) == set(world.paths)
        assert distances[world.start] <= 12
        assert len(world.paths) == size
        assert world.paths[world.goal] == ()


def test_the_same_seed_gives_the_same_graph_and_another_one_another() -> None:
    assert random_graph(30, 1) == random_graph(30, 1)
    assert random_graph(30, 1) != random_graph(30, 2)


@pytest.mark.parametrize("world", [ring(), random_graph(12, 3)], ids=lambda world: world.name)
def test_every_tool_can_be_replaced_by_a_known_one(world: World) -> None:
    assert world.capabilities.problems(tuple(world.rates)) == ()


async def test_tools_fail_as_often_as_they_are_meant_to() -> None:
    call = Unwatched(ring(), 5)
    answers = [await call("ToolB", {"place": "B"}) for _ in range(2_000)]
    assert 0.55 < sum(not answer.ok for answer in answers) / 2_000 < 0.65


async def test_where_nothing_fails_the_naive_agent_walks_straight_to_the_goal() -> None:
    assert await places_of(ring(0.0), 1, 100) == ["A", "B", "C", "D", "E"]
    for seed in range(20):
        world = random_graph(20, seed, 0.0)
        assert len(await places_of(world, seed, 100)) == world.distances()[world.start] + 1


async def test_without_the_mechanism_one_failure_sends_it_round_for_ever() -> None:
    rounds = 0
    for seed in range(40):
        places = await places_of(ring(), seed, 500)
        arrived = places[-1] == "E"
        rounds += not arrived
        assert arrived == (len(places) == 5)  # straight, or never
    assert rounds > 20


async def test_where_everything_fails_it_stays_for_ever() -> None:
    assert set(await places_of(ring(1.0), 1, 500)) == {"A"}


async def test_moved_it_thinks_afresh_and_put_back_it_remembers_only_what_it_knew_then() -> None:
    agent, call = NaiveAgent(ring(1.0)), Unwatched(ring(1.0), 1)
    fresh = agent.checkpoint()
    await agent.step(call)
    assert agent.checkpoint() != fresh
    assert await agent.restore(fresh) == ()
    assert agent.checkpoint() == fresh
    with pytest.raises(TypeError, match="no checkpoint of this agent"):
        await agent.restore("something else")
    await agent.step(call)
    await agent.move(agent.paths()[0])
    assert agent.where().node == "B"


async def test_sleeping_on_the_virtual_clock_takes_no_time_and_can_be_cancelled() -> None:
    clock = VirtualClock(10.0)
    await clock.sleep(3600)
    assert clock.now() == 3610.0
    sleeping = asyncio.create_task(clock.sleep(5))
    sleeping.cancel()
    with pytest.raises(asyncio.CancelledError):
        await sleeping
    assert clock.now() == 3610.0
