"""Thinking and effort on the wire: what a request says of them, and when that may change."""

import asyncio
import json
from pathlib import Path

import pytest

from harness.base.errors import HarnessError
from harness.events import Effort, Event, Json, Notice, SettingChanged, ToolStarted
from tests.agent.stage import Played, Stage, calls, run, says, stage

pytestmark = pytest.mark.anyio

OPUS, HAIKU, OLDER, UNKNOWN = "claude-opus-5-5", "claude-haiku-4-5", "claude-opus-4-6", "nobody-knows-1"
SUMMARISED = {"type": "adaptive", "display": "summarized"}
TWO = says("One.") + says("Two.")


def efforts(here: Stage) -> list[object]:
    return [body.get("output_config", {}).get("effort") for body in here.bodies]


def thinking(here: Stage) -> list[Json | None]:
    return [body.get("thinking") for body in here.bodies]


def warnings(turn: Played) -> list[str]:
    return [event.text for event in turn.of(Notice) if event.level == "warning"]


@pytest.mark.parametrize(
    ("model", "asked"),
    [(OPUS, SUMMARISED), ("claude-sonnet-5-5", SUMMARISED), ("claude-opus-4-8", None), (HAIKU, None)],
)
async def test_a_model_that_thinks_is_asked_to_show_a_summary(tmp_path: Path, model: str, asked: Json | None) -> None:
    async with stage(tmp_path, TWO, model=model) as here:
        await here.turn()
        await here.turn()
        assert thinking(here) == [asked] * 2


@pytest.mark.parametrize("effort", ["high", None])
async def test_the_effort_of_the_settings_goes_out_with_every_request_and_unset_with_none(
    tmp_path: Path, effort: str | None
) -> None:
    async with stage(tmp_path, calls(run("one")) + says("Done."), model=OPUS, effort=effort) as here:
        turn = await here.turn()
        assert efforts(here) == [effort, effort]
        assert warnings(turn) == []


async def test_an_effort_that_is_set_within_a_turn_counts_from_the_next_one_on(tmp_path: Path) -> None:
    async with stage(tmp_path, calls(run("one")) + says("Done.") + says("Well."), model=OPUS, effort="low") as here:

        def raise_it(event: Event) -> None:
            if isinstance(event, ToolStarted):
                here.agent.parts.models.set_effort(Effort.MAX)

        turn = await here.turn(on_event=raise_it)
        assert [(event.name, event.value) for event in turn.of(SettingChanged)] == [("effort", "max")]
        await here.turn()
        here.agent.parts.models.set_effort(None)
        assert efforts(here) == ["low", "low", "max"]


async def test_a_model_that_thinks_only_with_a_budget_gets_the_effort_and_the_user_learns_that_it_does_not_think(
    tmp_path: Path,
) -> None:
    async with stage(tmp_path, TWO, model="claude-opus-4-5", effort="high") as here:
        first, second = await here.turn(), await here.turn()
        assert efforts(here) == ["high", "high"]
        (told,) = warnings(first)
        assert "takes the effort high and does not think" in told
        assert warnings(second) == []


@pytest.mark.parametrize(
    ("model", "wanted", "told"),
    [
        (HAIKU, "high", "claude-haiku-4-5 does not support effort"),
        (OLDER, "xhigh", "claude-opus-4-6 does not support the effort xhigh; it supports low, medium, high, max"),
    ],
)
async def test_a_model_that_does_not_take_the_effort_gets_none_and_that_is_reported_once(
    tmp_path: Path, model: str, wanted: str, told: str
) -> None:
    async with stage(tmp_path, TWO, model=model, effort=wanted) as here:
        first, second = await here.turn(), await here.turn()
        assert warnings(first) == [f"{told}; requests to it go out without one"]
        assert warnings(second) == []
        assert efforts(here) == [None, None]
        with pytest.raises(HarnessError, match=told):
            here.agent.parts.models.set_effort(Effort(wanted))
        assert first.end.answer == "One."


async def test_a_fallback_for_which_the_effort_is_too_high_goes_by_its_own(tmp_path: Path) -> None:
    refusal = '\n[[reply]]\ntext = ""\nstop_reason = "refusal"\n'
    async with stage(tmp_path, refusal + says("Done."), model=OPUS, fallback_models=(OLDER,), effort="xhigh") as here:
        turn = await here.turn()
        assert turn.end.answer == "Done."
        assert efforts(here) == ["xhigh", None]
        assert thinking(here) == [SUMMARISED, None]


REFUSALS = (
    "This model does not support the effort parameter.",
    "This model does not support effort level 'xhigh'. Supported levels: high, low, medium.",
    "output_config.effort: Input should be 'low', 'medium' or 'high'",
    "output_config: Extra inputs are not permitted",
    "output_config.effort 'xhigh' is not supported when thinking is disabled on this model.",
    "adaptive thinking is not supported on this model",
    "thinking: Extra inputs are not permitted",
    "thinking.adaptive.display: Extra inputs are not permitted",
    '"thinking.type.adaptive" is not supported for this model.',
)
PLAIN = "claude-opus-5-5 refuses the parameters for thinking and effort; requests omit them from now on"


@pytest.mark.parametrize("message", REFUSALS)
async def test_a_server_that_refuses_thinking_or_effort_is_asked_without_them(tmp_path: Path, message: str) -> None:
    script = f"\n[[reply]]\nstatus = 400\nmessage = {json.dumps(message)}\n" + TWO
    async with stage(tmp_path, script, model=OPUS, effort="xhigh") as here:
        first, second = await here.turn(), await here.turn()
        assert (first.end.answer, second.end.answer) == ("One.", "Two.")
        assert efforts(here) == ["xhigh", None, None]
        assert thinking(here) == [SUMMARISED, None, None]
        assert warnings(first) == [PLAIN]
        assert len({body["max_tokens"] for body in here.bodies}) == 1


async def test_a_server_that_refuses_what_was_not_said_ends_the_turn_with_its_words(tmp_path: Path) -> None:
    script = f'\n[[reply]]\nstatus = 400\nmessage = "{REFUSALS[0]}"\n' + TWO
    async with stage(tmp_path, script, model=HAIKU) as here:
        turn = await here.turn()
        assert turn.end.answer == ""
        assert REFUSALS[0] in turn.end.reason
        assert len(here.posts) == 1


NEWCOMER = '[server]\nmodels = ["newcomer"]\nwindow = 50000\n'


def looked_up(here: Stage) -> int:
    return sum(request.path == "/v1/models" for request in here.server.requests)


async def test_the_limits_of_an_unknown_model_come_from_the_server_once(tmp_path: Path) -> None:
    script = NEWCOMER + f"\n[[reply]]\ntools = [{run('one')}]\n" + says("One.") + says("Two.")
    async with stage(tmp_path, script, model="newcomer") as here:
        assert here.agent.parts.context.size[1] == 200_000
        await here.turn()
        async with asyncio.timeout(60):
            while here.agent.parts.context.size[1] != 50_000:  # noqa: ASYNC110  no event: nothing was decided
                await asyncio.sleep(0.01)
        await here.turn()
        assert looked_up(here) == 1


async def test_a_known_model_is_not_looked_up(tmp_path: Path) -> None:
    async with stage(tmp_path, says("One.") + says("Two.")) as here:
        await here.turn()
        await here.turn()
        assert looked_up(here) == 0
