"""Random conversations for property tests: whole ones, broken ones, and a naive judge of both."""

import json
import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from hypothesis import strategies as st

from harness.events import Block, Message

words = st.text(st.sampled_from("abc xyz.é漢\n"), min_size=1, max_size=12).filter(lambda text: text.strip() != "")
json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=5,
)
inputs = st.dictionaries(words, json_values, max_size=3)


def text(words: str) -> Block:
    return {"type": "text", "text": words}


def call(id: str, **input: Any) -> Block:
    return {"type": "tool_use", "id": id, "name": "bash", "input": input}


def result(id: str, content: Any = "ok", **more: Any) -> Block:
    return {"type": "tool_result", "tool_use_id": id, "content": content, **more}


def thinking(words: str = "hm", signature: str = "sig") -> Block:
    return {"type": "thinking", "thinking": words, "signature": signature}


def user(*blocks: Block) -> Message:
    return Message("user", blocks)


def assistant(*blocks: Block) -> Message:
    return Message("assistant", blocks)


@st.composite
def conversations(draw: st.DrawFn) -> tuple[Message, ...]:
    """A whole conversation with tools, thinking and server tools, as a well-behaved session leaves it."""
    messages: list[Message] = []
    serial = 0
    for turn in range(draw(st.integers(1, 4))):
        messages.append(user(text(f"prompt {turn} {draw(words)}")))
        for _ in range(draw(st.integers(0, 3))):
            blocks, results = [], []
            if draw(st.booleans()):
                blocks.append(thinking(draw(words), f"sig{serial}"))
            if draw(st.booleans()):
                blocks.append(text(f"step {serial} {draw(words)}"))
            if draw(st.integers(0, 4)) == 0:
                blocks.append({"type": "server_tool_use", "id": f"srv{serial}", "name": "web_search", "input": {}})
                blocks.append({"type": "web_search_tool_result", "tool_use_id": f"srv{serial}", "content": []})
            for _ in range(draw(st.integers(1, 3))):
                serial += 1
                blocks.append({"type": "tool_use", "id": f"t{serial}", "name": "bash", "input": draw(inputs)})
                failed = draw(st.booleans())
                results.append(result(f"t{serial}", f"result {serial}", **({"is_error": True} if failed else {})))
            messages += [assistant(*blocks), user(*draw(st.permutations(results)))]
        messages.append(assistant(text(f"answer {turn} {draw(words)}")))
    messages.append(user(text("last prompt")))
    return tuple(messages)


def _deep(levels: int) -> Any:
    value: Any = "bottom"
    for level in range(levels):
        value = [value] if level % 2 else {"k": value}
    return value


ids = st.sampled_from(["t1", "t2", "t3", "t4", "bad id", "", "toolu_ü"]) | st.sampled_from([None, 7, ["t1"]])
contents = st.one_of(
    st.sampled_from(
        ["", " ", "fine", "half \ud800", None, 5, [], ["loose"], {"no": "type"}, [{"type": "text", "text": " "}]]
    ),
    st.just([{"type": "image", "source": {"type": "url", "url": "http://x"}}, {"type": "text", "text": "see"}]),
)
blocks: st.SearchStrategy[Block] = st.one_of(
    st.sampled_from(["", "  \n", "hello", "bye \udfff", None, 3]).map(lambda value: {"type": "text", "text": value}),
    st.builds(lambda value: {**text("cited"), "citations": value}, st.sampled_from([None, [], [{"type": "x"}]])),
    st.builds(lambda text: {**text, "cache_control": {"type": "ephemeral"}}, words.map(text)),
    st.builds(
        lambda id, name, input: {"type": "tool_use", "id": id, "name": name, "input": input},
        ids,
        st.sampled_from(["bash", "", None, "two words", "n" * 200]),
        inputs | st.sampled_from([None, "text", [1], {"x": math.nan}, {1: 2}, {"x": _deep(150)}, {"\ud800": math.inf}]),
    ),
    st.builds(
        lambda id, content, failed: {"type": "tool_result", "tool_use_id": id, "content": content, "is_error": failed},
        ids,
        contents,
        st.booleans(),
    ),
    ids.map(lambda id: {"type": "server_tool_use", "id": id, "name": "web_search", "input": {}}),
    ids.map(lambda id: {"type": "web_search_tool_result", "tool_use_id": id, "content": []}),
    st.sampled_from(
        [
            thinking(),
            thinking(signature=""),
            {"type": "thinking"},
            {"type": "thinking", "thinking": "\ud800", "signature": "s", "cache_control": {"type": "ephemeral"}},
            {"type": "redacted_thinking", "data": "xx"},
            {"type": "redacted_thinking"},
            {"type": "image", "source": {"type": "url", "url": "http://x"}},
            {"type": "document", "title": "T", "source": {"type": "text", "data": "words", "media_type": "text/plain"}},
            {"type": "of_the_future", "content": {"deep": _deep(98)}},
            {"type": "of_the_future", "values": (1, (2, b"3"))},
            {},
            {"type": 5},
        ]
    ),
)
chaos: st.SearchStrategy[tuple[Message, ...]] = st.lists(
    st.builds(Message, st.sampled_from(["user", "assistant"]), st.lists(blocks, max_size=5).map(tuple)), max_size=8
).map(tuple)
"""Messages without any guarantee."""


@st.composite
def broken(draw: st.DrawFn) -> tuple[Message, ...]:
    """A whole conversation after a few accidents: cuts, losses, repetitions, swaps, foreign blocks."""
    messages = list(draw(conversations()))
    for _ in range(draw(st.integers(1, 4))):
        if not messages:
            break
        at = draw(st.integers(0, len(messages) - 1))
        chosen = messages[at]
        match draw(
            st.sampled_from(["cut", "cut inside", "lose", "repeat", "swap", "lose block", "foreign", "turn round"])
        ):
            case "cut":
                del messages[at:]
            case "cut inside":
                kept = chosen.content[: draw(st.integers(0, len(chosen.content)))]
                messages[at:] = [Message(chosen.role, kept)]
            case "lose":
                del messages[at]
            case "repeat":
                messages.insert(draw(st.integers(0, len(messages))), chosen)
            case "swap":
                other = draw(st.integers(0, len(messages) - 1))
                messages[at], messages[other] = messages[other], messages[at]
            case "lose block":
                lost = draw(st.integers(0, len(chosen.content)))
                messages[at] = Message(chosen.role, chosen.content[:lost] + chosen.content[lost + 1 :])
            case "foreign":
                place = draw(st.integers(0, len(chosen.content)))
                messages[at] = Message(chosen.role, (*chosen.content[:place], draw(blocks), *chosen.content[place:]))
            case "turn round":
                messages[at] = Message(chosen.role, tuple(reversed(chosen.content)))
    return tuple(messages)


def acceptable(messages: Sequence[Message]) -> bool:
    """Whether the API would take this, by the naive rules."""
    try:
        return _acceptable(messages)
    except (AttributeError, KeyError, TypeError):
        return False  # a field that must be there is missing or of another type


def _acceptable(messages: Sequence[Message]) -> bool:
    """The rules of the API, written down once more and as plainly as possible."""
    try:
        json.dumps([message.content for message in messages], allow_nan=False, ensure_ascii=False).encode()
    except (ValueError, TypeError):
        return False
    roles = [message.role for message in messages]
    if not roles or roles != (["user", "assistant"] * len(roles))[: len(roles)]:
        return False
    last = messages[-1].content[-1]["type"] if messages[-1].content else ""
    if roles[-1] == "assistant" and last not in ("server_tool_use", "web_search_tool_result"):
        return False
    if not _server_tools_answered(messages):
        return False
    every = [block for message in messages for block in message.content]
    used = [block["id"] for block in every if block.get("type") == "tool_use"]
    if len(used) != len(set(used)) or not all(message.content for message in messages):
        return False
    for place, message in enumerate(messages):
        kinds = [block.get("type") for block in message.content]
        if not all(isinstance(kind, str) and kind for kind in kinds):
            return False
        if any(block["type"] == "text" and not block["text"].strip() for block in message.content):
            return False
        answered = [block["tool_use_id"] for block in message.content if block["type"] == "tool_result"]
        asked = [b["id"] for b in messages[place - 1].content if b["type"] == "tool_use"] if place else []
        if sorted(asked) != sorted(answered) or any(kind != "tool_result" for kind in kinds[: len(answered)]):
            return False
        if message.role == "user":
            if {"tool_use", "thinking", "redacted_thinking", "server_tool_use"} & set(kinds):
                return False
        elif {"tool_result", "image", "document"} & set(kinds) or kinds[-1] in ("thinking", "redacted_thinking"):
            return False
        for block in message.content:
            if block["type"] == "tool_use" and not (isinstance(block["input"], dict) and block["name"]):
                return False
            if block["type"] == "thinking" and not block["signature"]:
                return False
    return True


def _server_tools_answered(messages: Sequence[Message]) -> bool:
    """Each result of a server tool follows its call; a call waits only for results of other tools, or at the end."""
    open_calls: list[str] = []
    for message in messages:
        if message.role == "user":
            if open_calls and {block["type"] for block in message.content} != {"tool_result"}:
                return False
            continue
        waiting, open_calls = open_calls, []
        for block in message.content:
            if block["type"] == "server_tool_use":
                open_calls.append(block["id"])
            elif block["type"] == "web_search_tool_result":
                id = block["tool_use_id"]
                if id not in waiting + open_calls:
                    return False
                (open_calls if id in open_calls else waiting).remove(id)
        if waiting:
            return False
    return True


def good_texts(messages: Sequence[Message]) -> list[str]:
    """The texts that nothing speaks against, in order."""
    found = []
    for message in messages:
        for block in message.content:
            words = block.get("text")
            if block.get("type") == "text" and isinstance(words, str) and words.strip() and not _surrogates(words):
                found.append(words)
    return found


def good_pairs(messages: Sequence[Message]) -> list[tuple[str, str]]:
    """The calls, with their results, that are valid without repair: (input, content) as JSON, in order."""
    used = [b.get("id") for m in messages for b in m.content if b.get("type") == "tool_use"]
    answered = [b.get("tool_use_id") for m in messages for b in m.content if b.get("type") == "tool_result"]
    found = []
    for asker, answer in pairwise(messages):
        if (asker.role, answer.role) != ("assistant", "user"):
            continue
        for block in asker.content:
            id = block.get("id")
            if block.get("type") != "tool_use" or used.count(id) != 1 or answered.count(id) != 1:
                continue
            for other in answer.content:
                if (
                    other.get("type") == "tool_result"
                    and other.get("tool_use_id") == id
                    and isinstance(block["input"], dict)
                ):
                    pair = (block["input"], other.get("content"))
                    if isinstance(pair[1], str) and pair[1].strip() and _sayable(pair):
                        found.append((json.dumps(pair[0]), pair[1]))
    return found


def is_subsequence(few: Sequence[object], many: Sequence[object]) -> bool:
    rest = iter(many)
    return all(item in rest for item in few)


def _surrogates(words: str) -> bool:
    return any("\ud800" <= letter <= "\udfff" for letter in words)


def _sayable(value: object) -> bool:
    try:
        words = json.dumps(value, allow_nan=False, ensure_ascii=False)
        return not _surrogates(words) and (
            all(isinstance(k, str) for k in _keys(value)) and words.count("[") + words.count("{") < 90
        )
    except (ValueError, TypeError):
        return False


def _keys(value: Any) -> list[Any]:
    match value:
        case dict():
            return [*value, *(key for inner in value.values() for key in _keys(inner))]
        case list() | tuple():
            return [key for inner in value for key in _keys(inner)]
    return []
