"""Names of the tools of servers: `mcp__SERVER__TOOL`, as permission rules and hooks know them.

The API takes 64 letters, digits, _ and -; servers call their tools what they like. A name that does not fit, or that
could be taken for one that was made here, ends in a part of its digest, so that it is unique and the same in every
session. The way back is the table and never the text.
"""

import re
from collections.abc import Iterable
from hashlib import sha256

LONGEST = 64
LONGEST_SERVER = 32
PREFIX = "mcp__"
MARKED = re.compile(r"_[0-9a-f]{8}\Z")
"""The end of a name that was made here."""


def server_key(name: str) -> str:
    """Prefix of the names of its tools, and key of its breaker: `mcp__github`."""
    plain = re.sub(r"_+", "_", re.sub(r"[^A-Za-z0-9_-]", "_", name)).strip("_") or "server"
    stays = plain == name and len(plain) <= LONGEST_SERVER and not MARKED.search(plain)
    return PREFIX + (plain if stays else _marked(plain, name, LONGEST_SERVER))


def name_table(key: str, tools: Iterable[str]) -> dict[str, str]:
    """The tools of a server by the name that the model calls; each has exactly one.

    Args:
        key: of the server.
        tools: as the server calls them. One that it lists twice counts once.
    """
    tools = list(dict.fromkeys(tools))
    plain = {tool: f"{key}__{re.sub(r'[^A-Za-z0-9_-]', '_', tool)}" for tool in tools}
    return {name if _stays(key, tool, name) else _marked(name, tool, LONGEST): tool for tool, name in plain.items()}


def _stays(key: str, tool: str, plain: str) -> bool:
    """Whether the plain name of a tool serves, because only this tool can have it."""
    return bool(tool) and plain == f"{key}__{tool}" and len(plain) <= LONGEST and not MARKED.search(plain)


def _marked(plain: str, name: str, longest: int) -> str:
    digest = sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{plain[: longest - 9]}_{digest}"
