"""The MCP servers of a session as its agents meet them: which tools a request lists, and questions of servers.

The list of tools in the requests of a conversation stays as it is, because every change loses the prompt cache, and
thinking that was written for other tools is refused. It is chosen before the first request and kept in the journal.
Tools that come later, and all of them where their schemas would take more than a tenth of the window, are reached by
two tools that are always listed.
"""

import asyncio
import json
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any, Literal

from harness.engine.conversation import Conversation
from harness.engine.core import AgentCore
from harness.engine.permissions.asker import Asker, UserAnswer
from harness.events import (
    McpToolsListed,
    Message,
    Notice,
    QuestionAnswered,
    QuestionAsked,
    QuestionOption,
    ToolCall,
)
from harness.mcp.config import McpConfig
from harness.mcp.connection import Callbacks
from harness.mcp.oauth import stored_auth
from harness.mcp.server import CHARACTERS_PER_TOKEN, READY_S, McpServer
from harness.mcp.servers import McpServers
from harness.mcp.tools import CALL, READ, ForeignTools, meant_by, reaching_tools, resource_tool
from harness.processes import Processes
from harness.settings import Settings
from harness.tools.tool import Tool

FIRST_WAIT_S = 0.8
"""Seconds after their start that the first request of a conversation waits for servers whose tools are not known; with
the rest of the start it is one second."""
ALONE_WAIT_S = 5.0
"""The same where no user is present, who could ask again."""
NOTICE = "<system-note>MCP servers now also offer: "
MOST_OF_WINDOW = 0.1
MOST_FIELDS = 20
"""Of one form that a server asks the user to fill in."""
TRIES = 3
DEFAULT, YES, NO = "default", "Yes", "No"


def servers_for(
    config: McpConfig,
    settings: Settings,
    processes: Processes,
    conversation: Conversation,
    asker: Asker,
    state: Any,
    faulty: Callable[[Iterable[Tool]], tuple[Tool, ...]] = tuple,
) -> McpServers:
    """The servers of a session; none is started yet.

    Args:
        state: the state folder.
        faulty: the same tools with the faults that the user orders.
    """
    questions = ServerQuestions(conversation, asker)
    servers = McpServers(
        config,
        processes=processes,
        workspace=settings.workspace,
        state=state,
        callbacks=Callbacks(
            elicit=questions.ask,
            roots=lambda: (settings.workspace.resolve(), *(folder.resolve() for folder in settings.add_dirs)),
            auth=lambda one: stored_auth(one, state),
        ),
        tools=ForeignTools(
            characters=settings.result_characters,
            idle_s=settings.tool_timeout_s,
            longest_s=max(settings.tool_timeout_s, settings.background_timeout_s),
            waiting=lambda: questions.open > 0,
            faulty=faulty,
        ),
        connect_s=settings.mcp_connect_s,
    )
    servers.report_to(conversation.emit, conversation.masking.learn, conversation.masking.text)
    return servers


class McpTools:
    """The tools of servers that one agent may call."""

    def __init__(self, core: AgentCore, servers: McpServers) -> None:
        self._core = core
        self.servers = servers
        kept = core.conversation.state.server_tools if core.conversation.messages else None
        chosen = kept or self._chosen()
        self.listed = chosen.tools
        """Those that the requests of the conversation list."""
        self._known = {*chosen.known}
        """Names that the model has read."""

    @property
    def allowed(self) -> dict[str, Tool]:
        """All tools that the agent may call, by name: what a rule denies is not there."""
        found = self.servers.tools
        kept = self._core.shared.rules.kept(found)
        return {name: found[name] for name in kept if self._standard(found[name])}

    def get(self, name: str) -> Tool | None:
        """The tool of exactly this name, listed or not."""
        tool = self.servers.tools.get(name) if name.startswith("mcp__") else None
        allowed = tool is not None and self._standard(tool) and self._core.shared.rules.kept([name])
        return tool if allowed else None

    def _standard(self, tool: Tool) -> bool:
        """A subagent may have only some of the tools."""
        standard = self._core.standard
        return standard is None or tool.name in standard or tool.breaker in standard

    @property
    def names(self) -> tuple[str, ...]:
        """Of all tools that may be called."""
        return tuple(self.allowed)

    async def meant(self, call: ToolCall) -> ToolCall:
        """Unwraps a call of `call_mcp_tool`; any other call stays as it is. A server that still starts for
        the first time is waited for."""
        found = meant_by(call.input) if call.name == CALL else None
        name = found[0] if found is not None else call.name
        server = next((one for one in self.servers.servers if name.startswith(f"{one.key}__")), None)
        if server is not None and self.get(name) is None:
            with suppress(TimeoutError):
                async with asyncio.timeout(READY_S):
                    await server.settled.wait()
        if found is None or self.get(found[0]) is None:
            return call
        return ToolCall(call.id, *found)

    def reaching(self) -> tuple[Tool, ...]:
        """The tools that find and call the others, and read resources."""
        characters = self._core.settings.result_characters
        return (
            *reaching_tools(self._readable, lambda: tuple(self.allowed.values()), characters),
            resource_tool(self._readable, characters),
        )

    def _readable(self) -> tuple[McpServer, ...]:
        """Servers that no rule denies as a whole."""
        kept = self._core.shared.rules.kept
        return tuple(one for one in self.servers.servers if kept([f"{one.key}__{READ}"]))

    def _chosen(self) -> McpToolsListed:
        """The tools that are known now, unless they take too much of the window."""
        specs = tuple(tool.spec() for tool in self.allowed.values())
        characters = sum(len(json.dumps(spec, ensure_ascii=False)) for spec in specs)
        window = self._core.shared.catalogue.card(self._core.choice.model).window
        fits = characters <= MOST_OF_WINDOW * window * CHARACTERS_PER_TOKEN
        return McpToolsListed(specs if fits else (), tuple(self.allowed))

    async def prepare(self) -> None:
        """Before a prompt; before the first one wait briefly for servers, and choose the tools that requests list."""
        self.servers.start()
        core, conversation = self._core, self._core.conversation
        if conversation.messages and conversation.state.server_tools is not None:
            return
        if not conversation.messages:
            late = await self.servers.settle(FIRST_WAIT_S if core.shared.asker.present else ALONE_WAIT_S)
            if late and not core.is_subagent:
                names = ", ".join(one.config.name for one in late)
                text = f"not there yet: the MCP server {names}; its tools are found with find_mcp_tools once it is"
                conversation.emit(Notice("warning", text))
            chosen = self._chosen()
            self._known = {*chosen.known}
        else:  # its journal is older than this event
            chosen = McpToolsListed(self.listed, tuple(self._known))
        conversation.emit(chosen)
        kept = conversation.state.server_tools
        assert kept is not None, "it was emitted"
        self.listed = kept.tools

    def notice(self) -> str:
        """New tools since the last notice, for the next prompt; empty: none."""
        messages = self._core.conversation.messages
        told = [text for text in map(_notice_in, messages) if text]
        new = [name for name in self.allowed if name not in self._known and not any(name in text for text in told)]
        if not new or not messages:
            return ""
        self._known |= set(new)
        shown = ", ".join(new[:20]) + (f" and {len(new) - 20} more" if len(new) > 20 else "")
        return f"{NOTICE}{shown}. Use find_mcp_tools and {CALL}.</system-note>"


def _notice_in(message: Message) -> str:
    texts = (str(block.get("text", "")) for block in message.content)
    return next((text for text in texts if text.startswith(NOTICE)), "")


# ── questions of servers ────────────────────────────────────────────────────────────────────────


class ServerQuestions:
    """Asks the user on behalf of servers, in the one queue of questions."""

    def __init__(self, conversation: Conversation, asker: Asker) -> None:
        self._conversation = conversation
        self._asker = asker
        self._asked = 0
        self.open = 0
        """Questions that wait for the user."""

    async def ask(self, server: str, params: Any) -> Any:
        """The answer to `elicitation/create`: an `ElicitResult`. Without a user it is declined."""
        from mcp.types import ElicitResult

        if not self._asker.present:
            return ElicitResult(action="decline")
        self.open += 1
        try:
            action, content = await self._answered(server, params)
        finally:
            self.open -= 1
        return ElicitResult(action=action, content=content)

    async def _answered(
        self, server: str, params: Any
    ) -> tuple[Literal["accept", "decline", "cancel"], dict[str, Any] | None]:
        says = f"The MCP server {server} asks: {str(params.message)[:2_000]}"
        if params.mode == "url":
            text = f"{says}\nOpen this address in a browser: {params.url}"
            answer = await self._question(server, text, (YES, NO))
            return ("accept", None) if _agrees(answer) else ("decline", None)
        schema = params.requested_schema
        fields = list((schema.get("properties") or {}).items())[:MOST_FIELDS]
        if not fields:
            return ("accept", {}) if _agrees(await self._question(server, says, (YES, NO))) else ("decline", None)
        content: dict[str, Any] = {}
        for name, field in fields:
            required = name in (schema.get("required") or ())
            for _ in range(TRIES):
                answer = await self._question(server, *_about(says, name, field, required=required))
                if answer is None or answer.how == "declined":
                    return "decline", None
                try:
                    value = value_of(answer.text, field, required=required)
                except ValueError as error:
                    says = f"{error} {says}"
                    continue
                if value is not None:
                    content[name] = value
                break
            else:
                return "cancel", None
        return "accept", content

    async def _question(self, server: str, text: str, labels: tuple[str, ...]) -> UserAnswer | None:
        self._asked += 1
        asked = QuestionAsked(f"mcp-{server}-{self._asked}", text, tuple(map(QuestionOption, labels)))
        self._conversation.emit(asked)
        answer = await self._asker.question(asked)
        how, said = (answer.how, answer.text) if answer else ("declined", "")
        self._conversation.emit(QuestionAnswered(asked.call_id, how, said))
        return answer


def _agrees(answer: UserAnswer | None) -> bool:
    return answer is not None and answer.text == YES


def _about(says: str, name: str, field: Mapping[str, Any], *, required: bool) -> tuple[str, tuple[str, ...]]:
    """The question about one field, and its options."""
    labels = tuple(map(str, choices_of(field)))
    if field.get("type") == "boolean":
        labels = (YES, NO)
    if "default" in field:
        labels = (f"{DEFAULT}: {field['default']}", *labels)
    elif not required:
        labels = (*labels, "leave out")
    about = ": ".join(filter(None, (str(field.get("title") or name), str(field.get("description") or ""))))
    return f"{says}\n{about}", labels


def choices_of(field: Mapping[str, Any]) -> list[Any]:
    """The values of a field that has only a few."""
    items = field.get("items") if field.get("type") == "array" else field
    items = items if isinstance(items, dict) else {}
    titled = items.get("oneOf") or items.get("anyOf") or ()
    return [*(items.get("enum") or ()), *(one["const"] for one in titled if isinstance(one, dict) and "const" in one)]


def value_of(text: str, field: Mapping[str, Any], *, required: bool) -> Any:
    """A field's value by the words of the user; None: it is left out. Raises ValueError, one sentence."""
    text = text.strip()
    if "default" in field and (text == f"{DEFAULT}: {field['default']}" or not text):
        return field["default"]
    if not required and text in ("", "leave out"):
        return None
    kind, choices = field.get("type"), [str(one) for one in choices_of(field)]
    if choices:
        chosen = [one.strip() for one in text.split(",")] if kind == "array" else [text]
        if unknown := [one for one in chosen if one not in choices]:
            raise ValueError(f"{unknown[0]!r} is none of {', '.join(choices)}.")
        return chosen if kind == "array" else text
    match kind:
        case "boolean":
            if text.lower() not in ("yes", "no", "true", "false"):
                raise ValueError("Answer yes or no.")
            return text.lower() in ("yes", "true")
        case "integer" | "number":
            try:
                number = float(text)
            except ValueError as error:
                raise ValueError(f"{text!r} is no number.") from error
            least, most = field.get("minimum", number), field.get("maximum", number)
            if not least <= number <= most or (kind == "integer" and number != int(number)):
                raise ValueError(f"{text} does not fit: a {kind} from {least} to {most}.")
            return int(number) if kind == "integer" else number
        case _:
            if not field.get("minLength", 0) <= len(text) <= field.get("maxLength", len(text)):
                raise ValueError("That text is too short or too long.")
            return text
