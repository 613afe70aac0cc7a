"""The MCP servers of a session as its agents meet them: which tools a request lists, prompts and resources.

The list of tools in the requests of a conversation stays as it is, because every change loses the prompt cache, and
thinking that was written for other tools is refused. It is chosen before the first request and kept in the journal.
Tools that come later, and all of them where their schemas would take more than a tenth of the window, are reached by
two tools that are always listed.
"""

import asyncio
import json
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace

from harness.base.concurrency import in_thread, unless
from harness.engine.conversation import Conversation
from harness.engine.core import AgentCore
from harness.engine.mcp_questions import ServerQuestions
from harness.engine.mcp_sampling import ServerSampling
from harness.engine.permissions.session_rules import SessionRules
from harness.events import Json, McpState, McpToolsListed, Message, Notice, ToolCall
from harness.journal import state_folder
from harness.mcp.config import McpConfig
from harness.mcp.connection import Callbacks, McpError, words_of
from harness.mcp.content import ResultContent
from harness.mcp.oauth import stored_auth
from harness.mcp.prompts import filled_in, parts_of, unknown
from harness.mcp.server import CHARACTERS_PER_TOKEN, READY_S, McpServer
from harness.mcp.servers import McpServers
from harness.mcp.tools import CALL, FIND, READ, ForeignTools, meant_by, reaching_tools, resource_tool
from harness.media.mentions import resource_of
from harness.processes import Processes
from harness.settings import Settings
from harness.tools.tool import Effect, Tool, ToolContext, shorten_line
from harness.tools.workspace import Workspace

FIRST_WAIT_S = 0.8
"""Seconds after their start that the first request of a conversation waits for servers whose tools are not known; with
the rest of the start it is one second."""
ALONE_WAIT_S = 5.0
"""The same where no user is present, who could ask again."""
NOTICE = "<system-note>MCP servers now also offer: "
MOST_OF_WINDOW = 0.1


@dataclass(frozen=True, slots=True)
class SessionLinks:
    """What the servers of a session reach of it."""

    rules: SessionRules
    sampling: ServerSampling
    faulty: Callable[[Iterable[Tool]], tuple[Tool, ...]]
    """The same tools with the faults that the user orders."""


def servers_for(
    config: McpConfig,
    settings: Settings,
    processes: Processes,
    conversation: Conversation,
    questions: ServerQuestions,
    session: SessionLinks | None = None,
) -> McpServers:
    """The servers of a session; none is started yet. `session` None: they are only looked at."""
    state = state_folder(settings.state_dir)
    rules, sampling = (session.rules, session.sampling) if session is not None else (None, None)
    if not questions.present or settings.mcp_sampling_requests == 0:
        sampling = None  # servers hear that they cannot ask the model
    servers = McpServers(
        config,
        processes=processes,
        workspace=settings.workspace,
        state=state,
        callbacks=Callbacks(
            elicit=questions.ask,
            sample=sampling.ask if sampling is not None else None,
            roots=lambda: rules.workspace.roots if rules is not None else (settings.workspace.resolve(),),
            auth=lambda one: stored_auth(one, state),
        ),
        tools=ForeignTools(
            characters=settings.result_characters,
            idle_s=settings.tool_timeout_s,
            longest_s=max(settings.tool_timeout_s, settings.background_timeout_s),
            waiting=lambda: questions.open > 0,
            faulty=session.faulty if session is not None else tuple,
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
        tool = self.servers.tool(name) if name.startswith("mcp__") else None
        allowed = tool is not None and self._standard(tool) and self._core.shared.rules.kept([name])
        return tool if allowed else None

    def absence(self, name: str) -> str:
        """Why the tool of this name is not there, the end of a sentence; empty: its server is there, or unknown."""
        server = next((one for one in self._readable() if name.startswith(f"{one.key}__")), None)
        if server is None or server.state is McpState.READY:
            return ""
        return f"the MCP server {server.config.name} is not there ({server.why or server.state})."

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

    finding = (FIND, CALL)
    """Names of the tools that find and call the others."""

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

    async def prompt(self, command: str, arguments: str) -> str:
        """The text of a server's prompt, which a slash command asks for. Raises McpError, one sentence; ends early when
        the user stops it."""
        signals = self._core.signals
        signals.reset()
        text = await unless(signals.interrupt, self._prompt(command, arguments))
        if text is None:
            raise McpError(f"/{command} was stopped before the server answered.")
        return text

    async def _prompt(self, command: str, arguments: str) -> str:
        server = self.servers.owner(command)
        if server is None:
            raise McpError(f"No MCP server has the prompt /{command}; /mcp lists the servers.")
        self.servers.start()
        await server.offered()
        prompt = server.commands.get(command)
        if prompt is None:
            raise McpError(unknown(command, server.commands))
        given = filled_in(command, prompt, arguments)
        try:
            answer = await server.prompt(prompt.name, given)
        except TimeoutError as error:
            raise McpError(f"The MCP server {server.config.name} did not answer in time.") from error
        except McpError:
            raise
        except Exception as error:  # border: whatever a server and the SDK can do
            said = shorten_line(words_of(error), 300)
            raise McpError(f"The MCP server {server.config.name} refused the prompt: {said}") from error
        core = self._core
        name = f"{command}-{core.conversation.turn + 1}"
        place = ToolContext(Workspace(core.settings.workspace), core.outputs, name, core.shared.processes)
        content = ResultContent(place, core.settings.result_characters, most_images=0)
        return (await in_thread(lambda: content.parts(parts_of(answer.messages)))).content

    def reading(self, mention: str) -> tuple[Tool, Json] | None:
        """The call that reads a resource which a prompt names as `@SERVER:URI`; None: it is none."""
        found = resource_of(mention)
        if found is None:
            return None
        server, uri = found
        characters = self._core.settings.result_characters
        tool = resource_tool(self._readable, characters)
        return replace(tool, effect=Effect.READ), {"server": server, "uri": uri}

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
                one, its, it_is = ("", "its", "it is") if len(late) == 1 else ("s", "their", "they are")
                text = f"not there yet: the MCP server{one} {names}; {its} tools are found with {FIND} once {it_is}"
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
        return f"{NOTICE}{shown}. Use {FIND} and {CALL}.</system-note>"


def _notice_in(message: Message) -> str:
    texts = (str(block.get("text", "")) for block in message.content)
    return next((text for text in texts if text.startswith(NOTICE)), "")
