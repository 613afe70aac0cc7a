"""Another model for the rest of a turn (group C)."""

import json
from itertools import pairwise
from pathlib import Path

import pytest

from harness.events import (
    BreakerChanged,
    BreakerState,
    ChangeReason,
    Json,
    Message,
    ModelSwitched,
    TransitionCode,
)
from tests.agent.stage import MODEL, Played, calls, fails, run, says, stage, summarises

pytestmark = pytest.mark.anyio

OTHER = "claude-haiku-4-5"
ANSWER = "Forty-two."


def thinking_in(body: Json) -> list[str]:
    """All thoughts in a request."""
    blocks = (block for message in body["messages"] for block in message["content"])
    return [block["thinking"] for block in blocks if block["type"] == "thinking"]


def thought(text: str, then: str) -> str:
    return f'\n[[reply]]\nthinking = "{text}"\n{then}\n'


async def test_a_refusal_brings_the_fallback_once_and_nothing_of_it_is_kept(tmp_path: Path) -> None:
    details = '{ category = "cyber", explanation = "That could do harm." }'
    refusal = says("I would rather not.", stop_reason='"refusal"', stop_details=details)
    async with stage(tmp_path, refusal + says(ANSWER) + says("Good."), fallback_models=(OTHER,)) as here:
        turn = await here.turn()
        assert turn.end.answer == ANSWER
        [switch] = turn.of(ModelSwitched)
        assert switch.reason == "the model declined to answer (cyber): That could do harm."
        assert turn.codes == [TransitionCode.REFUSAL_FALLBACK, TransitionCode.COMPLETED]
        assert here.bodies[0]["messages"] == here.bodies[1]["messages"]
        await here.turn("And now?")
        assert [body["model"] for body in here.bodies] == [MODEL, OTHER, MODEL]


async def test_three_overloads_in_a_row_bring_the_fallback_for_this_turn_only(tmp_path: Path) -> None:
    script = (
        "[server]\nbind_thinking = true\n"
        + thought("by the first", f"tools = [{run('first')}]")
        + fails(529, times="3")
        + thought("by the second", f"tools = [{run('second')}]")
        + thought("again by the second", f'text = "{ANSWER}"')
        + thought("home again", f"tools = [{run('third')}]")
        + says("Good.")
    )
    async with stage(tmp_path, script, fallback_models=(OTHER,)) as here:
        turn = await here.turn()
        assert turn.end.answer == ANSWER
        [switch] = turn.of(ModelSwitched)
        assert (switch.from_model, switch.to_model) == (MODEL, OTHER)
        assert "3 times" in switch.reason
        turn = await here.turn("And now?")
        [back] = turn.of(ModelSwitched)
        assert (back.from_model, back.to_model) == (OTHER, MODEL)
        assert [body["model"] for body in here.bodies] == [MODEL] * 4 + [OTHER] * 2 + [MODEL] * 2
        assert [thinking_in(body) for body in here.bodies] == [
            [],
            *[["by the first"]] * 3,
            [],
            ["by the second"],
            [],
            ["home again"],
        ]
        assert here.ran() == {"first": 1, "second": 1, "third": 1}


def moves(turn: Played) -> list[tuple[str, BreakerState, ChangeReason]]:
    """What the breakers of models did."""
    return [(event.key, event.after, event.why) for event in turn.of(BreakerChanged)]


async def test_after_an_overloaded_turn_the_first_request_is_an_attempt_and_one_overload_turns_away_again(
    tmp_path: Path,
) -> None:
    key, other = f"model:{MODEL}", says(ANSWER)
    script = (
        fails(529, times="3")
        + other  # turn 1
        + fails(529)
        + other  # turn 2
        + says("At home.")  # turn 3
        + fails(529, times="3")
        + other  # turn 4
    )
    async with stage(tmp_path, script, fallback_models=(OTHER,)) as here:
        turns = [await here.turn() for _ in range(4)]
        asked = [MODEL] * 3 + [OTHER] + [MODEL, OTHER] + [MODEL] + [MODEL] * 3 + [OTHER]
        assert [body["model"] for body in here.bodies] == asked
        opened = (key, BreakerState.OPEN, ChangeReason.THRESHOLD)
        attempt = (key, BreakerState.HALF_OPEN, ChangeReason.PROBE_GIVEN)
        assert [moves(turn) for turn in turns] == [
            [opened],
            [attempt, (key, BreakerState.OPEN, ChangeReason.PROBE_FAILED)],
            [attempt, (key, BreakerState.CLOSED, ChangeReason.PROBE_SUCCEEDED)],
            [opened],
        ]
        assert [len(turn.of(ModelSwitched)) for turn in turns] == [1, 2, 1, 1]
        assert turns[1].of(ModelSwitched)[-1].reason == f"{MODEL} is still overloaded"


async def test_a_summary_that_is_written_closes_the_breaker(tmp_path: Path) -> None:
    script = calls(run("x")) + fails(529, times="3") + says(ANSWER) + summarises() + says("At home.")
    async with stage(tmp_path, script, fallback_models=(OTHER,)) as here:
        await here.turn()
        key = f"model:{MODEL}"
        assert moves(await here.compact()) == [
            (key, BreakerState.HALF_OPEN, ChangeReason.PROBE_GIVEN),
            (key, BreakerState.CLOSED, ChangeReason.PROBE_SUCCEEDED),
        ]
        turn = await here.turn()
        assert (turn.end.answer, moves(turn)) == ("At home.", [])


async def test_the_events_of_a_model_follow_one_from_the_other(tmp_path: Path) -> None:
    overloaded = fails(529, times="3") + says(ANSWER)
    script = overloaded + fails(500) + fails(529) + says(ANSWER) + says("At home.") + overloaded
    async with stage(tmp_path, script, fallback_models=(OTHER,)) as here:
        for _ in range(4):
            await here.turn()
        reported = [event for event in here.recorded if isinstance(event, BreakerChanged)]
        assert {event.key for event in reported} == {f"model:{MODEL}"}
        assert [event.generation for event in reported] == list(range(1, len(reported) + 1))
        assert all(before.after is after.before for before, after in pairwise(reported))
        assert {event.probe_at for event in reported} == {None}, "distances of models are no steps"


async def test_a_model_chosen_by_hand_does_not_see_the_thinking_of_another(tmp_path: Path) -> None:
    script = (
        "[server]\nbind_thinking = true\n" + thought("by the first", 'text = "One."') + says("Two.") + says("Three.")
    )
    async with stage(tmp_path, script) as here:
        await here.turn()
        here.agent.parts.models.select(OTHER)
        await here.turn("Again.")
        here.agent.parts.models.select(MODEL)
        assert (await here.turn("Again.")).end.answer == "Three."
        assert [thinking_in(body) for body in here.bodies] == [[], [], []]
        assert [body["model"] for body in here.bodies] == [MODEL, OTHER, MODEL]


def user_message(words: str) -> Message:
    return Message("user", ({"type": "text", "text": words},))


async def test_neighbours_that_are_joined_for_sending_do_not_move_the_border(tmp_path: Path) -> None:
    before = [user_message(f"interrupted {number}") for number in range(4)]
    script = f'\n[[reply]]\nthinking = "of the present"\ntools = [{run("one")}]\n' + says("Done.")
    async with stage(tmp_path, "[server]\nbind_thinking = true\n" + script, messages=before) as here:
        await here.turn()
        assert ["of the present" in json.dumps(body) for body in here.bodies] == [False, True]
