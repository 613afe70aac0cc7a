"""Our agent against the Messages endpoint of the LiteLLM proxy: its mock replies, its mock errors, its events.

A tool is called by a provider inside LiteLLM (`scripted_provider`), whose words LiteLLM puts into the API's
events. The last tests have LiteLLM hand on a practice server's replies, faults included.
"""

import asyncio
import json
from pathlib import Path

import pytest

from harness.agent import Agent
from harness.events import FaultKind, FaultOccurred, Json, RetryScheduled, TransitionCode
from harness.practice.script import Script
from harness.practice.server import PracticeServer
from harness.practice.wire.listener import Address
from tests.agent.stage import Played, VirtualClock, calls, check_requests, fails, played, ran_in, says, settings_of
from tests.agent.stage import run as runs
from tests.interop.litellm_proxy import CONFIG, KEY, MOCK_REPLY, LiteLLM
from tests.interop.programs import LIMIT_S, LITELLM, needed
from tests.ui.program import Finished, Place, run, start

needed(LITELLM)
pytestmark = [pytest.mark.anyio, pytest.mark.interop]

CLAUDE = "claude-sonnet-4-6"
ANSWER = "The note says forty-two, and nothing else needs to be done."
ENVIRONMENT = {"ANTHROPIC_API_KEY": KEY, "HARNESS_MAX_RETRIES": "1"}
STREAM_JSON = ("--output-format", "stream-json")


async def command(place: Place, litellm: LiteLLM, model: str, *more: str) -> Finished:
    """The real command, with `model` of the proxy and `more` flags."""
    return await run(_served(place, litellm), *_flags(model), *more, env=ENVIRONMENT)


def _served(place: Place, litellm: LiteLLM) -> Place:
    return Place(place.folder, litellm.base_url)


def _flags(model: str) -> tuple[str, ...]:
    return ("-p", "What does the note say?", "--model", model, "--yolo")


def lines(ended: Finished) -> list[Json]:
    """What `--output-format stream-json` wrote."""
    return [json.loads(line) for line in ended.out.splitlines()]


async def library(folder: Path, litellm: LiteLLM, model: str, **values: object) -> Played:
    """One turn of an agent with `model` of the proxy; waits cost no time."""
    settings = settings_of(folder, litellm.base_url, api_key=KEY, model=model, **values).settings
    async with Agent(settings, clock=VirtualClock()) as agent:
        return await played(agent.run("What does the note say?"))


def upstream(litellm: LiteLLM, script: str) -> PracticeServer:
    """What LiteLLM finds behind claude-sonnet-4-6."""
    return PracticeServer(
        script=Script.parse(f'after = "error"\n{script}'), address=Address(port=litellm.upstream_port)
    )


# ── replies ─────────────────────────────────────────────────────────────────────────────────────────


async def test_a_mock_reply_is_the_answer_of_the_command(place: Place, litellm: LiteLLM) -> None:
    ended = await command(place, litellm, "mock-stream")
    assert (ended.code, ended.out, ended.err) == (0, f"{MOCK_REPLY}\n", "")


async def test_stream_json_shows_a_mock_reply_piece_by_piece(place: Place, litellm: LiteLLM) -> None:
    ended = await command(place, litellm, "mock-stream", *STREAM_JSON)
    pieces = [line["text"] for line in lines(ended) if line["type"] == "text_delta"]
    assert (ended.code, ended.err) == (0, "")
    assert len(pieces) > 3
    assert "".join(pieces) == MOCK_REPLY
    assert (lines(ended)[-1]["type"], lines(ended)[-1]["result"]) == ("result", MOCK_REPLY)


async def test_a_piece_is_shown_while_the_rest_is_still_on_its_way_through(place: Place, litellm: LiteLLM) -> None:
    async with upstream(litellm, says(ANSWER, chunk="10", fault='{ kind = "stall", at = 6 }')):
        process = await start(_served(place, litellm), *_flags(CLAUDE), *STREAM_JSON, env=ENVIRONMENT)
        assert process.stdin is not None
        process.stdin.close()
        assert process.stdout is not None
        try:
            async with asyncio.timeout(LIMIT_S):
                while (line := json.loads(await process.stdout.readline()))["type"] != "text_delta":
                    pass
        finally:
            process.kill()
            await process.communicate()
    assert ANSWER.startswith(line["text"])


async def test_a_tool_is_run_and_its_result_comes_back(place: Place, litellm: LiteLLM) -> None:
    ended = await command(place, litellm, "scripted")
    assert (ended.code, ended.out) == (0, "The command said: forty-two.\n")
    assert (place.folder / "rounds.txt").read_text() == "ran\n"


async def test_a_mock_reply_that_is_no_stream_is_taken_as_it_is(place: Place, litellm: LiteLLM) -> None:
    ended = await command(place, litellm, "mock-whole")
    assert (ended.code, ended.out) == (0, "Hello.\n")


async def test_its_list_of_models_is_understood(place: Place, litellm: LiteLLM) -> None:
    environment = {"ANTHROPIC_API_KEY": KEY, "HARNESS_MODEL": "mock-stream"}
    ended = await run(_served(place, litellm), "doctor", "--online", env=environment)
    (server,) = (line for line in ended.out.splitlines() if "server:" in line)
    assert (ended.code, server.strip()) == (0, f"✓ server: {CONFIG.count('model_name')} models")


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


async def test_stream_json_names_a_mock_error_and_its_retry(place: Place, litellm: LiteLLM) -> None:
    ended = await command(place, litellm, "mock-429", *STREAM_JSON)
    happened = [line["type"] for line in lines(ended)]
    assert [line["fault"]["status"] for line in lines(ended) if line["type"] == "fault_occurred"] == [429, 429]
    assert happened.count("retry_scheduled") == 1
    assert (ended.code, happened[-1], lines(ended)[-1]["is_error"]) == (1, "result", True)


async def test_a_prompt_too_long_for_it_is_known_by_its_wording(tmp_path: Path, litellm: LiteLLM) -> None:
    turn = await library(tmp_path, litellm, "mock-too-long")
    assert {event.fault.kind for event in turn.of(FaultOccurred)} == {FaultKind.PROMPT_TOO_LONG}
    assert turn.end.code is TransitionCode.PROMPT_TOO_LONG
    assert turn.end.requests <= 4


async def test_a_model_it_does_not_have_is_asked_for_once(tmp_path: Path, litellm: LiteLLM) -> None:
    turn = await library(tmp_path, litellm, "no-such-model")
    assert [event.fault.kind for event in turn.of(FaultOccurred)] == [FaultKind.MODEL_NOT_FOUND]
    assert turn.end.reason.endswith("choose another model")


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
