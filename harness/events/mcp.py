"""Events of the MCP servers of a session."""

from dataclasses import dataclass
from enum import StrEnum

from harness.events.catalogue import Event
from harness.events.messages import Json

__all__ = ["McpServerChanged", "McpState", "McpToolsListed"]


class McpState(StrEnum):
    """State of an MCP server."""

    CONNECTING = "connecting"
    READY = "ready"
    FAILED = "failed"
    """It is tried again when a tool of it is called."""
    SIGN_IN = "sign-in"
    """It wants the user to sign in first."""
    OFF = "off"


@dataclass(frozen=True, slots=True)
class McpServerChanged(Event):
    """An MCP server changed its state or its list of tools."""

    server: str
    """As the settings name it."""
    state: McpState
    tools: int = 0
    """Tools that it offers, by its last good list."""
    detail: str = ""
    """The reason in one line; after a change of the list, the tools that came or went."""
    starts: int = 0
    """How many times it was connected in this session."""
    prompts: int = 0
    """Prompts that it offers as slash commands."""


@dataclass(frozen=True, slots=True)
class McpToolsListed(Event):
    """The tools of MCP servers that the requests of a conversation list, from its first request to its end.

    A resumed session sends the same, whatever its servers offer by then, so that its requests start with the same
    bytes.
    """

    tools: tuple[Json, ...]
    """As requests describe them; empty where all are found with find_mcp_tools."""
    known: tuple[str, ...] = ()
    """Names of all tools that the servers had."""
