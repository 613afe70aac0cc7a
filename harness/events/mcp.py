"""Events of the MCP servers of a session."""

from dataclasses import dataclass
from enum import StrEnum

from harness.events.catalogue import Event

__all__ = ["McpServerChanged", "McpState"]


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
