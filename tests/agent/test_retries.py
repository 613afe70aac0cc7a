"""Waiting for a model, and not waiting for it: keys, headers, long waits, requests of the user."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from harness.base.errors import HarnessError
from harness.engine.permissions.asker import WaitChoice
from harness.events import (
    Event,
    FaultOccurred,
    ModelSwitched,
    RetryEnded,
    RetryScheduled,
    SilenceHint,
    TransitionCode,
    TurnStarted,
    WaitOffered,
)
from harness.settings import Settings
from tests.agent.answering_user import AnsweringUser
from tests.agent.stage import KEY, MODEL, VirtualClock, calls, fails, run, says, settings_of, stage
from tests.cases import cases, parts

pytestmark = pytest.mark.anyio

ANSWER = "Forty-two."
OTHER = "claude-haiku-4-5"
HOUR = fails(429, headers='{ retry-after = "3600" }')


# ── keys ───────────────────────────────────────────────────────────────────────────────────────


async def test_a_key_that_was_not_changed_is_not_tried_again_but_the_session_continues(tmp_path: Path) -> None:
    key, base_url = KEY, ""

    def reread() -> Settings:
        return settings_of(tmp_path, base_url, api_key=key).settings

    async with stage(tmp_path, '[server]\nkey = "sk-ant-the-new-key"\n' + says(ANSWER), reread=reread) as here:
        base_url = here.server.base_url
        assert (await here.turn()).codes == [TransitionCode.API_ERROR]
        assert len(here.posts) == 1
        key = "sk-ant-wrong-as-well"
        assert (await here.retry()).codes == [TransitionCode.API_ERROR]
        assert len(here.posts) == 3
        key = "sk-ant-the-new-key"
        assert (await here.retry()).end.answer == ANSWER
        assert len(here.posts) == 5


# ── what the headers say ───────────────────────────────────────────────────────────────────


@cases(__file__, "headers", "name entry waits", str, parts, str)
async def test_headers_decide_about_a_retry(name: str, entry: list[str], waits: str, tmp_path: Path) -> None:
    script = "\n".join(["[[reply]]", *entry])
    async with stage(tmp_path, script + says(ANSWER)) as here:
        turn = await here.turn()
        assert all(request.headers["x-stainless-retry-count"] == "0" for request in here.posts)
        if waits == "none":
            assert (len(here.posts), turn.codes) == (1, [TransitionCode.API_ERROR])
            assert here.clock.waits == []
        else:
            least, most = map(float, parts(waits))
            assert (len(here.posts), turn.end.answer) == (2, ANSWER)
            assert [least <= wait <= most for wait in here.clock.waits] == [True]


async def test_ten_retries_of_a_request_and_thirty_of_a_turn(tmp_path: Path) -> None:
    async with stage(tmp_path, fails(500, times='"forever"')) as here:
        turn = await here.turn()
        assert (turn.codes, len(here.posts)) == ([TransitionCode.API_ERROR], 11)
        assert "10 retries" in turn.end.reason
        assert 159.5 <= sum(here.clock.waits) <= 199.4
    many = "".join(fails(500, times="4") + calls(run(f"r{number}")) for number in range(10)) + says(ANSWER)
    async with stage(tmp_path, many) as here:
        turn = await here.turn()
        assert turn.codes[-1] is TransitionCode.API_ERROR
        assert len(turn.of(RetryScheduled)) == 30
        assert (await here.retry()).end.answer == ANSWER


# ── long waits ─────────────────────────────────────────────────────────────────────────────────


async def test_a_user_who_switches_is_answered_by_the_other_model(tmp_path: Path) -> None:
    switcher = AnsweringUser(wait="switch")
    async with stage(tmp_path, HOUR + says(ANSWER) * 2, asker=switcher, fallback_models=(OTHER,)) as here:
        turn = await here.turn()
        assert (turn.end.answer, here.clock.waits) == (ANSWER, [])
        assert [event.to_model for event in turn.of(ModelSwitched)] == [OTHER]
        await here.turn("And now?")
        assert [body["model"] == OTHER for body in here.bodies] == [False, True, False]


@pytest.mark.parametrize("choice", ["stop", "switch"])
async def test_a_user_who_stops_or_has_no_other_model_gets_the_fault(choice: Any, tmp_path: Path) -> None:
    async with stage(tmp_path, HOUR + says(ANSWER), asker=AnsweringUser(wait=choice)) as here:
        turn = await here.turn()
        assert (turn.codes, len(here.posts), here.clock.waits) == ([TransitionCode.API_ERROR], 1, [])
        assert "3,600 s" in turn.end.reason
        assert (await here.retry()).end.answer == ANSWER


async def test_an_interruption_while_a_wait_is_offered_ends_the_turn(tmp_path: Path) -> None:
    class Thinker(AnsweringUser):
        async def wait(self, offered: WaitOffered) -> WaitChoice:
            await asyncio.Event().wait()
            return "wait"

    async with stage(tmp_path, HOUR + says(ANSWER), asker=Thinker()) as here:
        turn = await here.turn(
            on_event=lambda event: here.agent.interrupt() if isinstance(event, WaitOffered) else None
        )
        assert turn.codes == [TransitionCode.ABORTED_STREAMING]
        assert (await here.retry()).end.answer == ANSWER


@pytest.mark.parametrize(("max_wait", "waits"), [(None, []), (3599, []), (3600, [3600.0])])
async def test_without_a_user_max_wait_decides(max_wait: int | None, waits: list[float], tmp_path: Path) -> None:
    more: dict[str, Any] = {} if max_wait is None else {"max_wait_s": max_wait}
    async with stage(tmp_path, HOUR + says(ANSWER), **more) as here:
        turn = await here.turn()
        assert here.clock.waits == waits
        assert turn.end.answer == (ANSWER if waits else "")
        assert ("--max-wait 3600" in turn.end.reason) is not bool(waits)


# ── wishes of the user (G1) ───────────────────────────────────────────────────────────────────────


class StoppedClock(VirtualClock):
    """Time is stopped: a wait ends only by a request."""

    async def sleep(self, seconds: float) -> None:
        """Wait until cancelled."""
        self.waits.append(seconds)
        await asyncio.Event().wait()


async def test_a_silent_connection_can_be_dropped_by_hand_and_the_next_is_tried_at_once(tmp_path: Path) -> None:
    script = says(ANSWER, chunk="5", fault='"stall"') + says(ANSWER)
    async with stage(tmp_path, script, clock=StoppedClock(), watch_hint_s=0.05) as here:
        hints: list[Event] = []

        def reconnect(event: Event) -> None:
            if isinstance(event, SilenceHint) and not hints:  # a busy machine is silent before its answer, too
                hints.append(event)
                here.agent.parts.decisions.retry_now()

        turn = await here.turn(on_event=reconnect)
        assert turn.end.answer == ANSWER
        assert [event.fault.error_code for event in turn.of(FaultOccurred)] == ["reconnect_asked"]
        assert [event.why for event in turn.of(RetryEnded)] == ["asked"]
        assert here.posts[0].connection_id != here.posts[1].connection_id


# ── another model instead of a wait ─────────────────────────────────────────────────────────────────


THIRD = "claude-opus-5-5"


async def test_a_wait_is_ended_for_the_fallback_which_holds_for_the_rest_of_the_turn(tmp_path: Path) -> None:
    script = fails(529) + fails(529) + says(ANSWER) + says("Good.")
    async with stage(tmp_path, script, clock=StoppedClock(), fallback_models=(OTHER, THIRD)) as here:
        offered = []

        def leave_model(event: Event) -> None:
            if isinstance(event, RetryScheduled):
                offered.append(here.agent.parts.decisions.other_model)
                here.agent.parts.decisions.ask_other_model()

        turn = await here.turn(on_event=leave_model)
        assert turn.end.answer == ANSWER
        assert offered == [OTHER, THIRD]
        assert [event.why for event in turn.of(RetryEnded)] == ["switched"] * 2
        assert [event.to_model for event in turn.of(ModelSwitched)] == [OTHER, THIRD]
        assert here.agent.parts.decisions.other_model is None
        await here.turn("And now?")
        assert [body["model"] for body in here.bodies] == [MODEL, OTHER, THIRD, MODEL]


async def test_a_silent_model_is_left_for_the_fallback(tmp_path: Path) -> None:
    script = says(ANSWER, chunk="5", fault='"stall"') + says(ANSWER)
    async with stage(tmp_path, script, clock=StoppedClock(), watch_hint_s=0.05, fallback_models=(OTHER,)) as here:
        hints: list[Event] = []

        def leave_model(event: Event) -> None:
            if isinstance(event, SilenceHint) and not hints:
                hints.append(event)
                here.agent.parts.decisions.ask_other_model()

        turn = await here.turn(on_event=leave_model)
        assert turn.end.answer == ANSWER
        assert [event.why for event in turn.of(RetryEnded)] == ["switched"]
        assert [body["model"] for body in here.bodies] == [MODEL, OTHER]


async def test_what_is_not_waited_for_or_used_up_cannot_be_left(tmp_path: Path) -> None:
    refused = []
    script = fails(529, times="2") + says(ANSWER)
    async with stage(tmp_path, script, clock=StoppedClock(), fallback_models=(OTHER,)) as here:
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
