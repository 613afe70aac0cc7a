"""Thinking models: thinking counts against the cap, and a reply cut while thinking leaves nothing."""

from pathlib import Path

import pytest

from harness.events import CompactionEnded, OutputCapChanged, RequestSent, TransitionCode
from tests.agent.stage import Played, Stage, run, stage

pytestmark = pytest.mark.anyio

Code = TransitionCode
THINKS = '[profile]\nthinking = "adaptive"\n'
KNOWN, OTHER = "claude-opus-5-5", "claude-opus-4-8"
"""A model that the catalogue knows to think, and one that it does not expect it of."""
WITHOUT_EFFORT = "claude-haiku-4-5"
TOO_LONG = '\n[[reply]]\nstatus = 400\nmessage = "prompt is too long: 210000 tokens > 200000 maximum"\n'
ANSWER = "Both notes were read."


def step(tokens: int, marker: str) -> str:
    return f'\n[[reply]]\ntokens = {tokens}\ntext = "On it."\ntools = [{run(marker)}]\n'


def answers(tokens: int, text: str = ANSWER) -> str:
    return f'\n[[reply]]\ntokens = {tokens}\ntext = "{text}"\n'


def summary(tokens: int) -> str:
    text = "<summary>One note was read.</summary>"
    return f'\n[[reply]]\nwhen = {{ purpose = "summary" }}\ntokens = {tokens}\ntext = "{text}"\n'


def caps(turn: Played) -> list[int]:
    return [event.max_tokens for event in turn.of(RequestSent)]


def efforts(here: Stage) -> list[object]:
    return [body.get("output_config") for body in here.bodies]


async def test_two_hard_steps_and_a_long_summary_take_no_request_in_vain(tmp_path: Path) -> None:
    script = THINKS + step(10_000, "one") + step(10_000, "two") + TOO_LONG + summary(17_000) + answers(10_000)
    async with stage(tmp_path, script, model=KNOWN) as here:
        turn = await here.turn()
        assert turn.end.answer == ANSWER
        assert caps(turn) == [128_000] * 5
        assert turn.end.usage.output == 10_000 + 10_000 + 17_000 + 10_000
        assert turn.codes == [Code.NEXT_TURN, Code.NEXT_TURN, Code.REACTIVE_COMPACT_RETRY, Code.COMPLETED]


async def test_a_model_that_was_not_expected_to_think_costs_one_cut_reply_in_the_session(tmp_path: Path) -> None:
    script = THINKS + step(10_000, "one") + answers(100_000) + answers(90_000, "Good.")
    async with stage(tmp_path, script, model=OTHER) as here:
        first = await here.turn()
        assert caps(first) == [8_000, 128_000, 128_000]
        assert [(event.model, event.session_cap) for event in first.of(OutputCapChanged)] == [(OTHER, 128_000)]
        assert caps(await here.turn("And?")) == [128_000]
        assert here.agent.conversation.spend.retry_usage.output == 8_000


async def test_a_summary_raises_the_cap_as_a_turn_does_and_for_the_turn_as_well(tmp_path: Path) -> None:
    script = THINKS + step(7_000, "one") + TOO_LONG + summary(17_000) + answers(10_000)
    async with stage(tmp_path, script, model=OTHER) as here:
        turn = await here.turn()
        assert caps(turn) == [8_000, 8_000, 16_000, 128_000, 128_000]
        [raised] = turn.of(OutputCapChanged)
        assert (raised.from_cap, raised.to_cap, raised.session_cap) == (16_000, 128_000, 128_000)
        assert turn.end.answer == ANSWER


async def test_a_summary_for_which_the_window_leaves_no_room_is_asked_for_with_a_shorter_history(
    tmp_path: Path,
) -> None:
    full = '\n[[reply]]\nstatus = 400\nmessage = "prompt is too long: 41000 tokens > 40000 maximum"\n'
    script = THINKS + step(100, "one") + full + summary(31_000) + answers(100)
    async with stage(tmp_path, script, model=WITHOUT_EFFORT) as here:
        turn = await here.turn("word " * 15_000)
        asked = [event for event in turn.of(RequestSent) if event.purpose == "summary"]
        assert asked[-1].estimated_tokens < asked[0].estimated_tokens
        assert asked[-1].max_tokens >= 31_000 > asked[-2].max_tokens
        assert [event.method for event in turn.of(CompactionEnded)] == ["summary"]
        assert turn.end.answer == ANSWER
