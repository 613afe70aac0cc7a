"""Whatever comes in, a valid reply comes out."""

import json
import time
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.events import Json
from harness.practice.improviser import Improviser
from harness.practice.improviser.quotes import LONGEST_SENTENCE
from harness.practice.replies import ScriptedReply, Text, ToolUse
from harness.tools.toolbox import Toolbox, standard_tools
from tests.practice.improviser.test_intents import ENGLISH, JAPANESE
from tests.practice.improviser.test_schemas import naive_fits
from tests.whole import WHOLE

SPECS = Toolbox(standard_tools()).specs()
PROMPTS = [prompt for prompt, _ in (*ENGLISH, *JAPANESE)]

json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
said = (
    st.sampled_from(PROMPTS)
    | st.lists(st.sampled_from(PROMPTS), max_size=3).map(" and then ".join)
    | st.text(max_size=60)
)
ids = st.sampled_from(["t1", "t2", "t3"])
names = st.sampled_from(["bash", "read_file", "write_file", "edit_file", "glob", "grep", "own"])
results = st.text(max_size=80) | st.sampled_from(
    [
        "a.txt\nb.txt",
        "a.txt:1:TODO",
        "     1\tone\n     2\ttwo",
        "a.txt does not exist.",
        "Not run: permission was denied.",
    ]
)
inputs = (
    st.sampled_from([{}, {"path": "a.txt"}, {"command": "ls"}, {"pattern": "**/*"}, {"pattern": "TODO"}]) | json_values
)
blocks = st.one_of(
    st.builds(lambda text: {"type": "text", "text": text}, said | json_values),
    st.builds(lambda id, name, input: {"type": "tool_use", "id": id, "name": name, "input": input}, ids, names, inputs),
    st.builds(
        lambda id, content, failed: {"type": "tool_result", "tool_use_id": id, "content": content, "is_error": failed},
        ids,
        results | json_values,
        st.booleans(),
    ),
    json_values,
)
messages = st.builds(
    lambda role, content: {"role": role, "content": content},
    st.sampled_from(["user", "assistant"]) | json_values,
    said | st.lists(blocks, max_size=4) | json_values,
)
fields: st.SearchStrategy[Json] = st.one_of(
    st.sampled_from(
        [
            {"type": "string"},
            {"type": "integer", "minimum": 1, "maximum": 10},
            {"type": "number", "exclusiveMinimum": 0},
            {"type": "boolean"},
            {"type": "array", "items": {"type": "string"}, "minItems": 1},
            {"type": "string", "enum": ["red", "green"]},
            {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None},
            {"$ref": "#/$defs/Point"},
            {"type": "string", "minLength": 3, "pattern": "^[a-z]+$"},
            {"const": 7},
            {},
        ]
    )
)
field_names = st.sampled_from(["path", "command", "content", "pattern", "city", "count", "old_text", "new_text"])
schemas: st.SearchStrategy[Json] = st.builds(
    lambda properties, required, closed: {
        "type": "object",
        "properties": properties,
        "required": [name for name in properties if name in required],
        "$defs": {"Point": {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}},
        **({"additionalProperties": False} if closed else {}),
    },
    st.dictionaries(field_names, fields, max_size=4),
    st.sets(field_names),
    st.booleans(),
)
odd_tools = st.builds(
    lambda name, description, schema: {"name": name, "description": description, "input_schema": schema},
    names | st.sampled_from(["add", "weather_report", "ls"]) | json_values,
    st.text(max_size=30) | json_values,
    schemas | json_values,
)
tool_lists = st.just(list(SPECS)) | st.lists(odd_tools | json_values, max_size=5) | json_values


def check(reply: ScriptedReply, offered: Any) -> None:
    """A reply that the server can send: something in it, and every whole call fits the schema it was offered with."""
    assert reply.parts
    assert reply.ending in ("end_turn", "tool_use", "max_tokens")
    for part in reply.parts:
        match part:
            case Text(text=text):
                assert text.strip()
            case ToolUse(name=name, input=input, raw_input=None):
                offers = [tool for tool in offered if isinstance(tool, dict) and tool.get("name") == name]
                assert any(naive_fits(input, tool["input_schema"], tool["input_schema"]) for tool in offers)
                json.dumps(input)
            case ToolUse():
                assert reply.ending == "max_tokens"
            case _:
                raise AssertionError(f"an unexpected part: {part}")


@given(
    st.lists(messages, max_size=6) | json_values, tool_lists, st.integers(1, 9_000) | json_values, said | json_values
)
@settings(max_examples=300 if WHOLE else 60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_history_gets_a_valid_reply(history: Any, tools: Any, max_tokens: Any, system: Any) -> None:
    request = {"messages": history, "tools": tools, "max_tokens": max_tokens, "system": system}
    check(Improviser().answer(request), tools if isinstance(tools, list) else [])


@given(st.sampled_from(PROMPTS), st.lists(odd_tools, max_size=5))
@settings(max_examples=200 if WHOLE else 60, deadline=None)
def test_any_tools_are_called_as_their_schema_says(prompt: str, tools: list[Json]) -> None:
    request = {"messages": [{"role": "user", "content": prompt}], "tools": tools, "max_tokens": 4_000}
    check(Improviser().answer(request), tools)


@given(said, st.lists(results, max_size=4), st.booleans())
@settings(max_examples=200 if WHOLE else 60, deadline=None)
def test_any_results_lead_to_an_end(prompt: str, texts: list[str], failed: bool) -> None:
    history: list[Json] = [{"role": "user", "content": prompt}]
    for step in range(12):
        reply = Improviser().answer({"messages": history, "tools": list(SPECS), "max_tokens": 8_000})
        check(reply, SPECS)
        calls = [part for part in reply.parts if isinstance(part, ToolUse)]
        if not calls:
            return
        uses = [
            {"type": "tool_use", "id": f"{step}.{n}", "name": c.name, "input": c.input} for n, c in enumerate(calls)
        ]
        answers = [
            {"type": "tool_result", "tool_use_id": use["id"], "content": (texts or [""])[n % max(1, len(texts))]}
            | {"is_error": failed}
            for n, use in enumerate(uses)
        ]
        history += [{"role": "assistant", "content": uses}, {"role": "user", "content": answers}]
    raise AssertionError("the plan never ends")


def test_half_a_character_is_never_sent_back() -> None:
    reply = Improviser().answer({"messages": [{"role": "user", "content": 'append "\ud800" to a.txt and \udfff'}]})
    "".join(part.text for part in reply.parts if isinstance(part, Text)).encode()


def test_the_same_request_gets_the_same_reply() -> None:
    request: Json = {
        "messages": [{"role": "user", "content": "list the files"}],
        "tools": list(SPECS),
        "max_tokens": 100,
    }
    before = json.dumps(request)
    assert Improviser().answer(request) == Improviser().answer(request)
    assert json.dumps(request) == before


@pytest.mark.parametrize(
    "piece",
    [
        *"a1(\"'`「“あ\n*/ ",
        "a ",
        "a.",
        "./",
        "1+",
        "read ",
        "in ",
        "x=",
        "読んで",
        "- ",
        "TODO ",
        "```",
        "replace a with b in ",
        "a.txtと",
        "a.txt, ",
        "remember that a and ",
        "use an agent to a and ",
        "use x with a=1, ",
    ],
)
def test_a_monstrous_prompt_is_answered_in_reasonable_time(piece: str) -> None:
    for most in (40_000, LONGEST_SENTENCE - 3):
        for prompt in (f"{piece * (most // len(piece))} !", f"read {piece * ((most - 5) // len(piece))} !"):
            start = time.process_time()
            reply = Improviser().answer({"messages": [{"role": "user", "content": prompt}], "tools": list(SPECS)})
            assert time.process_time() - start < 5
            check(reply, SPECS)


def test_a_long_text_in_a_fence_is_written_whole() -> None:
    text = "".join(f"line {n}\n" for n in range(5_000))
    prompt = f"create a.txt:\n```\n{text}```"
    request: Json = {"messages": [{"role": "user", "content": prompt}], "tools": list(SPECS), "max_tokens": 60_000}
    tools = [tool for tool in SPECS if tool["name"] == "write_file"]
    (_, call) = Improviser().answer({**request, "tools": tools}).parts
    assert isinstance(call, ToolUse)
    assert call.input == {"path": "a.txt", "content": text}


def test_a_very_long_conversation_is_answered_in_reasonable_time() -> None:
    history: list[Json] = []
    for turn in range(2_500):
        history += [
            {"role": "user", "content": f"read file{turn}.txt"},
            {"role": "assistant", "content": "It is empty."},
        ]
    history.append({"role": "user", "content": "read it again"})
    start = time.perf_counter()
    reply = Improviser().answer({"messages": history, "tools": list(SPECS)})
    assert time.perf_counter() - start < 5
    assert any(isinstance(part, ToolUse) and part.input == {"path": "file2499.txt"} for part in reply.parts)
