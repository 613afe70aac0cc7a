"""Targets and limits of a turn (H2, H3, L3)."""

from pathlib import Path

import pytest

from harness.events import MessageAdded, Origin, SpendChanged, TransitionCode
from tests.agent.stage import calls, fails, run, says, stage

pytestmark = pytest.mark.anyio

GO_ON = TransitionCode.TOKEN_BUDGET_CONTINUATION


def part(number: int, tokens: int) -> str:
    """A part of an answer that cost so many tokens."""
    return says(f"Part {number}. ", usage=f"{{ output_tokens = {tokens} }}")


async def test_the_model_goes_on_until_nine_tenths_of_a_token_budget_are_used(tmp_path: Path) -> None:
    script = "".join(part(number, 1_000) for number in range(1, 10))
    async with stage(tmp_path, script, token_budget=5_000) as here:
        turn = await here.turn()
        assert turn.codes == [GO_ON] * 4 + [TransitionCode.COMPLETED]
        assert turn.end.answer == "Part 1. Part 2. Part 3. Part 4. Part 5. "
        nudges = [event.message.text for event in turn.of(MessageAdded) if event.origin is Origin.CONTINUATION]
        assert ["1,000 of the 5,000" in nudges[0], "4,000 of the 5,000" in nudges[3]] == [True, True]


async def test_nudges_that_bring_nothing_come_to_an_end(tmp_path: Path) -> None:
    script = "".join(part(number, 100) for number in range(1, 10))
    async with stage(tmp_path, script, token_budget=100_000) as here:
        assert (await here.turn()).codes == [GO_ON] * 3 + [TransitionCode.COMPLETED]


async def test_tools_may_be_used_on_the_way_to_a_token_budget(tmp_path: Path) -> None:
    script = part(1, 500) + calls(run("a"), usage="{ output_tokens = 300 }") + part(2, 200)
    async with stage(tmp_path, script, token_budget=1_000) as here:
        turn = await here.turn()
        assert turn.codes == [GO_ON, TransitionCode.NEXT_TURN, TransitionCode.COMPLETED]


async def test_a_budget_of_money_ends_before_the_next_request_and_stays_spent(tmp_path: Path) -> None:
    script = calls(run("a"), usage="{ output_tokens = 40000 }") * 3
    async with stage(tmp_path, script, max_budget_usd=1.0) as here:
        turn = await here.turn()
        assert turn.codes == [TransitionCode.NEXT_TURN] * 2 + [TransitionCode.BUDGET_EXHAUSTED]
        assert "$1.00" in turn.end.reason
        assert len(turn.results) == 2
        assert (await here.turn("And?")).codes == [TransitionCode.BUDGET_EXHAUSTED]
        assert len(here.posts) == 2


async def test_what_failed_and_what_was_thrown_away_is_spend_on_retries(tmp_path: Path) -> None:
    script = (
        says("Half an answ", chunk="4", usage="{ input_tokens = 1000, output_tokens = 50 }", fault='"reset"')
        + fails(529)
        + says("Cut.", stop_reason='"max_tokens"', usage="{ input_tokens = 2000, output_tokens = 8000 }")
        + says("Whole.", usage="{ input_tokens = 4000, output_tokens = 10 }")
    )
    async with stage(tmp_path, script) as here:
        turn = await here.turn()
        spend = turn.of(SpendChanged)[-1]
        assert (spend.requests, turn.end.requests) == (4, 4)
        assert spend.usage.input == 7_000
        assert spend.retry_usage.input == 3_000
        assert spend.retry_usage.output >= 8_000
        assert 0 < spend.retry_cost_usd < spend.cost_usd == turn.end.cost_usd
