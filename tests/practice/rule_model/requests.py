"""Requests to the rule-based model, with canned results for its calls."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from harness.events import Json
from harness.practice.rule_model import RuleModel
from harness.practice.wire.replies import ScriptedReply, TextPart, ToolUse


def spec(name: str, *required: str, optional: Sequence[str] = (), **types: str) -> Json:
    """The definition of a tool whose fields are texts unless `types` names another type."""
    fields = {field: {"type": types.get(field, "string")} for field in (*required, *optional)}
    return {"name": name, "input_schema": {"type": "object", "properties": fields, "required": list(required)}}


TOOLS = (
    spec("bash", "command", optional=("background",), background="boolean"),
    spec("read_file", "path"),
    spec("write_file", "path", "content"),
    spec("edit_file", "path", "old_string", "new_string"),
    spec("glob", "pattern", optional=("path",)),
    spec("grep", "pattern", optional=("path", "glob")),
    spec("agent", "prompt", "description", optional=("agent", "background"), background="boolean"),
    spec("list_background"),
    spec("read_background", "id"),
    spec("kill_background", "id"),
    spec("skill", optional=("name",)),
    spec("remember", "name", "description", "type", "text"),
    spec("recall", optional=("query",)),
    spec("forget", "name"),
    spec("ask_user", "question", optional=("options",), options="array"),
    spec("web_search", "query"),
    spec("web_fetch", "url"),
    spec("weather", "city", optional=("days",), days="integer"),
    spec("todo_write", "items", items="array"),
)
Result = str | Mapping[str, Any]


@dataclass
class Talk:
    """A conversation that answers each call with the canned results for its tool, in order."""

    results: Mapping[str, Sequence[str]] = field(default_factory=dict)
    tools: Sequence[Json] = TOOLS
    max_tokens: int = 8_000
    messages: list[Json] = field(default_factory=list)
    calls: list[tuple[str, Json]] = field(default_factory=list)
    failures: frozenset[str] = frozenset()
    """Results that are errors."""

    def ask(self, prompt: str) -> str:
        """The final text after a prompt."""
        self.messages.append({"role": "user", "content": prompt})
        for _ in range(12):
            reply = self.step()
            if not any(isinstance(part, ToolUse) for part in reply.parts):
                return text_of(reply)
        raise AssertionError("no end after 12 steps")

    def step(self) -> ScriptedReply:
        """One reply and the results of its calls."""
        reply = RuleModel().answer(
            {"max_tokens": self.max_tokens, "tools": list(self.tools), "messages": self.messages}
        )
        blocks: list[Json] = [{"type": "text", "text": text_of(reply)}]
        results: list[Json] = []
        for part in reply.parts:
            if isinstance(part, ToolUse):
                id = f"t{len(self.calls)}"
                blocks.append({"type": "tool_use", "id": id, "name": part.name, "input": part.input})
                given = self.results.get(part.name, ("done",))
                text = given[min(sum(name == part.name for name, _ in self.calls), len(given) - 1)]
                self.calls.append((part.name, part.input))
                failed = text in self.failures
                results.append({"type": "tool_result", "tool_use_id": id, "content": text, "is_error": failed})
        self.messages.append({"role": "assistant", "content": blocks})
        if results:
            self.messages.append({"role": "user", "content": results})
        return reply


def text_of(reply: ScriptedReply) -> str:
    """The text of a reply."""
    return "".join(part.text for part in reply.parts if isinstance(part, TextPart))
