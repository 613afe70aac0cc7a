"""The simulation of the seed over many seeds and failure rates."""

import subprocess
import sys
from collections import Counter
from typing import TypeVar

import pytest

from chapters.s22_loops.graph_agents.demo import AnswersAlways, Demo
from chapters.s22_loops.graph_agents.worlds import World, random_graph, ring
from harness.events import (
    Event,
    Intervened,
    LoopChoice,
    LoopFound,
    NodeVisited,
    Rung,
    StepStarted,
    ToolEnded,
    ToolOutcome,
    WalkEnd,
    WalkEnded,
)
from tests.ui.program import ROOT
from tests.whole import WHOLE

pytestmark = pytest.mark.anyio

E = TypeVar("E", bound=Event)
SEEDS = 1_000 if WHOLE else 66
GRAPHS = 200 if WHOLE else 30


async def walked(world: World, seed: int, most_steps: int = 100) -> tuple[WalkEnded, Demo]:
    """The walk of the naive agent, which ends with its end and nothing else."""
    demo = Demo(world, seed)
    await demo.run(most_steps=most_steps)
    ends = [event for _, event in demo.records if isinstance(event, WalkEnded)]
    assert ends == [demo.records[-1][1]]
    return ends[0], demo


def of_demo(demo: Demo, kind: type[E]) -> list[E]:
    return [event for _, event in demo.records if isinstance(event, kind)]


@pytest.mark.stories
async def test_over_many_seeds_and_all_rates_the_ring_always_ends() -> None:
    ends: Counter[tuple[int, WalkEnd]] = Counter()
    for seed in range(SEEDS):
        tenths = seed % 11
        end, demo = await walked(ring(tenths / 10), seed)
        ends[tenths, end.end] += 1
        assert end.end in (WalkEnd.GOAL, WalkEnd.STOP)
        assert end.steps <= 100
        if tenths == 0:
            assert [visit.node for visit in of_demo(demo, NodeVisited)] == ["A", "B", "C", "D", "E"]
            assert end.interventions == 0
            assert not of_demo(demo, LoopFound)
    assert ends[0, WalkEnd.STOP] == 0
    assert ends[10, WalkEnd.GOAL] == 0
    assert ends[5, WalkEnd.GOAL] > 0.88 * (ends[5, WalkEnd.GOAL] + ends[5, WalkEnd.STOP])


async def test_with_the_rates_of_the_seed_nearly_every_walk_reaches_the_goal_and_interventions_answer_loops() -> None:
    ends = list[WalkEnd]()
    for seed in range(100):
        end, demo = await walked(ring(), seed)
        ends.append(end.end)
        found: set[str] = set()
        for _, event in demo.records:
            match event:
                case LoopFound(loop=loop):
                    found.add(loop.signature)
                case Intervened(signature=signature):
                    assert signature in found
    assert ends.count(WalkEnd.GOAL) >= 95


async def test_over_random_graphs_a_walk_always_ends() -> None:
    for seed in range(GRAPHS):
        rate = None if seed % 2 else seed // 2 % 11 / 10
        end, _ = await walked(random_graph(5 + seed % 16, seed, rate), seed, 200)
        assert end.end in (WalkEnd.GOAL, WalkEnd.STOP)
        if rate == 0.0:
            assert end.interventions == 0


async def test_no_way_is_explored_whose_gate_was_not_passed() -> None:
    explored = 0
    for seed in range(60):
        world = random_graph(12, seed, 0.5)
        _, demo = await walked(world, seed, 200)
        gates = {path.edge: path.requires for paths in world.paths.values() for path in paths}
        succeeded = False
        for _, event in demo.records:
            match event:
                case ToolEnded(outcome=outcome):
                    succeeded = succeeded or outcome is ToolOutcome.OK
                case NodeVisited(node=node, came_from=source) if source:
                    assert succeeded or gates[source, node] == ""
                    succeeded = False
                case NodeVisited():
                    succeeded = False
                case Intervened(rung=Rung.EXPLORE):
                    explored += 1
    assert explored > 10


@pytest.mark.parametrize("world", [ring(), random_graph(20, 4, 0.5)], ids=lambda world: world.name)
async def test_the_same_seed_gives_the_same_walk_and_another_one_another(world: World) -> None:
    first, second, other = [list((await walked(world, seed))[1].as_json()) for seed in (4, 4, 5)]
    assert first == second
    assert first != other


@pytest.mark.stories
def test_the_same_seed_gives_the_same_walk_in_another_process() -> None:
    command = [sys.executable, "-m", "harness", "loops", "demo", "--graph", "random", "--seed", "4", "--json"]
    told = [
        subprocess.run(command, env={"PYTHONHASHSEED": salt, "PYTHONPATH": str(ROOT)}, capture_output=True, check=False)
        for salt in ("1", "2")
    ]
    assert told[0].stdout == told[1].stdout
    assert told[0].stdout.count(b"\n") > 20


@pytest.mark.grid(1)
@pytest.mark.parametrize("answer", ["continue", "off", "roll_back", "stop"])
async def test_whatever_a_person_answers_the_walk_ends(answer: str) -> None:
    ends: Counter[WalkEnd] = Counter()
    for seed in range(20):
        demo = Demo(ring(0.8), seed)
        ends[await demo.run(person=AnswersAlways(LoopChoice(answer)))] += 1
        assert max(event.step for event in of_demo(demo, StepStarted)) <= 100
    assert (ends[WalkEnd.HUMAN] > 0) == (answer == "stop")
    assert (ends[WalkEnd.LIMIT] > 0) <= (answer in ("off", "continue"))
