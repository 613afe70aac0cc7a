"""The events of a session as updates that an editor shows."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from uuid import uuid4

from harness.base.external_text import visible
from harness.events import (
    Event,
    ItemStatus,
    Json,
    Message,
    MessageAdded,
    Origin,
    OutputDelta,
    PartialDiscarded,
    PermissionAsked,
    PlanChanged,
    PlanItem,
    ReplyReceived,
    RequestSent,
    SpendChanged,
    SteeringQueued,
    StepStarted,
    TextDelta,
    ThinkingDelta,
    ToolEnded,
    ToolOutcome,
    ToolStarted,
    TurnStarted,
)
from harness.ui.lines.diff import DiffKind, diff_rows, path_of_diff
from harness.ui.lines.events import line_of
from harness.ui.lines.line import Line, Tone

KINDS: Mapping[str, str] = MappingProxyType(
    {
        "bash": "execute",
        "read_file": "read",
        "write_file": "edit",
        "edit_file": "edit",
        "grep": "search",
        "glob": "search",
        "web_fetch": "fetch",
        "web_search": "fetch",
        "agent": "think",
        "todo_write": "think",
        "propose_plan": "switch_mode",
    }
)
"""Kinds of tool calls, by the name of the tool; all others are "other"."""
SEVERITIES: Mapping[Tone, str] = MappingProxyType({Tone.QUIET: "info", Tone.TROUBLE: "warning", Tone.BAD: "error"})
STATES: Mapping[ItemStatus, str] = MappingProxyType(
    {ItemStatus.PENDING: "pending", ItemStatus.IN_PROGRESS: "in_progress", ItemStatus.DONE: "completed"}
)
MOST_SHOWN = 4_000
"""Characters of the output of a running command, the last ones."""


class UpdateFold:
    """Turns the events of one session into updates."""

    def __init__(self, workspace: Path, *, notices: bool) -> None:
        """`notices`: the editor shows notices; else they are lines of thought."""
        self._workspace = workspace
        self._notices = notices
        self._message_id = str(uuid4())
        self._announced: set[str] = set()
        """Calls that the editor knows."""
        self._output: dict[str, str] = {}
        """What running commands have written, by call."""
        self._window = 0
        self._used = 0

    def updates(self, event: Event) -> Iterator[Json]:
        """The updates for an event of a running session."""
        match event:
            case StepStarted():
                self._message_id = str(uuid4())
            case TextDelta(text):
                yield self._chunk("agent_message_chunk", text)
            case ThinkingDelta(text):
                yield self._chunk("agent_thought_chunk", text)
            case PartialDiscarded(reason=reason):
                self._message_id = str(uuid4())
                yield self.notice(Line("", f"the unfinished answer above is void: {reason}", Tone.TROUBLE))
            case PermissionAsked(call_id, tool, summary):
                yield self._call(
                    call_id, {"title": title_of(tool, summary), "kind": kind_of(tool), "status": "pending"}
                )
            case RequestSent(window=window, purpose="turn"):
                self._window = window or self._window
            case ReplyReceived(usage=usage):
                self._used = usage.prompt + usage.output
            case SpendChanged(cost_usd=cost) if self._window and self._used:
                amount = {"amount": cost, "currency": "USD"}
                yield {"sessionUpdate": "usage_update", "used": self._used, "size": self._window, "cost": amount}
            case _:
                yield from self._of_both(event)
                if (line := line_of(event)) is not None:
                    yield self.notice(line)

    def replayed(self, event: Event) -> Iterator[Json]:
        """The updates for an event of a session that is loaded: the conversation, without notices."""
        match event:
            case TurnStarted(prompt=prompt) | SteeringQueued(text=prompt):
                yield {"sessionUpdate": "user_message_chunk", "content": _text(prompt)}
            case MessageAdded(message, Origin.REPLY) if message.role == "assistant":
                self._message_id = str(uuid4())
                yield from self._message(message)
            case _:
                yield from self._of_both(event)

    def _message(self, message: Message) -> Iterator[Json]:
        for block in message.content:
            match block:
                case {"type": "text", "text": str(text)}:
                    yield self._chunk("agent_message_chunk", text)
                case {"type": "thinking", "thinking": str(text)} if text:
                    yield self._chunk("agent_thought_chunk", text)

    def _of_both(self, event: Event) -> Iterator[Json]:
        match event:
            case ToolStarted(call_id, tool, summary, input):
                call = {"title": title_of(tool, summary), "kind": kind_of(tool), "status": "in_progress"}
                yield self._call(call_id, call | {"rawInput": input} | self._locations(input))
            case OutputDelta(call_id, lines, open_line) if call_id in self._announced:
                kept = self._output.get(call_id, "") + "".join(f"{line}\n" for line in lines)
                self._output[call_id] = kept[-MOST_SHOWN:]
                shown = _content(self._output[call_id] + open_line)
                yield self._call(call_id, {"content": [shown]})
            case ToolEnded():
                yield self._ended(event)
            case PlanChanged(items):
                yield {"sessionUpdate": "plan", "entries": _entries(items)}

    def _ended(self, event: ToolEnded) -> Json:
        status = "completed" if event.outcome is ToolOutcome.OK else "failed"
        self._output.pop(event.call_id, None)
        fields: Json = {"status": status, "content": [*self.contents(event.detail or event.summary)]}
        if event.call_id not in self._announced:
            fields |= {"title": event.tool, "kind": kind_of(event.tool)}
        return self._call(event.call_id, fields)

    def _call(self, call_id: str, fields: Json) -> Json:
        known = call_id in self._announced
        self._announced.add(call_id)
        return {"sessionUpdate": "tool_call_update" if known else "tool_call", "toolCallId": call_id, **fields}

    def contents(self, detail: str) -> Iterator[Json]:
        """A text, or a diff of one file, as content of a tool call."""
        if (path := path_of_diff(detail)) is not None:
            yield self._diff(detail, path)
        elif detail.strip():
            yield _content(detail)

    def _diff(self, detail: str, path: str) -> Json:
        rows = [row for row in diff_rows(detail) if row.kind is not DiffKind.NOTE]
        before, after = (
            "\n".join(row.text if row.kind is not DiffKind.GAP else "⋮" for row in rows if row.kind is not left_out)
            for left_out in (DiffKind.ADDED, DiffKind.REMOVED)
        )
        new = detail.startswith("--- /dev/null")
        gone = path == "/dev/null"
        name = detail.split("\n", 1)[0].removeprefix("--- ").removeprefix("a/") if gone else path.removeprefix("b/")
        texts = {"oldText": None if new else before, "newText": "" if gone else after}
        return {"type": "diff", "path": str(self._workspace / name), **texts}

    def _locations(self, input: Json) -> Json:
        path, line = input.get("path"), input.get("offset")
        if not isinstance(path, str) or not path:
            return {}
        location: Json = {"path": str(self._workspace / path)}
        return {"locations": [location | ({"line": line} if isinstance(line, int) and line > 0 else {})]}

    def notice(self, line: Line) -> Json:
        """A line for the user that is no message."""
        if self._notices:
            return {"sessionUpdate": "notice", "severity": SEVERITIES[line.tone], "title": line.text}
        return {"sessionUpdate": "agent_thought_chunk", "content": _text(f"{line}\n")}

    def _chunk(self, kind: str, text: str) -> Json:
        return {"sessionUpdate": kind, "content": _text(text), "messageId": self._message_id}

    def message(self, text: str) -> Json:
        """A text of the program, as a message of its own."""
        return {"sessionUpdate": "agent_message_chunk", "content": _text(text), "messageId": str(uuid4())}


def kind_of(tool: str) -> str:
    """The kind of a tool's calls."""
    return KINDS.get(tool, "other")


def title_of(tool: str, summary: str) -> str:
    """A call in one line: the command, or the tool and what it is about."""
    return summary if tool == "bash" and summary else f"{tool} {summary}".rstrip()


def _entries(items: Sequence[PlanItem] | None) -> list[Json]:
    return [{"content": one.text, "priority": "medium", "status": STATES[one.status]} for one in items or ()]


def _text(text: str) -> Json:
    return {"type": "text", "text": visible(text)}


def _content(text: str) -> Json:
    return {"type": "content", "content": _text(text)}
