"""Lets a learner's agents call each other, with a scripted model and once with a practice server."""

import asyncio
import json
import urllib.request
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from random import Random
from types import ModuleType
from typing import Any
from urllib.error import HTTPError

from harness.engine.subagents.reports import report_of
from harness.events import Message, TransitionCode, TurnEnded, Usage
from harness.practice.script import Script
from harness.practice.server import PracticeServer

CHILDREN = 200
SECRET = "a page that only the child has read"
Plain = dict[str, Any]


def says(text: str) -> list[Plain]:
    """A reply with only text."""
    return [{"type": "text", "text": text}]


def calls(name: str, *inputs: Plain, text: str = "") -> list[Plain]:
    """A reply that calls a tool once for each input."""
    return [
        *(says(text) if text else []),
        *({"type": "tool_use", "id": f"{name}-{at}", "name": name, "input": one} for at, one in enumerate(inputs)),
    ]


READS = calls("read", {"path": "page"}, text="I read it.")


@dataclass
class ScriptedModel:
    """Replies for each prompt, in their order; an exception among them is raised. Requests are recorded."""

    replies: dict[str, list[list[Plain] | Exception]]
    asked: list[tuple[list[Plain], tuple[str, ...]]] = field(default_factory=list)
    """Each request: its messages and the names of its tools."""

    async def model(self, messages: Sequence[Plain], tools: Sequence[str]) -> list[Plain]:
        """The next reply to the newest prompt in a history; an empty one if none is left."""
        self.asked.append((deepcopy(list(messages)), tuple(tools)))
        await asyncio.sleep(0)
        left = self.replies.get(_prompts(messages)[-1], [])
        match left.pop(0) if left else []:
            case Exception() as error:
                raise error
            case blocks:
                return blocks

    def do(self, name: str, input: Any) -> str:
        """The result of an ordinary tool."""
        return SECRET

    def of(self, prompt: str) -> list[tuple[list[Plain], tuple[str, ...]]]:
        """The requests about a prompt."""
        return [one for one in self.asked if _prompts(one[0])[-1] == prompt]


def _prompts(messages: Sequence[Plain]) -> list[str]:
    return [one["content"] for one in messages if isinstance(one["content"], str)]


def _results(agent: Any) -> list[Plain]:
    """The results of calls in the history of an agent."""
    blocks = (block for one in agent.messages if isinstance(one["content"], list) for block in one["content"])
    return [block for block in blocks if block["type"] == "tool_result"]


def parent(
    work: ModuleType, scripted: ScriptedModel, tools: tuple[str, ...] = ("read", "write", "agent"), requests: int = 20
) -> Any:
    """The parent."""
    return work.Agent(scripted.model, scripted.do, tools, work.Budget(requests))


def task(prompt: str, **more: Any) -> Plain:
    """A call of the tool."""
    (call,) = calls("agent", {"prompt": prompt, **more})
    return call


async def check_a_child_knows_its_task_and_nothing_else(work: ModuleType) -> None:
    asks = [calls("agent", {"prompt": "first"}), calls("agent", {"prompt": "second"})]
    scripted = ScriptedModel(
        {"Begin.": [*asks, says("Done.")], "first": [READS, says("One.")], "second": [READS, says("Two.")]}
    )
    agent = parent(work, scripted)
    ended = await agent.run("Begin.")
    for prompt in ("first", "second"):
        found = scripted.of(prompt)
        assert found, f"delegate({prompt!r}) -> no request with this prompt"
        assert found[0][0] == [{"role": "user", "content": prompt}], f"first request of {prompt!r} -> {found[0][0]}"
    roles = [message["role"] for message in agent.messages]
    assert roles == ["user", "assistant"] * 3, f"history of the parent -> {roles}"
    results = [(block["tool_use_id"], block["content"], bool(block.get("is_error"))) for block in _results(agent)]
    assert results == [("agent-0", "One.", False), ("agent-0", "Two.", False)], f"its results -> {results}"
    assert ended.answer == "Done.", f"the parent -> {ended}"


async def check_a_child_gets_no_tool_that_it_must_not_have(work: ModuleType) -> None:
    for more, wanted in (({}, ("read", "write")), ({"tools": ["read"]}, ("read",)), ({"tools": []}, ())):
        scripted = ScriptedModel({"look": [says("Seen.")]})
        got = await parent(work, scripted).delegate(task("look", **more))
        found = [tools for _, tools in scripted.asked]
        assert found == [wanted], f"delegate('look', {more}) -> tools {found}, wanted {[wanted]}; {got}"
    for wrong in ("agent", "bash"):
        scripted = ScriptedModel({"look": [says("Seen.")]})
        got = await parent(work, scripted).delegate(task("look", tools=["read", wrong]))
        story = f"delegate('look', tools=['read', {wrong!r}]) -> {got}, {len(scripted.asked)} requests"
        assert not scripted.asked, f"{story}; wanted none"
        assert got["is_error"] is True, story
        assert wrong in got["content"], story
        assert "write" in got["content"], f"{story}; the available tools are not listed"


async def check_children_share_one_budget(work: ModuleType) -> None:
    scripted = ScriptedModel({"Begin.": [calls("agent", {"prompt": "a"}, {"prompt": "b"}), says("Done.")]})
    scripted.replies |= {"a": [READS, says("One.")], "b": [READS, READS, says("Two.")]}
    agent = parent(work, scripted, requests=10)
    await agent.run("Begin.")
    story = f"{len(scripted.asked)} requests out of a budget of 10, {agent.budget.requests} left"
    assert (len(scripted.asked), agent.budget.requests) == (7, 3), f"{story}; wanted 7 and 3"
    scripted = ScriptedModel(
        {"Begin.": [calls("agent", {"prompt": "a"}), says("Done.")], "a": [READS, READS, READS, says("One.")]}
    )
    agent = parent(work, scripted, requests=3)
    ended = await agent.run("Begin.")
    assert len(scripted.asked) == 3, f"{len(scripted.asked)} requests out of a budget of 3; {ended}"
    results = _results(agent)
    assert [block.get("is_error") for block in results] == [True], (
        f"a child that found the budget exhausted -> {results}"
    )


async def check_only_an_answer_counts_as_an_answer(work: ModuleType) -> None:
    for seed in range(CHILDREN):
        chance = Random(seed)
        replies, code, why = _life(work, chance)
        scripted = ScriptedModel({"look": list(replies)})
        left = 20 if code is not TransitionCode.BUDGET_EXHAUSTED else len(replies)
        agent = parent(work, scripted, requests=left)
        got = await agent.delegate(task("look"))
        blocks = [reply for reply in replies if not isinstance(reply, Exception)]
        words = ["".join(block["text"] for block in one if block["type"] == "text") for one in blocks]
        ended = TurnEnded(1, code, why, words[-1] if words else "", Usage(), 0.0, len(words), len(replies), 0.0)
        report = report_of(ended, [Message("assistant", tuple(one)) for one in blocks])
        story = f"replies {words}, {f'then {why}' if why else 'then it was done'} -> {got}"
        assert got["is_error"] is not report.answered, f"{story}; harness: {report.end.value}"
        if report.answered:
            assert got["content"].strip() == report.text, f"{story}; wanted the answer and nothing else"
        assert why in got["content"], f"{story}; the reason is missing"
        missing = [word for word in report.text.split("\n\n") if word.strip() not in got["content"]]
        assert not missing, f"{story}; missing: {missing}"
        assert SECRET not in got["content"], f"{story}; a tool result of the child comes back as well"
        assert agent.messages == [], f"{story}; history of the parent: {agent.messages}"


def _life(work: ModuleType, chance: Random) -> tuple[list[list[Plain] | Exception], TransitionCode, str]:
    """The replies of a child, how its turn ended, and a word that the result has to contain."""
    begun = [calls("read", {"path": "page"}, text=f"Page {at}." * chance.randint(0, 1)) for at in range(work.STEPS)]
    some: list[list[Plain] | Exception] = [*begun[: chance.randint(0, work.STEPS - 1)]]
    match chance.choice(("answer", "silence", "limit", "budget", "failure")):
        case "answer":
            return [*some, says(f"There are {chance.randint(2, 9)}.")], TransitionCode.COMPLETED, ""
        case "silence":
            return [*some, says(" \n") if chance.random() < 0.5 else []], TransitionCode.COMPLETED, ""
        case "limit":
            return [*begun], TransitionCode.MAX_TURNS, f"{work.STEPS} steps"
        case "budget":
            return some, TransitionCode.BUDGET_EXHAUSTED, "budget"
        case _:
            return [*some, ConnectionError("529 overloaded")], TransitionCode.API_ERROR, "529 overloaded"


async def check_failures_become_results_and_interruptions_pass(work: ModuleType) -> None:
    three = calls("agent", *({"prompt": prompt} for prompt in "abc"))
    scripted = ScriptedModel({"Begin.": [three, says("Two of them.")], "a": [says("One.")], "b": [OSError("is gone")]})
    scripted.replies["c"] = [READS, says("Three.")]
    agent = parent(work, scripted)
    ended = await agent.run("Begin.")
    results = [(block["tool_use_id"], bool(block.get("is_error"))) for block in _results(agent)]
    wanted = [("agent-0", False), ("agent-1", True), ("agent-2", False)]
    assert results == wanted, f"three tasks, the second fails -> {results}, wanted {wanted}"
    assert ended.answer == "Two of them.", f"the parent -> {ended}"

    begun = asyncio.Event()

    async def waits(messages: Sequence[Plain], tools: Sequence[str]) -> list[Plain]:
        begun.set()
        await asyncio.Event().wait()
        return []

    running = asyncio.create_task(work.Agent(waits, scripted.do, ("read", "agent")).delegate(task("look")))
    first = asyncio.create_task(begun.wait())
    await asyncio.wait({running, first}, return_when=asyncio.FIRST_COMPLETED)
    first.cancel()
    assert not running.done(), f"delegate('look') -> {running.result()}; the model was not asked"
    running.cancel()
    await asyncio.wait({running})
    assert running.cancelled(), f"an interrupted task -> {running.exception() or running.result()}"


async def check_a_strict_server_takes_it(work: ModuleType) -> None:
    script = Script.parse(_SCRIPT)
    async with PracticeServer(script=script) as server:

        async def model(messages: Sequence[Plain], tools: Sequence[str]) -> list[Plain]:
            return await asyncio.to_thread(_sent, f"{server.base_url}/v1/messages", list(messages), tools)

        ended = await work.Agent(model, lambda name, input: SECRET, ("read", "agent")).run("Count the pages.")
        bodies = [request.body for request in server.requests]
    assert (ended.answer, ended.why) == ("Two are counted, one is not.", ""), f"the parent -> {ended}"
    blocks = bodies[-1]["messages"][-1]["content"]
    results = [(one["content"] if not one.get("is_error") else "(error)") for one in blocks]
    assert results == ["There are 3.", "(error)", "There are 5."], f"results of three agents -> {blocks}"
    assert "529" in blocks[1]["content"], f"the second agent met status 529 -> {blocks[1]}"


_SCRIPT = """
after = "error"
[[reply]]
tools = [
  { name = "agent", input = { prompt = "the first book" } },
  { name = "agent", input = { prompt = "the second book" } },
  { name = "agent", input = { prompt = "the third book" } },
]
[[reply]]
text = "Two are counted, one is not."
[[reply]]
when = { lacks = "agent", text = "first" }
text = "There are 3."
[[reply]]
when = { lacks = "agent", text = "second" }
status = 529
[[reply]]
when = { lacks = "agent", text = "third" }
text = "There are 5."
"""


def _sent(url: str, messages: list[Plain], tools: Sequence[str]) -> list[Plain]:
    """The blocks of a reply of the server. Raises RuntimeError with its status and its words."""
    named = [{"name": name, "description": name, "input_schema": {"type": "object"}} for name in tools]
    body = {"model": "practice-1", "max_tokens": 500, "messages": messages, "tools": named}
    headers = {"content-type": "application/json", "x-api-key": "practice", "anthropic-version": "2023-06-01"}
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)
    straight = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # this machine: no proxy
    try:
        with straight.open(request, timeout=30) as response:
            blocks: list[Plain] = json.load(response)["content"]
    except HTTPError as error:
        with error:
            raise RuntimeError(f"status {error.status}: {json.load(error)['error']['message']}") from None
    return blocks
