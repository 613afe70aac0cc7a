"""The names of the production code, with the interface of the exercise."""

from harness.mcp import names

Tool = tuple[str, str]


def name_table(servers: dict[str, list[str]]) -> dict[str, Tool]:
    """All tools of all servers by the name that the model calls."""
    tables = ((server, names.name_table(names.server_key(server), tools)) for server, tools in servers.items())
    return {name: (server, tool) for server, table in tables for name, tool in table.items()}
