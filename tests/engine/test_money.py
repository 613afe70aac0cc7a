"""A budget of money holds for requests that are repeated, too."""

from pathlib import Path

import pytest

from harness.events import RetryScheduled, TransitionCode
from tests.agent.stage import says, stage

pytestmark = pytest.mark.anyio


async def test_a_request_whose_failure_used_up_the_budget_is_not_repeated(tmp_path: Path) -> None:
    dear = says("Half an answ", chunk="4", usage="{ input_tokens = 400000, output_tokens = 50 }", fault='"reset"')
    async with stage(tmp_path, dear + says("Whole."), max_budget_usd=1.0) as here:
        turn = await here.turn()
        assert turn.codes == [TransitionCode.BUDGET_EXHAUSTED]
        assert turn.of(RetryScheduled) == []
        assert len(here.posts) == 1
