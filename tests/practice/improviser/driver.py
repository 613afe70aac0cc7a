"""A conversation with the improviser whose tool calls are really carried out in a folder."""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.events import Json, ToolOutcome
from harness.practice.improviser import Improviser
from harness.practice.replies import ScriptedReply, Text, ToolUse
from harness.tools.arguments import ArgumentError
from harness.tools.tool import Tool, ToolContext, ToolResult
from harness.tools.toolbox import Toolbox, standard_tools
from harness.tools.workspace import Workspace

MOST_STEPS = 12


def text_of(reply: ScriptedReply) -> str:
    """The text of a reply."""
    return "".join(part.text for part in reply.parts if isinstance(part, Text))


def calls_of(reply: ScriptedReply) -> tuple[ToolUse, ...]:
    """The tool calls of a reply."""
    return tuple(part for part in reply.parts if isinstance(part, ToolUse))


@dataclass
class Conversation:
    """What an agent's loop does, in twenty lines: ask the model, run its calls, hand back the results."""

    folder: Path
    tools: Iterable[Tool] = field(default_factory=standard_tools)
    deny: Callable[[ToolUse], bool] = lambda call: False
    max_tokens: int = 8_000
    messages: list[Json] = field(default_factory=list)
    calls: list[ToolUse] = field(default_factory=list)
    replies: list[ScriptedReply] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.toolbox = Toolbox(self.tools)

    def ask(self, prompt: str) -> str:
        """The last words of the model after this prompt."""
        self.say(prompt)
        for _ in range(MOST_STEPS):
            reply = self.step()
            if not calls_of(reply):
                return text_of(reply)
        raise AssertionError(f"no end after {MOST_STEPS} steps")

    def say(self, text: str) -> None:
        """Add a user message."""
        self.messages.append({"role": "user", "content": [{"type": "text", "text": text}]})

    def request(self) -> Json:
        """What is sent to the model now."""
        return {
            "model": "practice-1",
            "max_tokens": self.max_tokens,
            "system": [{"type": "text", "text": "You are an agent."}],
            "tools": list(self.toolbox.specs()),
            "messages": self.messages,
        }

    def step(self) -> ScriptedReply:
        """One reply, and the results of its calls."""
        reply = Improviser().answer(self.request())
        self.replies.append(reply)
        blocks: list[Json] = []
        results: list[Json] = []
        for part in reply.parts:
            if isinstance(part, Text):
                blocks.append({"type": "text", "text": part.text})
            elif isinstance(part, ToolUse):
                call_id = f"toolu_{len(self.calls)}"
                self.calls.append(part)
                blocks.append({"type": "tool_use", "id": call_id, "name": part.name, "input": part.input})
                results.append({"type": "tool_result", "tool_use_id": call_id, **self._run(call_id, part)})
        self.messages.append({"role": "assistant", "content": blocks})
        if results:
            self.messages.append({"role": "user", "content": results})
        return reply

    def _run(self, call_id: str, call: ToolUse) -> Json:
        if self.deny(call):
            return {"content": "Not run: permission was denied. Propose something else.", "is_error": True}
        tool = self.toolbox.get(call.name)
        assert tool is not None, f"{call.name} was not offered"
        try:
            arguments = tool.parse(dict(call.input))
        except ArgumentError as error:
            raise AssertionError(f"the call does not fit its schema: {error}") from error
        context = ToolContext(Workspace(self.folder), self.folder.parent / "outputs", call_id)
        result = asyncio.run(_carried_out(tool, context, arguments))
        return {"content": result.content, "is_error": result.outcome is not ToolOutcome.OK}


async def _carried_out(tool: Tool, context: ToolContext, arguments: Any) -> ToolResult:
    return await tool.run(context, arguments)
