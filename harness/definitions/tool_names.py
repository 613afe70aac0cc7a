"""Lists of tools in files that were written for this program or for others."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from fnmatch import fnmatchcase

from harness.events.tool_names import tool_called

EVERY = frozenset({"*", "all"})

_NAME = re.compile(r"[\w*.:/-]+(?:\([^)]*\))?")


@dataclass(frozen=True, slots=True)
class ToolSelection:
    """The tools that a file names."""

    tools: tuple[str, ...]
    """Available tools, by their names here."""
    absent: tuple[str, ...]
    """As written: names of tools that are not available."""


def tools_named(text: str, available: Collection[str]) -> ToolSelection | None:
    """The tools in a list such as "Read, Bash(git diff:*), mcp__docs__find"; None: all of them.

    Text in brackets is ignored: it would only affect permission questions, which are asked as always.
    """
    tools: dict[str, None] = {}
    absent: list[str] = []
    for written in _NAME.findall(text):
        name = written.partition("(")[0]
        if name.lower() in EVERY:
            return None
        own = name if name in available else tool_called(name)
        if name.startswith("mcp__") and (of_servers := _of_servers(name, available)):
            tools |= dict.fromkeys(of_servers)
        elif own in available:
            tools[own] = None
        else:
            absent.append(written)
    return ToolSelection(tuple(tools), tuple(absent))


def _of_servers(name: str, available: Collection[str]) -> list[str]:
    """The tools of MCP servers that a name such as `mcp__docs`, `mcp__docs__*` or `mcp__docs__find` means. A server may
    still start, so a tool of one that is available need not be known."""
    server = name.removesuffix("__*")
    found = [one for one in available if one == server or one.startswith(f"{server}__") or fnmatchcase(one, name)]
    later = "*" not in name and any(name.startswith(f"{one}__") for one in available if one.startswith("mcp__"))
    return found or ([name] if later else [])
