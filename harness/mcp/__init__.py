"""Tools of MCP servers (https://modelcontextprotocol.io): a client that outlives its servers (docs/mcp.md).

`config` says which servers there are and is read with the settings. All else is imported only where one is configured,
and the SDK `mcp` only when the first of them is started.
"""
