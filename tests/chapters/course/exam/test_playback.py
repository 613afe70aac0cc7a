"""The scripts of the exam, adapted to clients with other tools and behaviour."""

from typing import Any

import pytest

from chapters.course.exam.playback import ExamPlayback
from chapters.course.exam.player import row_of
from chapters.course.exam.rows import ANSWER, PIECES
from harness.events import Json
from harness.practice.faults.model_faults import CutTool, Reset
from harness.practice.script import Script
from harness.practice.script.entries import PlayReply
from harness.practice.wire.replies import ScriptedReply, TextPart, ToolUse


def tool(name: str, *fields: str) -> Json:
    properties = {field: {"type": "string"} for field in fields}
    return {"name": name, "input_schema": {"type": "object", "properties": properties, "required": list(fields)}}


BASH = tool("bash", "command")
CALLED: list[Json] = [
    {"role": "user", "content": "look"},
    {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "bash", "input": {}}]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": ""}]},
]


def body(*messages: Json, tools: tuple[Json, ...] = (BASH,), **more: Any) -> Json:
    return {"messages": list(messages) or [{"role": "user", "content": "look"}], "tools": list(tools), **more}


def player(name: str) -> ExamPlayback:
    row = row_of(name)
    return ExamPlayback(Script.parse(row.script), row.answer or ANSWER)


def said(action: object) -> ScriptedReply:
    assert isinstance(action, PlayReply)
    assert action.reply is not None
    return action.reply


@pytest.mark.parametrize(
    ("tools", "name", "input"),
    [
        ((BASH,), "bash", {"command": "echo ran >> rounds.txt"}),
        ((tool("grep", "pattern"), tool("Bash", "command")), "Bash", {"command": "echo ran >> rounds.txt"}),
        ((tool("ask"), tool("do", "cmd")), "do", {"cmd": "echo ran >> rounds.txt"}),
        (({"type": "bash_20250124", "name": "bash"},), "bash", {"command": "echo ran >> rounds.txt"}),
        ((tool("ask", "q"), tool("read_file", "path")), "read_file", {"path": "note.txt"}),
    ],
)
def test_the_call_is_one_of_a_tool_that_is_offered(tools: tuple[Json, ...], name: str, input: Json) -> None:
    reply = said(player("500").next(body(tools=tools)))
    assert [(one.name, one.input) for one in reply.parts if isinstance(one, ToolUse)] == [(name, input)]


def test_requests_aside_use_nothing_up_and_the_answer_is_repeated_at_the_end() -> None:
    playing = player("one tool call, then the answer")
    assert said(playing.next(body(tools=()))).parts == (TextPart("A note"),)
    assert isinstance(said(playing.next(body())).parts[1], ToolUse)
    for _ in range(3):
        assert said(playing.next(body(*CALLED))).parts == (TextPart(ANSWER),)


def test_a_program_that_continues_a_cut_reply_gets_each_piece_once() -> None:
    playing, history, pieces = player("max_tokens three times, then the rest"), list(CALLED), list[str]()
    playing.next(body())
    stop = "max_tokens"
    while stop == "max_tokens":
        reply = said(playing.next(body(*history)))
        stop, (part,) = reply.ending, reply.parts
        assert isinstance(part, TextPart)
        pieces.append(part.text)
        history += [{"role": "assistant", "content": part.text.strip()}, {"role": "user", "content": "Continue."}]
    assert "".join("".join(pieces).split()) == "".join("".join(PIECES).split())
    assert len(pieces) == 4


def test_a_cut_call_without_streaming_is_cut_as_the_api_does_it() -> None:
    for name, streamed, fault, stop in (
        ("tool call cut by max_tokens", False, type(None), "max_tokens"),
        ("reset inside a tool call's JSON", False, Reset, None),
        ("tool call cut by max_tokens", True, CutTool, None),
    ):
        playing = player(name)
        playing.next(body())
        action = playing.next(body(*CALLED, stream=streamed))
        assert isinstance(action, PlayReply)
        assert isinstance(action.fault, fault)
        assert said(action).stop_reason == stop
