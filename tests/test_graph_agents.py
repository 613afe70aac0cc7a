"""The example on graphs over many seeds and failure rates: each walk ends and follows the rules."""

from collections import Counter

import pytest

from examples.graph_agents.walk import End, Walk
from examples.graph_agents.worlds import World, random_graph, ring
from harness.events import Event, Intervened, LoopChoice, LoopFound, Rung, StuckReported, ToolEnded, ToolOutcome
from harness.events.codec import encode
from tests.whole import WHOLE

SEEDS = 1_000 if WHOLE else 99
GRAPHS = 200 if WHOLE else 40


def walked(world: World, seed: int, most_steps: int = 100, user: LoopChoice | None = None) -> tuple[Walk, list[Event]]:
    events: list[Event] = []
    walk = Walk(world, seed, user=user, on_event=events.append)
    walk.run(most_steps)
    return walk, events


def test_over_all_failure_rates_the_ring_ends_at_the_goal_or_with_a_report() -> None:
    ends: Counter[tuple[int, End | None]] = Counter()
    for seed in range(SEEDS):
        tenths = seed % 11
        walk, events = walked(ring(tenths / 10), seed)
        ends[tenths, walk.end] += 1
        assert walk.end in (End.GOAL, End.STOP)
        reports = [event for event in events if isinstance(event, StuckReported)]
        assert len(reports) == (walk.end is End.STOP)
        if tenths == 0:
            assert [step.place for step in walk.steps] == ["A", "B", "C", "D"]
            assert not [event for event in events if isinstance(event, LoopFound | Intervened)]
    assert ends[10, End.GOAL] == 0
    assert ends[5, End.GOAL] > 0.88 * (ends[5, End.GOAL] + ends[5, End.STOP])


def test_with_the_usual_rates_nearly_every_walk_reaches_the_goal_and_interventions_answer_loops() -> None:
    ends: Counter[End | None] = Counter()
    for seed in range(100):
        walk, events = walked(ring(), seed)
        ends[walk.end] += 1
        found: set[str] = set()
        for event in events:
            if isinstance(event, LoopFound):
                found.add(event.loop.signature)
            elif isinstance(event, Intervened):
                assert event.signature in found
    assert ends[End.GOAL] >= 95


def test_over_random_graphs_a_walk_ends_and_takes_no_path_that_no_tool_opened() -> None:
    rungs: Counter[Rung] = Counter()
    for seed in range(GRAPHS):
        rate = None if seed % 2 else seed // 2 % 11 / 10
        world = random_graph(5 + seed % 16, seed, rate)
        walk, events = walked(world, seed, 200)
        assert walk.end in (End.GOAL, End.STOP)
        requires = {(path.source, path.target): path.requires for paths in world.paths.values() for path in paths}
        for step in walk.steps:
            if step.target and (step.place, step.target) in requires:
                assert step.outcome.startswith("✓") or not requires[step.place, step.target]
        rungs.update(event.rung for event in events if isinstance(event, Intervened))
        assert rate != 0.0 or not [event for event in events if isinstance(event, ToolEnded) and event.failure]
    assert {Rung.RETRY, Rung.NUDGE, Rung.EXPLORE, Rung.SUBSTITUTE, Rung.ROLLBACK, Rung.STOP} <= rungs.keys()


@pytest.mark.parametrize("world", [ring(), random_graph(20, 4, 0.5)], ids=lambda world: world.name)
def test_the_same_seed_gives_the_same_walk_and_another_one_another(world: World) -> None:
    first, second, other = ([encode(event) for event in walked(world, seed)[1]] for seed in (4, 4, 5))
    assert first == second
    assert first != other


@pytest.mark.parametrize("choice", LoopChoice)
def test_whatever_a_user_answers_the_walk_ends(choice: LoopChoice) -> None:
    ends: Counter[End | None] = Counter(walked(ring(0.8), seed, user=choice)[0].end for seed in range(20))
    assert (ends[End.USER] > 0) == (choice is LoopChoice.STOP)
    assert (ends[End.LIMIT] > 0) <= (choice in (LoopChoice.OFF, LoopChoice.CONTINUE))


def test_after_the_end_no_tool_runs() -> None:
    walk, events = walked(ring(1.0), 0)
    assert walk.end is End.STOP
    stop = next(number for number, event in enumerate(events) if isinstance(event, StuckReported))
    assert not [event for event in events[stop:] if isinstance(event, ToolEnded)]
    assert all(event.outcome is ToolOutcome.BROKEN for event in events if isinstance(event, ToolEnded))
