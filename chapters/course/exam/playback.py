"""A row of the exam, fitted to any client of the Messages API.

The scripts call `bash` and count requests; other programs have other tools, ask for titles of their own, continue a
reply where we would request it again. So each request is answered in four steps:

1. A request without tools in a conversation without tool calls is an aside, such as one for a title. It uses no entry.
2. The entry of the script answers any other; after the last one the answer of the row is repeated.
3. A call of `bash` becomes a call of the shell that the request offers, or of the tool nearest to one. A tool of an MCP
   server gets the name that the program gave it, and so does the tool that starts a member: it has a name and a task.
4. A text whose beginning is in the history already, because the program kept it, continues from there.

A request that is not streamed gets a cut tool call as the API gives it: with `max_tokens` and empty input.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from itertools import takewhile

from harness.events import Json
from harness.practice.checks.api_tools import input_schema
from harness.practice.faults.model_faults import CutTool, Reset, StatusFault
from harness.practice.requests import Purpose, blocks, messages, purpose
from harness.practice.rule_model.tools import Ability, OfferedTool, offered_tools
from harness.practice.script import Script
from harness.practice.script.entries import PlayReply
from harness.practice.script.playback import Playback
from harness.practice.wire.replies import ApiError, Part, ScriptedReply, TextPart, ToolUse, say

ASIDE = say("A note")
"""The answer to requests aside."""
SHELL = "bash"
START = "team_start"
"""The tools that the scripts call."""


class ExamPlayback(Playback):
    """Plays the script of a row to any client."""

    def __init__(self, script: Script, answer: str) -> None:
        """`answer` is the whole text that the row ends with."""
        super().__init__(script)
        self._answer = answer

    def next(self, body: Json) -> PlayReply | StatusFault | ApiError:
        """What answers this request."""
        self.last = None
        if is_aside(body):
            return PlayReply(ASIDE)
        match super().next(body):
            case ApiError() | PlayReply(None, None):
                return PlayReply(fitted(say(self._answer), body, self._answer))
            case PlayReply(ScriptedReply() as reply, fault):
                reply = fitted(reply, body, self._answer)
                if isinstance(fault, CutTool) and body.get("stream") is not True:
                    return _cut_whole(reply, fault)
                return PlayReply(reply, fault)
            case action:
                return action


def _cut_whole(reply: ScriptedReply, fault: CutTool) -> PlayReply:
    """A tool call that is cut in a reply that is not streamed."""
    if fault.ending == "reset":
        return PlayReply(reply, Reset())
    parts = tuple(replace(part, input={}) if isinstance(part, ToolUse) else part for part in reply.parts)
    return PlayReply(replace(reply, parts=parts, stop_reason="max_tokens"))


def is_aside(body: Json) -> bool:
    """A request beside the conversation: no tools, no tool calls, and no summary."""
    has_calls = any(block.get("type") == "tool_use" for message in messages(body) for block in message.content)
    return not body.get("tools") and not has_calls and purpose(body) is Purpose.TURN


def shell_of(body: Json) -> OfferedTool | None:
    """The shell that a request offers."""
    offered = offered_tools(_with_schemas(body))
    named = offered.abilities.get(Ability.RUN)
    return named or next((tool for tool in offered.tools if tool.field_for("command")), None)


def server_tool_of(tool: str, body: Json) -> str | None:
    """What a program calls a tool of the MCP server: the shortest name that ends like it; None: nothing."""
    names = [str(each.get("name")) for each in body.get("tools") or ()]
    return min((name for name in names if re.search(rf"(?:^|[^A-Za-z0-9]){tool}$", name)), key=len, default=None)


def member_tool_of(body: Json) -> Json | None:
    """The tool that starts a member: it needs a name and a task."""
    wanted = {"name", "task"}
    tools = (tool for tool in body.get("tools") or () if isinstance(tool, dict))
    return next((tool for tool in tools if wanted <= set(tool.get("input_schema", {}).get("required", ()))), None)


def fitted(reply: ScriptedReply, body: Json, answer: str) -> ScriptedReply:
    """The reply for this client: its tools, and no text that it has already."""
    parts = [_called(part, body) if isinstance(part, ToolUse) else part for part in reply.parts]
    if not any(isinstance(part, ToolUse) for part in parts):
        parts = [_continued(part, body, answer) if isinstance(part, TextPart) else part for part in parts]
    return replace(reply, parts=tuple(parts))


def _called(call: ToolUse, body: Json) -> Part:
    if call.name.startswith("mcp__"):
        return replace(call, name=server_tool_of(call.name.rpartition("__")[2], body) or call.name)
    if call.name == START and (starts := member_tool_of(body)) is not None:
        known = starts["input_schema"]["properties"]
        return replace(call, name=starts["name"], input={key: call.input[key] for key in call.input if key in known})
    if call.name != SHELL:
        return call
    tool, roles = _nearest(body)
    if tool is None:
        return call
    if not call.input:
        return replace(call, name=tool.name)
    made = tool.call(roles or {"command": call.input["command"]})
    return replace(call, name=made.name, input=made.input)


def _nearest(body: Json) -> tuple[OfferedTool | None, Mapping[str, str]]:
    """The shell; else a tool that only looks, with what to look at; else the first one."""
    if (shell := shell_of(body)) is not None:
        return shell, {}
    offered = offered_tools(_with_schemas(body))
    for ability, roles in ((Ability.READ, {"path": "note.txt"}), (Ability.FIND, {"pattern": "*"})):
        if ability in offered.abilities:
            return offered.abilities[ability], roles
    return (offered.tools[0] if offered.tools else None), {"prompt": "note"}


def _with_schemas(body: Json) -> list[Json]:
    """The tools with the schemas that the API knows itself (`bash_20250124`)."""
    tools = [tool for tool in body.get("tools") or () if isinstance(tool, dict)]
    return [{**tool, "input_schema": schema} for tool in tools if (schema := input_schema(tool)) is not None]


def _continued(part: TextPart, body: Json, answer: str) -> TextPart:
    """The part, or as much text after what the history ends with."""
    at, begin = _position(answer, _said(body)), answer.find(part.text)
    if not at or begin < 0 or begin >= at:
        return part
    rest = answer[at : at + len(part.text)] if begin + len(part.text) < len(answer) else answer[at:]
    return replace(part, text=rest or part.text)


def _said(body: Json) -> str:
    """The texts of the replies since the last tool result."""
    texts: list[str] = []
    for message in takewhile(lambda one: not _has_tools(one), reversed(body.get("messages") or [])):
        if message.get("role") == "assistant":
            texts.insert(0, "".join(str(block.get("text", "")) for block in blocks(message.get("content"))))
    return "".join(texts)


def _has_tools(message: Json) -> bool:
    return any(block.get("type") in ("tool_use", "tool_result") for block in blocks(message.get("content")))


def _position(answer: str, said: str) -> int:
    """The place in the answer after `said`; blanks do not count. 0: it does not begin like this."""
    left = "".join(said.split())
    for at, character in enumerate(answer):
        if not left:
            return at
        if character.isspace():
            continue
        if character != left[0]:
            return 0
        left = left[1:]
    return 0
