"""The person turns to another model instead of waiting for this one."""

from pathlib import Path

import pytest

from harness.base.errors import HarnessError
from harness.events import Event, ModelSwitched, RetryEnded, RetryScheduled, SilenceHint, TurnStarted
from tests.agent.stage import MODEL, fails, says, stage
from tests.agent.test_retries import StandingClock

pytestmark = pytest.mark.anyio

OTHER, THIRD = "claude-haiku-4-5", "claude-opus-5-5"
ANSWER = "Forty-two."


async def test_a_wait_is_ended_for_the_fallback_which_holds_for_the_rest_of_the_turn(tmp_path: Path) -> None:
    script = fails(529) + fails(529) + says(ANSWER) + says("Good.")
    async with stage(tmp_path, script, clock=StandingClock(), fallback_models=(OTHER, THIRD)) as here:
        offered = []

        def turn_away(event: Event) -> None:
            if isinstance(event, RetryScheduled):
                offered.append(here.agent.parts.decisions.other_model)
                here.agent.parts.decisions.ask_other_model()

        turn = await here.turn(on_event=turn_away)
        assert turn.end.answer == ANSWER
        assert offered == [OTHER, THIRD]
        assert [event.why for event in turn.of(RetryEnded)] == ["switched"] * 2
        assert [event.to_model for event in turn.of(ModelSwitched)] == [OTHER, THIRD]
        assert here.agent.parts.decisions.other_model is None
        await here.turn("And now?")
        assert [body["model"] for body in here.bodies] == [MODEL, OTHER, THIRD, MODEL]


async def test_a_silent_model_is_left_for_the_fallback(tmp_path: Path) -> None:
    script = says(ANSWER, chunk="5", fault='"stall"') + says(ANSWER)
    async with stage(tmp_path, script, clock=StandingClock(), watch_hint_s=0.05, fallback_models=(OTHER,)) as here:

        def turn_away(event: Event) -> None:
            if isinstance(event, SilenceHint):
                here.agent.parts.decisions.ask_other_model()

        turn = await here.turn(on_event=turn_away)
        assert turn.end.answer == ANSWER
        assert [event.why for event in turn.of(RetryEnded)] == ["switched"]
        assert [body["model"] for body in here.bodies] == [MODEL, OTHER]


async def test_without_a_fallback_it_says_what_to_do(tmp_path: Path) -> None:
    async with stage(tmp_path, says(ANSWER)) as here:
        assert here.agent.parts.decisions.other_model is None
        with pytest.raises(HarnessError, match="--fallback-model"):
            here.agent.parts.decisions.ask_other_model()


async def test_what_is_not_waited_for_or_used_up_cannot_be_left(tmp_path: Path) -> None:
    refused = []
    script = fails(529, times="2") + says(ANSWER)
    async with stage(tmp_path, script, clock=StandingClock(), fallback_models=(OTHER,)) as here:
        with pytest.raises(HarnessError, match="no model is being waited for"):
            here.agent.parts.decisions.ask_other_model()

        def insist(event: Event) -> None:
            if isinstance(event, RetryScheduled):
                try:
                    here.agent.parts.decisions.ask_other_model()
                except HarnessError as error:
                    refused.append(str(error))
                    here.agent.parts.decisions.retry_now()

        turn = await here.turn(on_event=insist)
        assert turn.of(TurnStarted)
        assert turn.end.answer == ANSWER
    assert len(refused) == 1
    assert "every fallback was asked already" in refused[0]
