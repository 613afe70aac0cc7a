"""The script that shows the escape mechanism without a key: three prompts, three circles."""

import re
from pathlib import Path

import pytest

from harness.events import LoopFound, LoopLeft, Projection, Rung, TransitionCode
from harness.practice.script import KIND
from tests.agent.stage import stage
from tests.agent.test_escape import rungs

pytestmark = pytest.mark.anyio


async def test_it_shows_a_model_that_listens_a_reply_without_an_end_and_a_model_that_does_not_listen(
    tmp_path: Path,
) -> None:
    text, _ = KIND.read("stuck")
    without_pauses = re.sub(r"^(event_)?delay = .*\n", "", text, flags=re.MULTILINE)
    async with stage(tmp_path, without_pauses) as here:
        listens, endless, deaf = [await here.turn(prompt) for prompt in ("one", "two", "three")]
    assert rungs(listens) == rungs(endless) == [Rung.NUDGE]
    assert [event.freed_by for turn in (listens, endless) for event in turn.of(LoopLeft)] == [Rung.NUDGE] * 2
    (found,) = endless.of(LoopFound)
    assert found.loop.projection is Projection.TEXT
    assert "'I will look at the settings once more" in found.loop.summary
    assert endless.end.answer.count("once more, then") == 1
    assert deaf.end.code is TransitionCode.LOOP_STOPPED
    assert rungs(deaf)[0] is Rung.NUDGE
