"""Checks of the answers: tools that take turns on the event loop, and the rules of the practice server."""

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
"""More turns of the event loop than any check waits for."""
Block = dict[str, Any]


@dataclass
class WordList:
    """A list of words, a tool that counts them, a tool that adds one, and a record of their calls."""

    words: list[str] = field(default_factory=list)
    running: int = 0
    most: list[int] = field(default_factory=list)
    """The number of running calls at the start of each call."""
    run: list[int] = field(default_factory=list)
    """The turns of each call that began."""
    begun: asyncio.Event = field(default_factory=asyncio.Event)

    async def look(self, turns: int) -> str:
        """Count the words before and after some turns of the event loop."""
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
        """The two tools, and further read-only ones without arguments."""
        tools = {"look": work.Tool(self.look, {"turns": int}, reads=True)}
        tools["add"] = work.Tool(self.add, {"word": str, "turns": int}, reads=False)
        return tools | {name: work.Tool(run, {}, reads=True) for name, run in more.items()}


def look(turns: int = 3) -> Block:
    """A call of the read-only tool."""
    return {"name": "look", "input": {"turns": turns}}


def add(word: str, turns: int = 3) -> Block:
    """A call that adds a word."""
    return {"name": "add", "input": {"word": word, "turns": turns}}


def reply_of(*calls: Block) -> list[Block]:
    """A reply with these calls."""
    blocks = [{"type": "tool_use", "id": f"call_{number}", **call} for number, call in enumerate(calls, 1)]
    return [{"type": "text", "text": "Let me see."}, *blocks]


def shown(*calls: Block) -> str:
    """Calls as a line of text."""
    inputs = (", ".join(f"{name}={value!r}" for name, value in call["input"].items()) for call in calls)
    return ", ".join(f"{call['name']}({text})" for call, text in zip(calls, inputs, strict=True))


async def answered(work: ModuleType, tools: dict[str, Any], *calls: Block) -> list[Block]:
    """The results of some calls, after a check of their order and of the rules of the API."""
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
    """The contents that the model reads."""
    return [str(result.get("content")) for result in results]


async def check_every_call_is_answered_in_its_order(work: ModuleType) -> None:
    words_list = WordList(["one"])
    calls = (look(9), look(1), add("two"), look(5))
    results = await answered(work, words_list.tools(work), *calls)
    wanted = ["1 words, then 1", "1 words, then 1", "one two", "2 words, then 2"]
    assert texts(results) == wanted, f"{shown(*calls)} -> {texts(results)}, wanted {wanted}"
    assert not any(result.get("is_error") for result in results), f"{shown(*calls)} -> {results}"
    assert await work.answers([{"type": "text", "text": "Done."}], words_list.tools(work)) == [], (
        "a reply without calls"
    )


async def check_mistakes_of_the_model_become_error_results(work: ModuleType) -> None:
    cases = (
        ({"name": "grep", "input": {"pattern": "a"}}, ("grep", "look", "add")),
        ({"name": "add", "input": {"text": "a", "turns": 1}}, ("word",)),
        ({"name": "look", "input": {}}, ("turns",)),
        ({"name": "look", "input": {"turns": "many"}}, ("turns", "int")),
    )
    for wrong, words in cases:
        words_list = WordList()
        calls = (look(1), wrong, add("last", 1))
        first, error, last = await answered(work, words_list.tools(work), *calls)
        assert error.get("is_error") is True, f"{shown(wrong)} -> {error}"
        for word in words:
            assert word in str(error["content"]), f"{shown(wrong)} -> {error['content']!r}, which does not name {word}"
        assert len(words_list.run) == 2, f"{shown(*calls)} -> {len(words_list.run)} of them ran"
        for result in (first, last):
            assert not result.get("is_error"), f"{shown(*calls)} -> {result}"


async def check_an_exception_becomes_a_result(work: ModuleType) -> None:
    errors = (OSError("no space left"), KeyError("city"), RuntimeError("a bug of its own"), TimeoutError())
    for error in errors:

        async def broken(error: Exception = error) -> str:
            raise error

        words_list = WordList()
        calls = (look(5), {"name": "broken", "input": {}}, look(2), add("last", 1))
        results = await answered(work, words_list.tools(work, broken=broken), *calls)
        result = results[1]
        assert result.get("is_error") is True, f"broken() raises {error!r} -> {result}"
        for part in (type(error).__name__, *map(str, error.args)):
            assert part in str(result["content"]), (
                f"broken() raises {error!r} -> {result['content']!r}, without {part!r}"
            )
        good = [other.get("content") for other in results if other is not result]
        wanted = ["0 words, then 0", "0 words, then 0", "last"]
        assert good == wanted, f"{shown(*calls)} -> the others {good}, wanted {wanted}"


async def check_read_only_calls_run_at_the_same_time(work: ModuleType) -> None:
    for count in (2, 5):
        words_list = WordList()
        calls = [look()] * count
        await answered(work, words_list.tools(work), *calls)
        assert max(words_list.most) == count, f"{shown(*calls)} -> at most {max(words_list.most)} at the same time"
    words_list = WordList()
    calls = [look(), look(), add("a"), look(), look(), look()]
    await answered(work, words_list.tools(work), *calls)
    wanted = [1, 2, 1, 1, 2, 3]
    assert words_list.most == wanted, f"{shown(*calls)} -> running as each began: {words_list.most}, wanted {wanted}"


async def check_results_are_as_if_calls_ran_one_after_another(work: ModuleType) -> None:
    differences = [await difference(work, Random(seed)) for seed in range(REPLIES)]
    shortest = min(filter(None, differences), key=len, default="")
    assert not shortest, shortest


async def difference(work: ModuleType, chance: Random) -> str:
    """A random reply whose results differ from those of its calls one after another; empty: they do not."""
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
    got = texts(await answered(work, WordList().tools(work), *calls))
    return "" if got == wanted else f"{shown(*calls)} -> {got}, wanted {wanted}"


async def check_an_interruption_passes_through(work: ModuleType) -> None:
    for call in (look(ENDLESS), add("a", ENDLESS)):
        words_list = WordList()
        calls = (call, look(ENDLESS))
        task = asyncio.ensure_future(work.answers(reply_of(*calls), words_list.tools(work)))
        begun = asyncio.ensure_future(words_list.begun.wait())
        await asyncio.wait((task, begun), return_when=asyncio.FIRST_COMPLETED)
        begun.cancel()
        task.cancel()
        for _ in range(100):
            await asyncio.sleep(0)
        left = words_list.running
        assert task.done(), f"{shown(*calls)}, interrupted -> answers() keeps running"
        assert task.cancelled(), f"{shown(*calls)}, interrupted -> answers() returned {task.result()}"
        assert not left, f"{shown(*calls)}, interrupted -> {left} still running"
