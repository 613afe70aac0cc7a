"""`harness -p --resume ID --idempotency-key KEY`: whoever asks again gets the same answer, and nothing runs twice."""

import asyncio
import json
import os

import pytest

from harness.events import MessageAdded, Origin
from harness.journal import find, read, session_folder
from tests.agent.stage import calls, says
from tests.ui.plain.test_headless import HELLO, at, server
from tests.ui.program import Finished, Place, run, start

pytestmark = pytest.mark.anyio
APPEND = "{ name = 'bash', input = { command = 'echo once >> ledger' } }"
FAILS = '[[reply]]\nstatus = 400\nmessage = "not today"\n'


async def begun(place: Place) -> str:
    """A session to ask in; returns its id."""
    first = await run(place, "-p", "hi", "--output-format", "json")
    return str(json.loads(first.out)["session_id"])


async def asked(place: Place, id: str, *more: str, key: str = "step-1", prompt: str = "write it") -> Finished:
    return await run(place, "-p", prompt, "--yolo", "--resume", id, "--idempotency-key", key, *more)


async def test_asked_again_it_prints_the_recorded_answer_and_runs_nothing(place: Place) -> None:
    async with server(HELLO + calls(APPEND) + says("Written.") + says("Another.")) as standing:
        there = at(place, standing)
        id = await begun(there)
        first, again = await asked(there, id), await asked(there, id)
        as_object = json.loads((await asked(there, id, "--output-format", "json")).out)
        other = await asked(there, id, key="step-2", prompt="another")
    assert (first.code, first.out) == (again.code, again.out) == (0, "Written.\n")
    assert (as_object["result"], as_object["num_requests"], as_object["session_id"]) == ("Written.", 2, id)
    assert other.out == "Another.\n"
    assert (place.folder / "ledger").read_text() == "once\n"
    assert len(standing.requests) == 4


async def test_a_key_of_another_prompt_is_refused(place: Place) -> None:
    async with server(HELLO + says("Written.")) as standing:
        there = at(place, standing)
        id = await begun(there)
        await asked(there, id)
        other = await asked(there, id, prompt="something else")
    assert (other.code, other.out) == (2, "")
    assert "'step-1' was given with another prompt" in other.err


async def test_a_turn_that_failed_goes_on_without_the_prompt_a_second_time(place: Place) -> None:
    async with server(HELLO + calls(APPEND) + FAILS + says("Written.")) as standing:
        there = at(place, standing)
        id = await begun(there)
        failed, again = await asked(there, id), await asked(there, id)
        third = await asked(there, id)
    assert (failed.code, again.code, again.out, third.out) == (1, 0, "Written.\n", "Written.\n")
    assert (place.folder / "ledger").read_text() == "once\n"
    assert prompts(place, id) == 2


async def test_a_killed_call_is_told_as_unknown_and_not_prompted_again(place: Place) -> None:
    os.mkfifo(place.folder / "begun")
    endless = "{ name = 'bash', input = { command = 'echo once >> ledger; echo > begun; sleep 20' } }"
    async with server(HELLO + calls(endless) + says("I looked.")) as standing:
        there = at(place, standing)
        id = await begun(there)
        process = await start(there, "-p", "write it", "--yolo", "--resume", id, "--idempotency-key", "step-1")
        await asyncio.to_thread((place.folder / "begun").read_text)
        process.kill()
        await process.communicate(b"")
        again = await asked(there, id)
    assert (again.code, again.out) == (0, "I looked.\n")
    assert prompts(place, id) == 2
    (result,) = [
        block for block in standing.requests[-1].body["messages"][-1]["content"] if block["type"] == "tool_result"
    ]
    assert result["is_error"]
    assert (place.folder / "ledger").read_text() == "once\n"


@pytest.mark.parametrize("flags", [("-p", "a"), ("--resume", "x"), ("-p", "a", "--resume", "x", "--fork-session")])
async def test_a_key_needs_a_prompt_and_a_session(place: Place, flags: tuple[str, ...]) -> None:
    ended = await run(place, *flags, "--idempotency-key", "k")
    assert ended.code == 2
    assert "--idempotency-key needs -p and --resume ID" in ended.err


def prompts(place: Place, id: str) -> int:
    path = find(session_folder(place.folder, place.state), id)
    added = [record.event for record in read(path).records if isinstance(record.event, MessageAdded)]
    return sum(event.origin is Origin.PROMPT for event in added)
