"""The ladder of one loop: which rung comes next."""

from dataclasses import fields, replace
from types import MappingProxyType

import pytest

from harness.events import ErrorClass, Loop, Projection, Rung
from harness.policies.loops.ladder import PAIRS, Abilities, Ladder, Preferences
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


def test_what_was_learnt_changes_the_order_within_a_pair_and_of_this_kind_only() -> None:
    kind = (LOOP.projection, LOOP.failing)
    preferences = Preferences(MappingProxyType({kind: frozenset(PAIRS)}))
    assert preferences.order(kind) == (
        *(Rung.RETRY, Rung.NUDGE, Rung.SUBSTITUTE, Rung.EXPLORE, Rung.BREAKER, Rung.ROLLBACK, Rung.HUMAN, Rung.STOP),
    )
    assert preferences.order((Projection.ERROR, True)) == tuple(Rung)
    rungs = climbed(LOOP, EVERYTHING, Ladder(LoopLimits(), preferences))
    assert rungs[1:4] == [Rung.SUBSTITUTE, Rung.EXPLORE, Rung.EXPLORE]


def test_every_rung_but_the_first_word_and_the_last_needs_an_ability_of_its_own() -> None:
    always = {rung for rung in Rung if Abilities().applies(rung)}
    assert always == {Rung.NUDGE, Rung.STOP}
    alone = [replace(Abilities(), **{one.name: getattr(EVERYTHING, one.name)}) for one in fields(Abilities)]
    added = [{rung for rung in Rung if abilities.applies(rung)} - always for abilities in alone]
    assert all(len(rungs) == 1 for rungs in added)
    assert set().union(*added) | always == set(Rung)
