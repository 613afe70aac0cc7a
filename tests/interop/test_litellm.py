"""Our agent against the Messages endpoint of the LiteLLM proxy: its mock replies, its mock errors, its events.

A tool is called by a provider inside LiteLLM (`scripted_provider`), whose words LiteLLM puts into the API's
events. The last tests have LiteLLM hand on a practice server's replies, faults included.
"""

from pathlib import Path

import pytest

from harness.agent import Agent
from harness.events import FaultKind, FaultOccurred, RetryScheduled, TextDelta, ToolEnded, TransitionCode
from harness.practice.script import Script
from harness.practice.server import PracticeServer
from tests.agent.stage import Played, VirtualClock, calls, check_requests, fails, played, ran_in, says, settings_of
from tests.agent.stage import run as runs
from tests.interop.litellm_proxy import KEY, MOCK_REPLY, LiteLLM
from tests.interop.programs import LITELLM, needed
from tests.ui.program import Finished, Place, run

needed(LITELLM)
pytestmark = [pytest.mark.anyio, pytest.mark.interop]

CLAUDE = "claude-sonnet-4-6"
ANSWER = "The note says forty-two, and nothing else needs to be done."


async def command(place: Place, litellm: LiteLLM, model: str, **env: str) -> Finished:
    """The real command, with `model` of the proxy."""
    served = Place(place.folder, litellm.base_url)
    flags = ("-p", "What does the note say?", "--model", model, "--yolo")
    return await run(served, *flags, env={"ANTHROPIC_API_KEY": KEY, "HARNESS_MAX_RETRIES": "1", **env})


async def library(folder: Path, litellm: LiteLLM, model: str, **values: object) -> Played:
    """One turn of an agent with `model` of the proxy; waits cost no time."""
    settings = settings_of(folder, litellm.base_url, api_key=KEY, model=model, **values).settings
    async with Agent(settings, clock=VirtualClock()) as agent:
        return await played(agent.run("What does the note say?"))


def upstream(litellm: LiteLLM, script: str) -> PracticeServer:
    """What LiteLLM finds behind claude-sonnet-4-6."""
    return PracticeServer(script=Script.parse(f'after = "error"\n{script}'), port=litellm.upstream_port)


# ── replies ─────────────────────────────────────────────────────────────────────────────────────────


async def test_a_mock_reply_is_the_answer_of_the_command(place: Place, litellm: LiteLLM) -> None:
    ended = await command(place, litellm, "mock-stream")
    assert (ended.code, ended.out, ended.err) == (0, f"{MOCK_REPLY}\n", "")


async def test_a_mock_reply_streams(tmp_path: Path, litellm: LiteLLM) -> None:
    turn = await library(tmp_path, litellm, "mock-stream")
    pieces = [event.text for event in turn.of(TextDelta)]
    assert (turn.codes, turn.end.answer, turn.end.requests) == ([TransitionCode.COMPLETED], MOCK_REPLY, 1)
    assert len(pieces) > 3
    assert "".join(pieces) == MOCK_REPLY


async def test_a_tool_is_run_and_its_result_comes_back(place: Place, litellm: LiteLLM) -> None:
    ended = await command(place, litellm, "scripted")
    assert (ended.code, ended.out) == (0, "The command said: forty-two.\n")
    assert (place.folder / "rounds.txt").read_text() == "ran\n"


async def test_a_tool_call_in_pieces_is_one_call_of_the_library(tmp_path: Path, litellm: LiteLLM) -> None:
    turn = await library(tmp_path, litellm, "scripted")
    assert turn.codes == [TransitionCode.NEXT_TURN, TransitionCode.COMPLETED]
    assert [event.tool for event in turn.of(ToolEnded)] == ["bash"]
    assert turn.end.answer == "The command said: forty-two."


async def test_a_mock_reply_that_is_no_stream_is_named(place: Place, litellm: LiteLLM) -> None:
    ended = await command(place, litellm, "mock-whole")
    assert (ended.code, ended.out) == (1, "")
    assert "200 with application/json instead of an event stream" in ended.err


# ── errors ──────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("model", "status", "kind"),
    [
        ("mock-429", 429, FaultKind.RATE_LIMIT),
        ("mock-500", 500, FaultKind.SERVER),
        ("mock-timeout", 408, FaultKind.TIMEOUT),
    ],
)
async def test_a_mock_error_is_known_and_tried_again(
    tmp_path: Path, litellm: LiteLLM, model: str, status: int, kind: FaultKind
) -> None:
    turn = await library(tmp_path, litellm, model, max_retries=3)
    assert {(event.fault.status, event.fault.kind) for event in turn.of(FaultOccurred)} == {(status, kind)}
    assert (len(turn.of(RetryScheduled)), turn.end.requests) == (3, 4)
    assert turn.codes == [TransitionCode.API_ERROR]
    assert "gave up after 3 retries" in turn.end.reason


@pytest.mark.parametrize(("model", "status"), [("mock-429", "429"), ("mock-500", "500")])
async def test_a_mock_error_that_stays_ends_the_command_with_its_reason(
    place: Place, litellm: LiteLLM, model: str, status: str
) -> None:
    ended = await command(place, litellm, model)
    assert (ended.code, ended.out) == (1, "")
    retry, *_, last = ended.err.splitlines()
    assert "retry 1 of 1" in retry
    assert status in retry
    assert last.startswith("harness: litellm.")
    assert "Traceback" not in ended.err


async def test_a_prompt_too_long_for_it_is_known_by_its_wording(tmp_path: Path, litellm: LiteLLM) -> None:
    turn = await library(tmp_path, litellm, "mock-too-long")
    assert {event.fault.kind for event in turn.of(FaultOccurred)} == {FaultKind.PROMPT_TOO_LONG}
    assert turn.end.code is TransitionCode.PROMPT_TOO_LONG
    assert turn.end.requests <= 4


async def test_a_model_it_does_not_have_is_asked_for_once(tmp_path: Path, litellm: LiteLLM) -> None:
    turn = await library(tmp_path, litellm, "no-such-model")
    assert [event.fault.kind for event in turn.of(FaultOccurred)] == [FaultKind.MODEL_NOT_FOUND]
    assert "--model" in turn.end.reason


# ── what it hands on ────────────────────────────────────────────────────────────────────────────────


async def test_what_it_hands_on_both_ways_is_still_valid(place: Place, litellm: LiteLLM) -> None:
    script = calls(runs("one"), runs("two"), text="Let me look.") + says(ANSWER)
    async with upstream(litellm, script) as server:
        ended = await command(place, litellm, CLAUDE)
    assert (ended.code, ended.out, ended.err.count("retry")) == (0, f"{ANSWER}\n", 0)
    assert ran_in(place.folder) == {"one": 1, "two": 1}
    check_requests(server.requests)


async def test_faults_behind_it_are_survived(tmp_path: Path, litellm: LiteLLM) -> None:
    cut = {"chunk": "10", "fault": '{ kind = "reset", at = 5 }'}
    script = (
        calls(runs("one"))
        + fails(429, headers='{ retry-after = "1" }')
        + fails(529)
        + fails(503, body='"upstream connect error"')
        + says(ANSWER, **cut)
        + says(ANSWER, chunk="10", fault='{ kind = "error_event", at = 5 }')
        + says(ANSWER)
    )
    async with upstream(litellm, script) as server:
        turn = await library(tmp_path, litellm, CLAUDE)
    assert (turn.codes, turn.end.answer) == ([TransitionCode.NEXT_TURN, TransitionCode.COMPLETED], ANSWER)
    assert (len(turn.of(FaultOccurred)), turn.end.requests, len(server.requests)) == (5, 7, 7)
    assert ran_in(tmp_path / "workspace") == {"one": 1}
    check_requests(server.requests)


async def test_a_stream_that_breaks_behind_it_is_shown_once(place: Place, litellm: LiteLLM) -> None:
    script = says(ANSWER, chunk="10", fault='{ kind = "clean_end", at = 5 }') + says(ANSWER)
    async with upstream(litellm, script) as server:
        ended = await command(place, litellm, CLAUDE)
    assert (ended.code, ended.out, len(server.requests)) == (0, f"{ANSWER}\n", 2)
