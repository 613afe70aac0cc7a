"""Targets and limits of a turn."""

from pathlib import Path

import pytest

from harness.agent import Agent
from harness.base.errors import SettingsError
from harness.events import (
    BudgetReached,
    FaultOccurred,
    MessageAdded,
    Origin,
    RetryScheduled,
    SpendChanged,
    TransitionCode,
)
from tests.agent.stage import calls, fails, run, says, settings_of, stage

pytestmark = pytest.mark.anyio

GO_ON = TransitionCode.TOKEN_BUDGET_CONTINUATION


def part(number: int, tokens: int) -> str:
    """A part of an answer that cost so many tokens."""
    return says(f"Part {number}. ", usage=f"{{ output_tokens = {tokens} }}")


async def test_the_model_continues_until_nine_tenths_of_a_token_budget_are_used(tmp_path: Path) -> None:
    script = "".join(part(number, 1_000) for number in range(1, 10))
    async with stage(tmp_path, script, token_budget=5_000) as here:
        turn = await here.turn()
        assert turn.codes == [GO_ON] * 4 + [TransitionCode.COMPLETED]
        assert turn.end.answer == "Part 1. Part 2. Part 3. Part 4. Part 5. "
        nudges = [event.message.text for event in turn.of(MessageAdded) if event.origin is Origin.CONTINUATION]
        assert ["1,000 of the 5,000" in nudges[0], "4,000 of the 5,000" in nudges[3]] == [True, True]


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


async def test_what_a_broken_stream_leaves_to_keep_is_no_waste(tmp_path: Path) -> None:
    usage = "{ input_tokens = 1000, output_tokens = 50 }"
    broken = calls(run("a"), text="I look.", usage=usage, fault='{ kind = "reset", at = 6 }')
    async with stage(tmp_path, broken + says("Done.")) as here:
        turn = await here.turn()
        (fault,) = [event.fault for event in turn.of(FaultOccurred)]
        assert fault.kept
        assert (turn.of(SpendChanged)[-1].retry_usage.input, turn.end.usage.input >= 1_000) == (0, True)


async def test_money_is_reported_at_50_80_and_100_percent_of_a_budget(tmp_path: Path) -> None:
    script = calls(run("a"), usage="{ output_tokens = 10000 }") * 9
    async with stage(tmp_path, script, max_budget_usd=1.0, loop_intervention=False) as here:
        turn = await here.turn()
        assert turn.codes[-1] is TransitionCode.BUDGET_EXHAUSTED
        reported = turn.of(BudgetReached)
        assert [event.percent for event in reported] == [50, 80, 100]
        assert [0.5 <= event.cost_usd < 0.8 for event in reported] == [True, False, False]
        assert (await here.turn("And?")).of(BudgetReached) == []


async def test_a_model_without_a_price_costs_an_unknown_amount_and_not_nothing(tmp_path: Path) -> None:
    script = '[server]\nmodels = ["claude-mythos-9"]\n' + says("Yes.") + says("Yes.")
    async with stage(tmp_path, script, model="claude-mythos-9") as here:
        end = (await here.turn()).end
        assert (end.cost_usd, end.requests, end.unpriced) == (0.0, 1, 1)
        await here.turn()
        assert here.agent.conversation.spend.unpriced == 2


@pytest.mark.parametrize("name", ["max_budget_usd", "subagent_budget_usd"])
@pytest.mark.parametrize(("model", "fallback"), [("claude-mythos-9", ()), ("claude-opus-5-5", ("claude-mythos-9",))])
async def test_a_budget_needs_a_price_for_each_model(
    tmp_path: Path, name: str, model: str, fallback: tuple[str, ...]
) -> None:
    loaded = settings_of(tmp_path, "http://127.0.0.1:9", model=model, fallback_models=fallback, **{name: 1.0})
    with pytest.raises(SettingsError, match=rf'^{name} cannot be kept, .* \[prices\."claude-mythos-9"\]') as refused:
        Agent(loaded.settings)
    assert refused.value.exit_code == 2


async def test_a_price_of_the_user_makes_a_budget_possible_and_ends_it(tmp_path: Path) -> None:
    script = '[server]\nmodels = ["mine"]\n' + calls(run("a"), usage="{ output_tokens = 1000 }") * 3
    prices = {"mine": {"input": 0, "output": 1000}}
    async with stage(tmp_path, script, model="mine", prices=prices, max_budget_usd=2.0) as here:
        turn = await here.turn()
        assert turn.codes == [TransitionCode.NEXT_TURN] * 2 + [TransitionCode.BUDGET_EXHAUSTED]
        assert turn.end.cost_usd == pytest.approx(2.0)
        with pytest.raises(SettingsError, match="price of local/llama is not known"):
            here.agent.parts.models.select("local/llama")
        assert here.agent.parts.models.current == "mine"


async def test_a_request_whose_failure_used_up_the_budget_is_not_repeated(tmp_path: Path) -> None:
    dear = says("Half an answ", chunk="4", usage="{ input_tokens = 400000, output_tokens = 50 }", fault='"reset"')
    async with stage(tmp_path, dear + says("Whole."), max_budget_usd=1.0) as here:
        turn = await here.turn()
        assert turn.codes == [TransitionCode.BUDGET_EXHAUSTED]
        assert turn.of(RetryScheduled) == []
        assert len(here.posts) == 1
