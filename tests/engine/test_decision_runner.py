"""Decisions carried out: what is reported as lost, and what is not."""

from pathlib import Path

import pytest

from harness.events import PartialDiscarded, TransitionCode
from tests.agent.stage import says, shown_text, stage

pytestmark = pytest.mark.anyio

CUT = '"max_tokens"'


async def test_text_that_is_continued_is_not_reported_as_discarded(tmp_path: Path) -> None:
    script = says("Half an answer, ", stop_reason=CUT) * 2 + says("and the rest.")
    async with stage(tmp_path, script) as here:
        turn = await here.turn()
        assert TransitionCode.MAX_OUTPUT_TOKENS_RECOVERY in turn.codes
        # The first reply is asked for again with a higher cap, the second one is kept and continued.
        assert [lost.characters for lost in turn.of(PartialDiscarded)] == [len("Half an answer, ")]
        assert shown_text(turn.events) == turn.end.answer == "Half an answer, and the rest."
