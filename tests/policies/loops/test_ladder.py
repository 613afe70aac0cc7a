"""The ladder of one loop: which rung comes next."""

from dataclasses import fields, replace

import pytest

from harness.events import ErrorClass, Loop, Projection, Rung
from harness.policies.loops.ladder import ENOUGH, Abilities, Ladder
from harness.policies.loops.limits import LoopLimits

LOOP = Loop(Projection.INTERACTION, "one", 1, 4, "read a", ("read",))
FAILING = replace(LOOP, failing=True, error=ErrorClass.TRANSIENT)
EVERYTHING = Abilities(retry=True, explore=("north",), substitute="grep", rollback=True, breaker=True, human=True)


def climbed(loop: Loop, abilities: Abilities, ladder: Ladder | None = None) -> list[Rung]:
    """All rungs up to the stop."""
    ladder = ladder or Ladder(LoopLimits())
    rungs: list[Rung] = []
    while not rungs or rungs[-1] is not Rung.STOP:
        rung = ladder.next_rung(loop, abilities)
        assert rung is not None
        ladder.take(loop.signature, rung)
        rungs.append(rung)
    return rungs


def test_a_failing_loop_that_nothing_frees_climbs_every_rung() -> None:
    assert climbed(FAILING, EVERYTHING) == [
        *[Rung.RETRY] * 3,
        Rung.NUDGE,
        *[Rung.EXPLORE] * 2,
        Rung.SUBSTITUTE,
        Rung.ROLLBACK,
        Rung.BREAKER,
        Rung.HUMAN,
        Rung.STOP,
    ]


@pytest.mark.parametrize(
    ("error", "retries"),
    [(ErrorClass.TRANSIENT, 3), (ErrorClass.UNKNOWN, 1), (None, 1), (ErrorClass.PERSISTENT, 0)],
)
def test_only_what_may_pass_is_retried_and_the_unknown_once(error: ErrorClass | None, retries: int) -> None:
    rungs = climbed(replace(FAILING, error=error), Abilities(retry=True))
    assert rungs == [*[Rung.RETRY] * retries, Rung.NUDGE, Rung.STOP]


def test_a_weak_loop_is_nudged_and_nothing_more() -> None:
    ladder, weak = Ladder(LoopLimits()), replace(LOOP, weak=True)
    assert ladder.next_rung(weak, EVERYTHING) is Rung.NUDGE
    ladder.take(weak.signature, Rung.NUDGE)
    assert ladder.next_rung(weak, EVERYTHING) is None
    assert ladder.exhausted(weak)
    assert not ladder.exhausted(LOOP)


def learned(*results: tuple[Rung, int, int], kind: Loop = LOOP) -> Ladder:
    """A ladder after rungs that were tried, and how often they ended a loop."""
    ladder = Ladder(LoopLimits())
    for rung, tried, freed in results:
        for freed_it in (False,) * tried + (True,) * freed:
            ladder.learn(kind, rung, freed=freed_it)
    return ladder


def test_what_was_learned_changes_the_order_within_a_pair_and_of_this_kind_only() -> None:
    ladder = learned((Rung.EXPLORE, ENOUGH, 0), (Rung.BREAKER, 2, 2), (Rung.ROLLBACK, ENOUGH, 1))
    assert ladder.order((LOOP.projection, LOOP.failing)) == (
        *(Rung.RETRY, Rung.NUDGE, Rung.SUBSTITUTE, Rung.EXPLORE, Rung.BREAKER, Rung.ROLLBACK, Rung.HUMAN, Rung.STOP),
    )
    assert ladder.order((Projection.ERROR, True)) == ladder.order((LOOP.projection, True)) == tuple(Rung)
    assert climbed(LOOP, EVERYTHING, ladder)[1:4] == [Rung.SUBSTITUTE, Rung.EXPLORE, Rung.EXPLORE]
    ladder.forget()
    assert climbed(LOOP, EVERYTHING, ladder)[1:4] == [Rung.SUBSTITUTE, Rung.EXPLORE, Rung.EXPLORE]


@pytest.mark.parametrize(
    ("results", "swapped"),
    [
        ([(Rung.EXPLORE, ENOUGH - 1, 0)], False),
        ([(Rung.EXPLORE, ENOUGH, 0)], True),
        ([(Rung.EXPLORE, ENOUGH, 2)], False),
        ([(Rung.EXPLORE, 4, 2)], False),
        ([(Rung.EXPLORE, 3, 1)], True),
        ([(Rung.EXPLORE, 4, 1), (Rung.SUBSTITUTE, 4, 1)], False),
        ([(Rung.EXPLORE, 4, 1), (Rung.SUBSTITUTE, 4, 2)], True),
        ([(Rung.NUDGE, 9, 0)], False),
        ([(Rung.EXPLORE, 3, 1), (Rung.SUBSTITUTE, 4, 2)], True),
        ([(Rung.EXPLORE, 3, 1), (Rung.SUBSTITUTE, 6, 2)], False),
    ],
)
def test_only_better_results_after_enough_tries_change_the_order(
    results: list[tuple[Rung, int, int]], swapped: bool
) -> None:
    order = learned(*results).order((LOOP.projection, LOOP.failing))
    assert order[2:4] == ((Rung.SUBSTITUTE, Rung.EXPLORE) if swapped else (Rung.EXPLORE, Rung.SUBSTITUTE))
    assert (order[:2], order[4:]) == (tuple(Rung)[:2], tuple(Rung)[4:])


def test_every_rung_but_the_first_word_and_the_last_needs_an_ability_of_its_own() -> None:
    always = {rung for rung in Rung if Abilities().applies(rung)}
    assert always == {Rung.NUDGE, Rung.STOP}
    alone = [replace(Abilities(), **{one.name: getattr(EVERYTHING, one.name)}) for one in fields(Abilities)]
    added = [{rung for rung in Rung if abilities.applies(rung)} - always for abilities in alone]
    assert all(len(rungs) == 1 for rungs in added)
    assert set().union(*added) | always == set(Rung)
