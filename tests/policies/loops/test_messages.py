"""Messages about loops: concrete, short, and quoting text unchanged."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.events import Attempt, ErrorClass, Loop, LoopChoice, Projection, Rung
from harness.policies.loops.messages import (
    LABELS,
    MOST_QUOTED,
    next_steps,
    not_made,
    nudge,
    other_tool,
    other_ways,
    put_back,
    question,
    taken,
)

READ = Loop(Projection.INTERACTION, "one", 1, 4, "read a.txt", ("read",))


def test_a_nudge_says_what_repeats_how_often_what_came_back_and_what_to_do() -> None:
    assert nudge(READ, "hello\n  world") == (
        "You are repeating yourself: read a.txt, 4 times in a row, with the same result each time. "
        'Each time this came back: "hello world" '
        "It will not bring anything new. Use what you have: take the next step, or give your answer."
    )


def test_a_long_result_is_quoted_in_part() -> None:
    assert len(nudge(READ, "x" * 10_000_000)) < MOST_QUOTED + 400
    assert "…" in nudge(READ, "x" * 1_000)


@given(projection=st.sampled_from(Projection), failing=st.booleans(), weak=st.booleans())
def test_there_are_words_for_every_loop(projection: Projection, *, failing: bool, weak: bool) -> None:
    loop = Loop(
        projection, "one", 1, 4, "read a.txt", ("read",), failing, ErrorClass.UNKNOWN if failing else None, weak
    )
    told = [nudge(loop, "no"), put_back(loop), other_ways(loop, ["north"]), other_tool(loop, "read a.txt", "grep")]
    for said in (*told, question(loop), not_made("read a.txt", "grep")):
        assert "read a.txt" in said
        assert "\n" not in said
        assert len(said) < 500
        assert "vary" not in said
    steps = next_steps(loop, ())
    assert len(set(steps)) == len(steps) == 4


@pytest.mark.parametrize(
    ("changes", "first"),
    [
        ({}, "say what the agent should do with what read brought"),
        ({"failing": True, "error": ErrorClass.TRANSIENT}, "see whether what read needs is reachable"),
        ({"failing": True}, "see why read fails"),
        ({"projection": Projection.POLL}, "check whether the awaited work is still running"),
        ({"projection": Projection.TEXT}, "ask again in other words"),
    ],
)
def test_the_first_step_fits_the_loop(changes: dict[str, Any], first: str) -> None:
    assert next_steps(replace(READ, **changes), ())[0].startswith(first)


def test_there_are_words_for_every_rung_and_every_choice() -> None:
    assert len({taken(rung, "it") for rung in Rung}) == len(Rung)
    assert LABELS.keys() == set(LoopChoice)


def test_what_was_tried_already_is_not_proposed() -> None:
    assert any("/rewind" in step for step in next_steps(READ, ()))
    assert not any("/rewind" in step for step in next_steps(READ, (Attempt(Rung.ROLLBACK, 6, "back to step 2"),)))
