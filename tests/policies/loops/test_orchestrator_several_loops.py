"""Which of several loops climbs, and when the next rung is due: what the walks over graphs have shown."""

from harness.events import Intervened, Projection, Rung
from harness.policies.loops.ladder import Abilities
from harness.policies.loops.monitor import LoopAction, LoopMonitor
from tests.policies.loops.building import call, visit
from tests.policies.loops.streams import Made

NOTHING = Abilities()
FAILED = Made("door", "open", "locked", ok=False)


def take(orchestrator: LoopMonitor, step: int) -> LoopAction | None:
    """Take the rung that is due, if one is."""
    action = orchestrator.advise(NOTHING, 0.5)
    if action is not None:
        loop = action.loop
        orchestrator.on_event(
            Intervened(loop.signature, loop.projection, action.rung, action.number, action.quota, step, "done")
        )
    return action


def test_after_a_rung_a_round_of_places_has_a_whole_round_to_get_better() -> None:
    orchestrator = LoopMonitor()
    taken = []
    for number in range(1, 20):
        orchestrator.visit(visit("ABC"[number % 3], number=number))
        if (action := take(orchestrator, number)) is not None:
            taken.append((number, action.rung))
    assert taken == [(11, Rung.NUDGE), (14, Rung.STOP)]


def test_a_loop_that_rests_does_not_keep_another_one_from_the_ladder() -> None:
    orchestrator = LoopMonitor()
    for number in range(1, 4):
        orchestrator.step([call(FAILED, number)])
    first = take(orchestrator, 3)
    assert first is not None
    assert first.loop.projection is Projection.INTERACTION
    taken = []
    for number in range(4, 60):
        orchestrator.visit(visit("AB"[number % 2], number=number))
        if (action := take(orchestrator, number)) is not None:
            taken.append((action.loop.projection, action.rung))
    assert taken == [(Projection.NODE, Rung.NUDGE), (Projection.NODE, Rung.STOP)]


def test_of_two_faces_of_one_trouble_only_the_first_one_found_climbs() -> None:
    orchestrator = LoopMonitor()
    taken = []
    for number in range(1, 40):
        orchestrator.step([call(Made("door", "open", "open"), number)])
        orchestrator.visit(visit("AB"[number % 2], number=number))
        if (action := take(orchestrator, number)) is not None:
            taken.append((action.loop.projection, action.rung))
    assert taken == [(Projection.INTERACTION, Rung.NUDGE), (Projection.INTERACTION, Rung.STOP)]
