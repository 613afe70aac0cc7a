"""Which tools a pattern means."""

import re


def matches(pattern: str, tool: str) -> bool:
    """Whether a tool is one of those that the pattern names.

    Names are separated by `|`, and `*` stands for any letters: "bash", "write_file|edit_file", "mcp__*". Large and
    small letters differ, as they do in the names of tools. An empty pattern means every tool.
    """
    return not pattern.strip() or any(_means(part.strip(), tool) for part in pattern.split("|"))


def _means(part: str, tool: str) -> bool:
    return re.fullmatch(".*".join(map(re.escape, part.split("*"))), tool, re.DOTALL) is not None
