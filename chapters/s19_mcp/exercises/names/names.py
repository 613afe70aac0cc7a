"""Names for the tools of MCP servers. The function has mistakes; TASK.md has the rules."""

import re

Tool = tuple[str, str]
"""The name of a server, and what this server calls its tool."""


def name_table(servers: dict[str, list[str]]) -> dict[str, Tool]:
    """All tools of all servers by the name that the model calls."""
    # ── your part begins ─────────────────────────────────────────────
    table = {}
    for server, tools in servers.items():
        for tool in tools:
            name = f"mcp__{server}__{tool}"
            table[re.sub(r"\W", "_", name)[:64]] = (server, tool)
    return table
    # ── your part ends ───────────────────────────────────────────────
