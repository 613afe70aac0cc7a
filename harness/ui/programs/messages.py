"""The session in messages that programs know from Claude Code: `assistant`, `user`, `system` and `result`.

Every other event is a `system` message whose `subtype` is the name of the event, with the event itself beside it.
"""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from uuid import uuid4

from harness.base.version import __version__
from harness.events import (
    Block,
    Event,
    HistoryReplaced,
    Json,
    McpState,
    MessageAdded,
    Origin,
    PromptListsRead,
    ReplyReceived,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
    Usage,
    encode,
)
from harness.session import Session
from harness.ui.commands.commands import all_commands
from harness.ui.plain.headless import usage_fields

MODES: Mapping[str, str] = MappingProxyType(
    {"ask": "default", "edits": "acceptEdits", "plan": "plan", "yolo": "bypassPermissions", "deny": "dontAsk"}
)
"""Permission modes: ours, and what Claude Code calls them."""
STATES: Mapping[McpState, str] = MappingProxyType(
    {
        McpState.CONNECTING: "pending",
        McpState.READY: "connected",
        McpState.FAILED: "failed",
        McpState.SIGN_IN: "needs-auth",
        McpState.OFF: "disabled",
    }
)
"""States of MCP servers, as programs know them."""
NOT_SHOWN = (MessageAdded, HistoryReplaced, PromptListsRead, TextDelta, ThinkingDelta, ToolCallDelta)
"""Events that other messages hold, or that are of any size."""


class MessageFold:
    """Turns the events of one session into messages."""

    def __init__(self, session: Session, *, partial: bool) -> None:
        """`partial`: pieces of an answer are shown as they arrive."""
        self._session = session
        self._partial = partial
        self._reply: ReplyReceived | None = None

    def messages(self, event: Event) -> Iterator[Json]:
        """The messages for an event."""
        match event:
            case TextDelta(text) if self._partial:
                yield self._delta({"type": "text_delta", "text": text})
            case ThinkingDelta(text) if self._partial:
                yield self._delta({"type": "thinking_delta", "thinking": text})
            case MessageAdded(message, Origin.REPLY) if message.role == "assistant":
                yield self.stamped({"type": "assistant", "message": self._assistant(message.content)} | _TOP)
            case MessageAdded(message, Origin.TOOL_RESULTS):
                content = {"role": "user", "content": list(message.content)}
                yield self.stamped({"type": "user", "message": content} | _TOP)
            case ReplyReceived():
                self._reply = event
        if not isinstance(event, NOT_SHOWN):
            encoded = encode(event)
            yield self.stamped({"type": "system", "subtype": encoded["type"], "event": encoded})

    def _assistant(self, content: tuple[Block, ...]) -> Json:
        reply = self._reply
        return {
            "id": (reply.message_id if reply else "") or f"msg_{uuid4().hex}",
            "type": "message",
            "role": "assistant",
            "model": reply.model if reply else self._session.models.current,
            "content": [{"signature": ""} | one if one.get("type") == "thinking" else one for one in content],
            "stop_reason": reply.stop_reason if reply else None,
            "usage": usage_fields(reply.usage if reply else Usage()),
        }

    def _delta(self, delta: Json) -> Json:
        event = {"type": "content_block_delta", "index": 0, "delta": delta}
        return self.stamped({"type": "stream_event", "event": event} | _TOP)

    def init(self) -> Json:
        """The first message of every turn: what the session works with."""
        session = self._session
        return self.stamped(
            {
                "type": "system",
                "subtype": "init",
                "cwd": str(session.settings.workspace),
                "model": session.models.current,
                "permissionMode": MODES[session.permissions.mode],
                "tools": [tool.name for tool in session.tools],
                "slash_commands": [command["name"] for command in commands_of(session)],
                "skills": [skill.name for skill in session.skills.skills],
                "mcp_servers": servers_of(session),
                "agents": [],
                "apiKeySource": "none",
                "output_style": "default",
                "harness_version": __version__,
            }
        )

    def stamped(self, message: Json) -> Json:
        """A message with the session and an id of its own."""
        return {**message, "session_id": self._session.id, "uuid": str(uuid4())}


_TOP: Json = {"parent_tool_use_id": None}


def servers_of(session: Session) -> list[Json]:
    """The MCP servers with their states, in the words that programs know."""
    servers = session.mcp.servers if session.mcp is not None else ()
    return [
        {"name": one.config.name, "status": STATES[one.state]} | ({"error": one.why} if one.why else {})
        for one in servers
    ]


def commands_of(session: Session) -> list[Json]:
    """The slash commands of the program and of files."""
    known = all_commands(session)
    return [{"name": one.name, "description": one.help, "argumentHint": one.arguments} for one in known]
