"""The words of `/fault` and `/toolfault`: what can be ordered to go wrong, each with what it means.

Words only, so that a front end can list and complete them without loading what plays them; that is in
`model_orders` and `tool_orders`.
"""

from collections.abc import Mapping
from types import MappingProxyType

OFF = "off"
"""In the place of a kind: cancels all orders."""

MODEL_KINDS: Mapping[str, str] = MappingProxyType(
    {
        "529": "the model is overloaded",
        "429": "too many requests; asks to wait 1 s, or `after` seconds",
        "500": "the server fails",
        "502": "a gateway answers with a web page",
        "503": "a proxy answers with a line of text",
        "504": "a gateway has waited too long for the model",
        "400": "the request is called invalid",
        "401": "the key is wrong",
        "403": "the key may not do this",
        "404": "there is no such model",
        "413": "the request is too large",
        "too-long": "the prompt is too long",
        "image": "a picture cannot be read",
        "cut": "max_tokens: a reply ends in the middle of its text",
        "cut-tool": "max_tokens: a reply ends in the middle of a tool call",
        "garbage-tool": "the input of a tool call is no JSON",
        "stall": "silence in the middle of a reply",
        "stall-headers": "silence before the first byte",
        "pause": "silence for 2 seconds, then the reply continues",
        "pings": "pings, and no reply",
        "reset": "the connection breaks in the middle of a reply",
        "reset-headers": "the connection breaks before the first byte",
        "end": "the stream ends before the reply does",
        "garbage": "an event that is no JSON",
        "error": "an error in the middle of a reply: overloaded",
        "html": "status 200, and a web page to sign in on",
        "nothing": "status 200, and a stream without an event",
        "empty": "a complete reply without content",
        "refusal": "the model refuses",
        "repeat": "a reply that says the same thing again and again",
    }
)
"""What can go wrong with the model."""

TOOL_KINDS: Mapping[str, str] = MappingProxyType(
    {
        "timeout": "it runs out of time",
        "missing": "the program is not there",
        "killed": "a signal ends it",
        "refused": "what does the work cannot be reached",
        "system": "the operating system fails",
        "crash": "its own code raises",
        "garbage": "its result is garbage",
        "error": "an ordinary no, as of a failed test",
        "slow": "it works, 2 seconds later",
    }
)
"""What can go wrong with a tool."""

DIE = "die"
"""A fault of MCP servers alone, and a real one: the process is killed."""
SERVER = "mcp:"
"""Before the name of a server, in the place of a tool's name: any of its tools."""


def server_of(breaker: str) -> str:
    """How an order names the MCP server with this breaker; empty: it is none."""
    return f"{SERVER}{breaker.removeprefix('mcp__')}" if breaker.startswith("mcp__") else ""


def listed(kinds: Mapping[str, str]) -> tuple[str, ...]:
    """One line for each kind."""
    width = max(map(len, kinds))
    return tuple(f"  {kind:<{width}}  {meaning}" for kind, meaning in kinds.items())
