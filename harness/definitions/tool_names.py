"""Names of tools in files that were written for this program or for others."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType

OTHER_NAMES: Mapping[str, str] = MappingProxyType(
    {
        "read": "read_file",
        "notebookread": "read_file",
        "write": "write_file",
        "edit": "edit_file",
        "multiedit": "edit_file",
        "ls": "glob",
        "search": "grep",
        "shell": "bash",
        "terminal": "bash",
        "execute": "bash",
        "bashoutput": "read_background",
        "monitor": "monitor_background",
        "killbash": "kill_background",
        "killshell": "kill_background",
        "todo": "todo_write",
        "todowrite": "todo_write",
        "todoread": "todo_write",
        "task": "agent",
        "websearch": "web_search",
        "webfetch": "web_fetch",
        "askuserquestion": "ask_user",
    }
)
"""The names of other programs' tools in this program; compared case-insensitively."""
ELSEWHERE = frozenset(
    {"agent", "web", "web_search", "web_fetch", "ask_user", "notebookedit", "exitplanmode", "enterplanmode"}
    | {"slashcommand", "skill", "lsp", "toolsearch", "taskoutput", "taskstop", "sendmessage", "todo_write"}
    | {"read_background", "kill_background", "list_background", "monitor_background"}
)
"""Names known here or in other programs that may be unavailable to a subagent."""
EVERY = frozenset({"*", "all"})

_NAME = re.compile(r"[\w*.:/-]+(?:\([^)]*\))?")


@dataclass(frozen=True, slots=True)
class ToolSelection:
    """The tools that a file names."""

    tools: tuple[str, ...]
    """Available tools, by their names here."""
    absent: tuple[str, ...]
    """As written: known names of unavailable tools."""
    unknown: tuple[str, ...]
    """As written: unknown names."""


def tools_named(text: str, available: Collection[str]) -> ToolSelection | None:
    """The tools in a list such as "Read, Bash(git diff:*), mcp__docs__find"; None: all of them.

    Text in brackets is ignored: it would only affect permission questions, which are asked as always.
    """
    tools: dict[str, None] = {}
    absent: list[str] = []
    unknown: list[str] = []
    for written in _NAME.findall(text):
        name = written.partition("(")[0]
        own = OTHER_NAMES.get(name.lower(), name.lower())
        if own in EVERY:
            return None
        if found := next((one for one in (name, own) if one in available), None):
            tools[found] = None
        elif own in ELSEWHERE or own.startswith("mcp__"):
            absent.append(written)
        else:
            unknown.append(written)
    return ToolSelection(tuple(tools), tuple(absent), tuple(unknown))
