"""Four hundred agents from one reply: the calls arrive complete, and the report names their outcomes."""

import asyncio
from collections import Counter

import pytest

from harness.events import Json, Message, Reply
from harness.model.client import ModelClient, ModelRequest
from harness.model.endpoint import checked
from harness.practice.rule_model import RuleModel
from harness.practice.script import Script
from harness.practice.server import PracticeServer
from tests.practice.raw_client import TOOL, post, request

pytestmark = pytest.mark.anyio

CROWD = 400
TASK: Json = {
    "name": "agent",
    "description": "Give work to an agent.",
    "input_schema": {
        "type": "object",
        "properties": {"description": {"type": "string"}, "prompt": {"type": "string"}},
        "required": ["description", "prompt"],
    },
}
QUESTION = Message("user", ({"type": "text", "text": "Go"},))


async def asked(server: PracticeServer, *messages: Message) -> Reply:
    """What the session's own client reads from the server."""
    client = ModelClient(checked(server.base_url, origin="the practice model"))
    try:
        wanted = ModelRequest("practice-1", 32_000, (), (TASK,), messages, estimated_tokens=10)
        outcome = await client.send(wanted, lambda _: None, asyncio.Event())
    finally:
        await client.aclose()
    assert isinstance(outcome, Reply), outcome
    return outcome


async def test_four_hundred_calls_come_out_of_one_reply_whole() -> None:
    async with PracticeServer(RuleModel(), script=Script.load("crowd")) as server:
        reply = await asked(server, QUESTION)
    assert (reply.stop_reason, reply.cut_calls) == ("tool_use", ())
    assert len(reply.calls) == len({call.id for call in reply.calls}) == CROWD
    assert len({call.input["description"] for call in reply.calls}) == CROWD
    assert Counter(call.name for call in reply.calls) == {"agent": CROWD}
    assert all(call.input.keys() == {"description", "prompt"} for call in reply.calls)
    prompts = Counter(str(call.input["prompt"]) for call in reply.calls)
    assert {prompt: count for prompt, count in prompts.items() if count > 1} == {
        "How many files are there?": 100,
        "Find TODO": 100,
        "Read README.md and tell me its headings": 100,
    }


async def test_the_model_understands_the_prompt_of_each_of_them() -> None:
    async with PracticeServer(RuleModel(), script=Script.load("crowd")) as server:
        prompts = {str(call.input["prompt"]) for call in (await asked(server, QUESTION)).calls}
    async with PracticeServer(RuleModel()) as server:
        for prompt in prompts:
            answer = await asked(server, Message("user", ({"type": "text", "text": prompt},)))
            assert "did not understand" not in answer.text, prompt


async def test_the_report_names_the_outcome_of_all_four_hundred() -> None:
    async with PracticeServer(RuleModel(), script=Script.load("crowd")) as server:
        reply = await asked(server, QUESTION)
        results = [_result(call.id, failed=number % 40 == 0) for number, call in enumerate(reply.calls)]
        told = await asked(server, QUESTION, Message("assistant", reply.content), Message("user", tuple(results)))
    assert "390 of 400 agents answered." in told.text
    assert "Without an answer (10):\n\n- Look for the number 1: the model refused" in told.text
    assert "… and 330 more." in told.text
    assert "did not understand" not in told.text


def _result(id: str, *, failed: bool) -> Json:
    text = "The agent did not finish: the model refused. This is no answer. It had said nothing yet."
    return {"type": "tool_result", "tool_use_id": id, "content": text if failed else "17", "is_error": failed}


async def test_every_fifth_request_of_an_agent_fails_and_none_of_the_one_that_asked_for_them() -> None:
    async with PracticeServer(RuleModel(), script=Script.load("crowd")) as server:
        await asked(server, QUESTION)
        again = [await post(server.base_url, request(tools=[TASK])) for _ in range(5)]
        agents = [await post(server.base_url, request(tools=[TOOL])) for _ in range(100)]
    assert [seen.names[-1] for seen in again] == ["message_stop"] * 5
    failed = [seen for seen in agents if not seen.raw or seen.status != 200 or seen.names[-1:] != ["message_stop"]]
    for_good = [seen for seen in failed if seen.raw and seen.status == 400]
    assert 10 <= len(failed) <= 30
    assert 1 <= len(for_good) <= len(failed) // 3
