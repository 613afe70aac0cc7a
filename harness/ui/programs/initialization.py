"""What a program brings to its session: hooks, MCP servers and words for the system prompt, in its first message."""

from dataclasses import replace
from typing import Any

from harness.base.errors import SettingsError
from harness.events import Json
from harness.session import callback_hooks
from harness.settings import LoadedSettings
from harness.ui.programs.control import ControlChannel, NoAnswerError

BROUGHT = ("hooks", "sdkMcpServers", "mcpServers", "appendSystemPrompt")
_UNSUPPORTED = ("agents", "skills", "jsonSchema", "plugins", "settings", "managedSettings", "disallowedTools")
APPLIED: Json = {"hooks_applied": True, "hook_on_failure_supported": True, "mcp_servers_applied": True}
"""Fields of the answer, without which some programs end the session."""


def request_in(message: Json) -> Json:
    """The `initialize` request in a message; empty: it is another one."""
    request = message.get("request") if message.get("type") == "control_request" else None
    return request if isinstance(request, dict) and request.get("subtype") == "initialize" else {}


def initialized(
    request: Json, loaded: LoadedSettings, channel: ControlChannel
) -> tuple[LoadedSettings, dict[str, Any]]:
    """The settings and the options of the session that a program begins with this `initialize` request.

    Raises SettingsError for what is not supported.
    """
    unsupported = [name for name in _UNSUPPORTED if request.get(name)]
    if request.get("systemPrompt") not in (None, "", [], [""]):
        unsupported.append("systemPrompt")
    if unsupported:
        raise SettingsError(f"{unsupported[0]} of a program is not supported; settings files and flags have the like.")

    async def host(server: str, message: Json) -> Json:
        asked = {"subtype": "mcp_message", "server_name": server, "message": message}
        answer = (await channel.ask(asked)).get("mcp_response")
        if not isinstance(answer, dict):
            raise NoAnswerError("the program gave no answer of its server")
        return answer

    try:
        hooks = callback_hooks(request.get("hooks") or {}, channel.ask)
        inside = {name: {"type": "sdk"} for name in request.get("sdkMcpServers") or ()}
        servers = loaded.settings.mcp_config.extended(inside | (request.get("mcpServers") or {})).hosted(host)
    except (ValueError, TypeError, AttributeError) as error:
        raise SettingsError(f"Hooks or MCP servers of the program cannot be used: {error}.") from error
    changes: dict[str, object] = {"mcp_config": servers}
    if words := request.get("appendSystemPrompt"):
        changes["append_system_prompt"] = str(words)
    return replace(loaded, settings=loaded.settings.model_copy(update=changes)), {"hooks": hooks}
