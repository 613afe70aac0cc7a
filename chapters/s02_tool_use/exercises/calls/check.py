"""Checks of the answers: tools that take turns on the event loop, and the rules that the practice server goes by."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from random import Random
from types import ModuleType
from typing import Any

from harness.practice.checks.request import check_messages
from harness.practice.checks.rules import ServedModel

MODEL = ServedModel("practice-1", window=200_000, max_output=64_000)
REPLIES, LONGEST = 300, 8
ENDLESS = 10_000
"""Turns of the event loop that no check waits for."""
Block = dict[str, Any]


@dataclass
class Desk:
    """A list of words with a tool that looks at it and one that adds to it, and what they did."""

    words: list[str] = field(default_factory=list)
    running: int = 0
    most: list[int] = field(default_factory=list)
    """How many calls worked at the same time, counted whenever one began."""
    run: list[int] = field(default_factory=list)
    """The turns of each call that began."""
    begun: asyncio.Event = field(default_factory=asyncio.Event)

    async def look(self, turns: int) -> str:
        """How many words there are before and after some turns of the event loop."""
        before = len(self.words)
        await self._work(turns)
        return f"{before} words, then {len(self.words)}"

    async def add(self, word: str, turns: int) -> str:
        """Add a word after some turns of the event loop."""
        await self._work(turns)
        self.words.append(word)
        return " ".join(self.words)

    async def _work(self, turns: int) -> None:
        self.run.append(turns)
        self.running += 1
        self.most.append(self.running)
        self.begun.set()
        try:
            for _ in range(turns):
                await asyncio.sleep(0)
        finally:
            self.running -= 1

    def tools(self, work: ModuleType, **more: Callable[..., Awaitable[str]]) -> dict[str, Any]:
        """The two tools, and more of them without arguments that only look."""
        tools = {"look": work.Tool(self.look, {"turns": int}, reads=True)}
        tools["add"] = work.Tool(self.add, {"word": str, "turns": int}, reads=False)
        return tools | {name: work.Tool(run, {}, reads=True) for name, run in more.items()}


def look(turns: int = 3) -> Block:
    """A call that looks."""
    return {"name": "look", "input": {"turns": turns}}


def add(word: str, turns: int = 3) -> Block:
    """A call that adds a word."""
    return {"name": "add", "input": {"word": word, "turns": turns}}


def reply_of(*calls: Block) -> list[Block]:
    """What a model says that makes these calls."""
    blocks = [{"type": "tool_use", "id": f"call_{number}", **call} for number, call in enumerate(calls, 1)]
    return [{"type": "text", "text": "Let me see."}, *blocks]


def shown(*calls: Block) -> str:
    """Calls as a line of text."""
    inputs = (", ".join(f"{name}={value!r}" for name, value in call["input"].items()) for call in calls)
    return ", ".join(f"{call['name']}({text})" for call, text in zip(calls, inputs, strict=True))


async def answered(work: ModuleType, tools: dict[str, Any], *calls: Block) -> list[Block]:
    """The results of some calls, in an order that has been looked at and with nothing that the API would refuse."""
    case = shown(*calls)
    reply = reply_of(*calls)
    results = await work.answers(reply, tools)
    assert isinstance(results, list), f"{case} -> {results!r}, which is no list"
    messages = [{"role": "user", "content": "Go."}, {"role": "assistant", "content": reply}]
    messages.append({"role": "user", "content": results})
    problem = check_messages({"messages": messages}, MODEL)
    assert not problem, f"{case} -> 400 {problem}"
    ids = [result["tool_use_id"] for result in results]
    wanted = [block["id"] for block in reply if "id" in block]
    assert ids == wanted, f"{case} -> results of {', '.join(ids)}; the calls were {', '.join(wanted)}"
    return list(results)


def texts(results: list[Block]) -> list[str]:
    """What the model reads."""
    return [str(result.get("content")) for result in results]


async def check_every_call_is_answered_in_its_order(work: ModuleType) -> None:
    desk = Desk(["one"])
    calls = (look(9), look(1), add("two"), look(5))
    results = await answered(work, desk.tools(work), *calls)
    wanted = ["1 words, then 1", "1 words, then 1", "one two", "2 words, then 2"]
    assert texts(results) == wanted, f"{shown(*calls)} -> {texts(results)}, wanted {wanted}"
    assert not any(result.get("is_error") for result in results), f"{shown(*calls)} -> {results}"
    assert await work.answers([{"type": "text", "text": "Done."}], desk.tools(work)) == [], "a reply without calls"


async def check_what_the_model_got_wrong_is_told(work: ModuleType) -> None:
    cases = (
        ({"name": "grep", "input": {"pattern": "a"}}, ("grep", "look", "add")),
        ({"name": "add", "input": {"text": "a", "turns": 1}}, ("word",)),
        ({"name": "look", "input": {}}, ("turns",)),
        ({"name": "look", "input": {"turns": "many"}}, ("turns", "int")),
    )
    for wrong, words in cases:
        desk = Desk()
        calls = (look(1), wrong, add("last", 1))
        first, told, last = await answered(work, desk.tools(work), *calls)
        assert told.get("is_error") is True, f"{shown(wrong)} -> {told}"
        for word in words:
            assert word in str(told["content"]), f"{shown(wrong)} -> {told['content']!r}, which does not name {word}"
        assert len(desk.run) == 2, f"{shown(*calls)} -> {len(desk.run)} of them ran"
        for result in (first, last):
            assert not result.get("is_error"), f"{shown(*calls)} -> {result}"


async def check_a_tool_that_breaks_is_one_more_answer(work: ModuleType) -> None:
    errors = (OSError("no space left"), KeyError("city"), RuntimeError("a bug of its own"), TimeoutError())
    for error in errors:

        async def broken(error: Exception = error) -> str:
            raise error

        desk = Desk()
        calls = (look(5), {"name": "broken", "input": {}}, look(2), add("last", 1))
        results = await answered(work, desk.tools(work, broken=broken), *calls)
        told = results[1]
        assert told.get("is_error") is True, f"broken() raises {error!r} -> {told}"
        for part in (type(error).__name__, *map(str, error.args)):
            assert part in str(told["content"]), f"broken() raises {error!r} -> {told['content']!r}, without {part!r}"
        good = [result.get("content") for result in results if result is not told]
        wanted = ["0 words, then 0", "0 words, then 0", "last"]
        assert good == wanted, f"{shown(*calls)} -> the others {good}, wanted {wanted}"


async def check_what_only_looks_runs_at_the_same_time(work: ModuleType) -> None:
    for count in (2, 5):
        desk = Desk()
        calls = [look()] * count
        await answered(work, desk.tools(work), *calls)
        assert max(desk.most) == count, f"{shown(*calls)} -> at most {max(desk.most)} at the same time"
    desk = Desk()
    calls = [look(), look(), add("a"), look(), look(), look()]
    await answered(work, desk.tools(work), *calls)
    wanted = [1, 2, 1, 1, 2, 3]
    assert desk.most == wanted, f"{shown(*calls)} -> at work as each began: {desk.most}, wanted {wanted}"


async def check_all_comes_out_as_if_one_ran_after_another(work: ModuleType) -> None:
    differences = [await difference(work, Random(seed)) for seed in range(REPLIES)]
    shortest = min(filter(None, differences), key=len, default="")
    assert not shortest, shortest


async def difference(work: ModuleType, chance: Random) -> str:
    """What a random reply came to instead of what its calls give one after another; empty: just that."""
    calls: list[Block] = []
    words: list[str] = []
    wanted: list[str] = []
    for number in range(chance.randint(2, LONGEST)):
        turns = chance.randint(0, 6)
        if chance.random() < 0.5:
            calls.append(look(turns))
            wanted.append(f"{len(words)} words, then {len(words)}")
        else:
            words.append("abcdefgh"[number])
            calls.append(add(words[-1], turns))
            wanted.append(" ".join(words))
    got = texts(await answered(work, Desk().tools(work), *calls))
    return "" if got == wanted else f"{shown(*calls)} -> {got}, wanted {wanted}"


async def check_an_interruption_is_no_answer(work: ModuleType) -> None:
    for call in (look(ENDLESS), add("a", ENDLESS)):
        desk = Desk()
        calls = (call, look(ENDLESS))
        task = asyncio.ensure_future(work.answers(reply_of(*calls), desk.tools(work)))
        begun = asyncio.ensure_future(desk.begun.wait())
        await asyncio.wait((task, begun), return_when=asyncio.FIRST_COMPLETED)
        begun.cancel()
        task.cancel()
        for _ in range(100):
            await asyncio.sleep(0)
        left = desk.running
        assert task.done(), f"{shown(*calls)}, interrupted -> answers() goes on"
        assert task.cancelled(), f"{shown(*calls)}, interrupted -> answers() returned {task.result()}"
        assert not left, f"{shown(*calls)}, interrupted -> {left} still at work"
