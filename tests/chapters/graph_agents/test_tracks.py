"""Where a loop runs: its edges, where it began, the ways out, and the checkpoint before it."""

from chapters.s22_loops.graph_agents.calling import Asked, Made
from chapters.s22_loops.graph_agents.exploration import Path
from chapters.s22_loops.graph_agents.protocols import Answer
from chapters.s22_loops.graph_agents.tracks import CHECKPOINTS, Checkpoint, Tracks
from harness.events import Loop, LoopFound, LoopLeft, Projection
from harness.policies.loops.detector_set import Detectors
from harness.policies.loops.observations import ObservedCall

SNAPSHOT = Detectors().snapshot()
ROUND = Loop(Projection.NODE, "round", 3, 2, "A → B → C")
CALLS = Loop(Projection.INTERACTION, "calls", 2, 2, "b → c", ("b", "c"))


def made(tool: str, step: int, *, ok: bool = True, mutates: bool = False) -> Made:
    call = ObservedCall(step, step, 0.0, 0.0, f"{step}.1", tool, tool, "", ok, mutates=mutates, summary=f"{tool}()")
    return Made(Asked(tool, {}, tool), call, Answer(ok=ok, text="", tool=tool), 0)


def on_the_ring(steps: int) -> Tracks:
    """An agent that has gone A → B → C → A …, calling b to get to B, and c to get to C."""
    tracks = Tracks()
    tracks.visited(0, anew=True)
    for step in range(1, steps + 1):
        source, target = "ABC"[(step - 1) % 3], "ABC"[step % 3]
        tracks.keep(Checkpoint(step, source, SNAPSHOT))
        tracks.moved(step, source, target)
        tracks.called(step, source, [made(target.lower(), step)] if target != "A" else [])
        tracks.visited(step, anew=True)
    return tracks


def test_the_edges_of_a_round_of_places_are_those_of_its_last_copy() -> None:
    tracks = on_the_ring(7)
    tracks.moved(1, "X", "Y")
    tracks.see(LoopFound(ROUND, 7))
    assert tracks.cycle(ROUND) == {("A", "B"), ("B", "C"), ("C", "A")}
    assert tracks.began(ROUND) == 2


def test_the_edges_of_a_round_of_calls_are_known_too_the_free_ones_among_them() -> None:
    tracks = on_the_ring(5)
    tracks.see(LoopFound(CALLS, 5))
    assert tracks.cycle(CALLS) == {("A", "B"), ("B", "C"), ("C", "A")}
    assert tracks.began(CALLS) == 1


def test_ways_are_those_from_here_and_from_every_place_of_the_round() -> None:
    tracks = on_the_ring(7)
    ways = {place: Path(place, f"out of {place}") for place in "ABCX"}
    for place, way in ways.items():
        tracks.leads(place, [way])
    tracks.see(LoopFound(ROUND, 7))
    assert tracks.ways(ROUND, "B") == [ways["B"], ways["A"], ways["C"]]


def test_what_succeeded_counts_until_the_agent_comes_to_another_place() -> None:
    tracks = Tracks()
    tracks.called(1, "A", [made("b", 1), made("c", 1, ok=False)])
    assert tracks.passed == {("A", "b")}
    tracks.visited(2, anew=False)
    assert tracks.passed == {("A", "b")}
    tracks.visited(3, anew=True)
    assert tracks.passed == set()


def test_the_checkpoint_before_a_loop_is_the_newest_from_before_it_or_the_first() -> None:
    tracks = on_the_ring(7)
    tracks.see(LoopFound(ROUND, 7))
    assert tracks.before(ROUND) == Checkpoint(2, "B", SNAPSHOT)
    many = on_the_ring(CHECKPOINTS + 50)
    long = Loop(Projection.NODE, "long", 3, 48, "A → B → C")
    many.see(LoopFound(long, CHECKPOINTS + 50))
    assert many.before(long) == Checkpoint(1, "A", SNAPSHOT)


def test_after_going_back_what_came_since_is_no_part_of_a_loop_but_was_done() -> None:
    tracks = on_the_ring(7)
    tracks.called(7, "A", [made("pen", 7, mutates=True)])
    tracks.see(LoopFound(ROUND, 7))
    checkpoint = tracks.before(ROUND)
    assert checkpoint is not None
    tracks.went_back(checkpoint)
    assert tracks.visits == 2
    assert [loop.signature for loop in tracks.loops] == ["round"]
    assert tracks.effects_since(checkpoint.step) == ("step 7: pen()",)
    assert tracks.effects_since(8) == ()
    tracks.see(LoopLeft("round", Projection.NODE, 8))
    assert not tracks.loops


def test_the_failed_call_of_a_loop_is_its_last_one_and_only_if_it_failed() -> None:
    tracks = Tracks()
    tracks.called(1, "A", [made("b", 1, ok=False)])
    tracks.called(2, "A", [made("other", 2, ok=False)])
    failed = tracks.failed_in(CALLS)
    assert failed is not None
    assert failed.call.tool == "b"
    tracks.called(3, "A", [made("c", 3)])
    assert tracks.failed_in(CALLS) is None
