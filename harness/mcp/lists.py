"""The last good list of tools of each server, kept between sessions.

With it a session knows the tools before their servers are up: its first request waits for nothing, its bytes are those
of the last session, which the prompt cache has, and a resumed conversation has the tools that it had.
"""

import json
from dataclasses import asdict
from pathlib import Path

from harness.base.files import read_regular, replace_atomically
from harness.mcp.config import ServerConfig
from harness.mcp.offers import LONGEST_DESCRIPTION, ServerTool
from harness.mcp.schemas import schema_problem

MOST_BYTES = 4_000_000
FOLDER = "mcp"
"""In the state folder."""


class LastLists:
    """Keeps one small file for each server."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def get(self, config: ServerConfig) -> tuple[ServerTool, ...]:
        """The tools that the server had; none where that is not known. A damaged file counts as none."""
        if config.host is not None:  # its tools are as old as its program
            return ()
        try:
            entries = json.loads(read_regular(self._file(config), MOST_BYTES))
            tools = tuple(ServerTool(**entry) for entry in entries)
            good = [tool for tool in tools if isinstance(tool.name, str) and not schema_problem(tool.schema)]
            return tuple(tool for tool in good if len(str(tool.description)) <= LONGEST_DESCRIPTION)
        except (OSError, ValueError, TypeError, RecursionError):
            return ()

    def put(self, config: ServerConfig, tools: tuple[ServerTool, ...]) -> None:
        """Keep a list. Where it cannot be written the next session asks again."""
        data = json.dumps([asdict(tool) for tool in tools], ensure_ascii=False).encode("utf-8", "surrogatepass")
        if config.host is None and len(data) <= MOST_BYTES:
            try:
                replace_atomically(self._file(config), data, private=True)
            except OSError:
                return

    def _file(self, config: ServerConfig) -> Path:
        return self._folder / f"{config.digest}.json"
