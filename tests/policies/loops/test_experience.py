"""What is learnt of which rung frees which loop, and what it may change."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.events import ErrorClass, Intervened, Loop, LoopFound, LoopLeft, Projection, Rung
from harness.policies.loops.ladder import ENOUGH, MOST_TRIED, PAIRS, Experience, Learner, RungTally

KIND = (Projection.ERROR, True)
LOOP = Loop(Projection.ERROR, "one", 1, 4, "read a", ("read",), failing=True, error=ErrorClass.UNKNOWN)

notes = st.lists(
    st.tuples(st.sampled_from(Projection), st.booleans(), st.sampled_from(Rung), st.booleans()), max_size=300
)


def tried(experience: Experience, rung: Rung, *, times: int, freed: int = 0) -> Experience:
    for number in range(times):
        experience = experience.noted(KIND, rung, freed=False)
        if number < freed:
            experience = experience.noted(KIND, rung, freed=True)
    return experience


def intervened(rung: Rung, *, applied: bool = True) -> Intervened:
    return Intervened("one", Projection.ERROR, rung, 1, 1, 5, "done", applied=applied)


def test_what_frees_more_often_comes_first_within_its_pair() -> None:
    experience = tried(Experience(), Rung.EXPLORE, times=5)
    experience = tried(experience, Rung.SUBSTITUTE, times=5, freed=4)
    order = experience.preferences().order(KIND)
    assert order[2:4] == (Rung.SUBSTITUTE, Rung.EXPLORE)
    assert experience.preferences().order((Projection.ERROR, False)) == tuple(Rung)


def test_a_few_failures_are_no_reason_to_change_the_order() -> None:
    few = tried(Experience(), Rung.EXPLORE, times=ENOUGH - 1)
    assert few.preferences().order(KIND) == tuple(Rung)
    enough = tried(few, Rung.EXPLORE, times=1)
    assert enough.preferences().order(KIND)[2:4] == (Rung.SUBSTITUTE, Rung.EXPLORE)


@given(notes=notes)
def test_rungs_that_are_not_equally_mild_never_change_places(notes: list[tuple[Projection, bool, Rung, bool]]) -> None:
    experience = Experience()
    for projection, failing, rung, freed in notes:
        experience = experience.noted((projection, failing), rung, freed=freed)
    pairs = [set(pair) for pair in PAIRS]
    for projection in Projection:
        for failing in (False, True):
            order = experience.preferences().order((projection, failing))
            assert sorted(order, key=list(Rung).index) == list(Rung)
            assert all(mine is rung or {mine, rung} in pairs for mine, rung in zip(order, Rung, strict=True))


@given(notes=notes)
def test_an_experience_survives_its_file(notes: list[tuple[Projection, bool, Rung, bool]]) -> None:
    experience = Experience()
    for projection, failing, rung, freed in notes:
        experience = experience.noted((projection, failing), rung, freed=freed)
    text = json.dumps(experience.as_json())
    assert Experience.from_json(json.loads(text)) == experience
    assert json.dumps(Experience.from_json(json.loads(text)).as_json()) == text


def test_counts_stay_small_and_what_is_long_past_weighs_less() -> None:
    experience = tried(Experience(), Rung.NUDGE, times=400, freed=400)
    experience = tried(experience, Rung.NUDGE, times=100)
    tally = experience.of(KIND, Rung.NUDGE)
    assert tally.freed <= tally.tried <= MOST_TRIED
    assert tally.rate < 0.5


@pytest.mark.parametrize(
    "value",
    [
        None,
        [],
        {},
        {"format": 2, "tallies": {}},
        {"format": 1, "tallies": []},
        {"format": 1, "tallies": {"error failing explore": [2, 1]}},
        {"format": 1, "tallies": {"error failing explore": [0, MOST_TRIED + 1]}},
        {"format": 1, "tallies": {"error failing explore": [0, "1"]}},
        {"format": 1, "tallies": {"error sometimes explore": [0, 1]}},
        {"format": 1, "tallies": {"error failing fly": [0, 1]}},
        {"format": 1, "tallies": {"error failing": [0, 1]}},
    ],
)
def test_a_file_with_something_else_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match=r"."):
        Experience.from_json(value)


def test_a_session_is_listened_to() -> None:
    learner = Learner()
    for event in (
        LoopFound(LOOP, 4),
        intervened(Rung.NUDGE),
        intervened(Rung.EXPLORE, applied=False),
        intervened(Rung.SUBSTITUTE),
        LoopLeft("one", Projection.ERROR, 6, freed_by=Rung.SUBSTITUTE),
    ):
        learner.on_event(event)
    assert learner.experience.tallies == {
        (KIND, Rung.NUDGE): RungTally(0, 1),
        (KIND, Rung.SUBSTITUTE): RungTally(1, 1),
    }


def test_what_is_not_known_to_be_a_loop_teaches_nothing() -> None:
    learner = Learner()
    learner.on_event(intervened(Rung.NUDGE))
    learner.on_event(LoopLeft("one", Projection.ERROR, 6, freed_by=Rung.NUDGE))
    assert learner.experience == Experience()
