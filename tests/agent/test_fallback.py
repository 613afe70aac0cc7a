"""Another model for the rest of a turn (group C)."""

from itertools import pairwise
from pathlib import Path

import pytest

from harness.events import (
    BreakerChanged,
    BreakerState,
    ChangeReason,
    FaultOccurred,
    Json,
    ModelSwitched,
    TransitionCode,
)
from tests.agent.stage import MODEL, Played, calls, fails, run, says, stage, summarises, too_long

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


@pytest.mark.parametrize("between", [fails(500), fails(429)])
async def test_another_fault_says_nothing_about_an_attempt_and_the_next_request_is_one(
    between: str, tmp_path: Path
) -> None:
    script = fails(529, times="3") + says(ANSWER) + between + fails(529) + says(ANSWER) + between + says("At home.")
    async with stage(tmp_path, script, fallback_models=(OTHER,)) as here:
        await here.turn()
        turn = await here.turn()
        assert [body["model"] for body in here.bodies][4:] == [MODEL, MODEL, OTHER]
        assert moves(turn)[-1][2] is ChangeReason.PROBE_FAILED
        turn = await here.turn()
        assert turn.end.answer == "At home."
        assert moves(turn)[-1][1] is BreakerState.CLOSED


async def test_without_another_model_an_open_breaker_keeps_nothing_back(tmp_path: Path) -> None:
    async with stage(tmp_path, fails(529, times="5") + says(ANSWER) + says(ANSWER)) as here:
        turn = await here.turn()
        assert turn.end.answer == ANSWER
        assert len(here.posts) == 6
        assert [after for _, after, _ in moves(turn)][-1] is BreakerState.CLOSED
        assert (await here.turn()).end.answer == ANSWER


async def test_the_only_model_opens_again_no_more_often_than_its_pauses_say(tmp_path: Path) -> None:
    async with stage(tmp_path, fails(529, times='"forever"')) as here:
        turn = await here.turn()
        assert turn.codes == [TransitionCode.API_ERROR]
        assert len(here.posts) == 11
        after_the_attempt = sum(here.clock.waits[7:])
        assert after_the_attempt < 120, "the second pause is not over when the retries are"
        assert [why for _, _, why in moves(turn)] == [
            ChangeReason.THRESHOLD,
            ChangeReason.PROBE_GIVEN,
            ChangeReason.PROBE_FAILED,
        ]


async def test_a_fallback_that_was_overloaded_has_one_attempt_as_well(tmp_path: Path) -> None:
    third = "claude-opus-4-6"
    script = fails(529, times="6") + says(ANSWER) + fails(529, times="2") + says(ANSWER)
    async with stage(tmp_path, script, fallback_models=(OTHER, third)) as here:
        await here.turn()
        turn = await here.turn()
        assert [body["model"] for body in here.bodies] == [MODEL] * 3 + [OTHER] * 3 + [third] + [MODEL, OTHER, third]
        assert [why for key, _, why in moves(turn) if key == f"model:{OTHER}"] == [
            ChangeReason.PROBE_GIVEN,
            ChangeReason.PROBE_FAILED,
        ]
        assert f"model:{third}" not in {key for key, _, _ in moves(turn)}


async def test_two_overloads_of_one_turn_do_not_count_in_the_next(tmp_path: Path) -> None:
    script = fails(529, times="2") + fails(402) + fails(529, times="2") + says("At home.")
    async with stage(tmp_path, script, fallback_models=(OTHER,)) as here:
        turns = [await here.turn(), await here.turn()]
        assert turns[1].end.answer == "At home."
        assert [moves(turn) for turn in turns] == [[], []]


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
        told = [event for event in here.recorded if isinstance(event, BreakerChanged)]
        assert {event.key for event in told} == {f"model:{MODEL}"}
        assert [event.generation for event in told] == list(range(1, len(told) + 1))
        assert all(before.after is after.before for before, after in pairwise(told))
        assert {event.probe_at for event in told} == {None}, "distances of models are no steps"


async def test_an_overload_inside_a_stream_counts(tmp_path: Path) -> None:
    broken = says(ANSWER, chunk="3", fault='"error_event"')
    async with stage(tmp_path, broken + fails(529) + broken + says(ANSWER), fallback_models=(OTHER,)) as here:
        turn = await here.turn()
        assert turn.end.answer == ANSWER
        assert [body["model"] for body in here.bodies] == [MODEL] * 3 + [OTHER]
        assert len(turn.of(FaultOccurred)) == 3


@pytest.mark.parametrize("between", [calls(run("look")), fails(500)], ids=["an answer", "another fault"])
async def test_overloads_that_are_not_in_a_row_do_not_switch(between: str, tmp_path: Path) -> None:
    script = fails(529, times="2") + between + fails(529, times="2") + says(ANSWER)
    async with stage(tmp_path, script, fallback_models=(OTHER,)) as here:
        assert (await here.turn()).end.answer == ANSWER
        assert {body["model"] for body in here.bodies} == {MODEL}


NEVER = {
    "auth": fails(401, times='"forever"'),
    "billing": fails(402, times='"forever"'),
    "rate limit": fails(429, times='"forever"'),
    "size": too_long(times='"forever"'),
    "network": says(ANSWER, fault='{ kind = "reset", at = "headers" }', times='"forever"'),
    "server": fails(500, times='"forever"'),
    "model not found": fails(404, message='"model: nobody"', times='"forever"'),
}


@pytest.mark.parametrize("kind", NEVER)
async def test_no_other_fault_switches(kind: str, tmp_path: Path) -> None:
    async with stage(tmp_path, NEVER[kind], fallback_models=(OTHER,)) as here:
        turn = await here.turn()
        assert turn.codes[-1] in (TransitionCode.API_ERROR, TransitionCode.PROMPT_TOO_LONG)
        assert {body["model"] for body in here.bodies} == {MODEL}
        assert not turn.of(ModelSwitched)


async def test_each_fallback_is_asked_once_and_there_is_no_way_round_in_a_circle(tmp_path: Path) -> None:
    others = (OTHER, "claude-opus-4-6", MODEL)
    async with stage(tmp_path, fails(529, times='"forever"'), fallback_models=others) as here:
        turn = await here.turn()
        assert [event.to_model for event in turn.of(ModelSwitched)] == [OTHER, "claude-opus-4-6"]
        assert turn.codes == [TransitionCode.API_ERROR]
        models = [body["model"] for body in here.bodies]
        assert models == [MODEL] * 3 + [OTHER] * 3 + ["claude-opus-4-6"] * (len(models) - 6)
        assert len(turn.events) < 100


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
