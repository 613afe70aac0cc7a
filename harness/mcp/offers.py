"""What a server offers: its tools, prompts and resources as it describes them, within our limits."""

from dataclasses import dataclass
from typing import Any, Literal

from harness.events import Json
from harness.tools.tool import shorten_line

LONGEST_DESCRIPTION = 2_048
"""Characters of the description of a tool, and of the instructions of a server."""


@dataclass(frozen=True, slots=True)
class ServerTool:
    """A tool as a server describes it, within our limits."""

    name: str
    description: str
    schema: Json
    read_only: bool = False
    """It says that it changes nothing; a hint."""
    destructive: bool = False
    """It says that it may destroy something."""
    idempotent: bool = False


@dataclass(frozen=True, slots=True)
class ServerPrompt:
    """A prompt as a server describes it, within our limits."""

    name: str
    description: str
    arguments: tuple[str, ...] = ()
    """Their names, in order."""
    required: frozenset[str] = frozenset()
    """The names of those that have to be given."""

    @property
    def hint(self) -> str:
        """The arguments as a usage shows them."""
        return " ".join(one if one in self.required else f"[{one}]" for one in self.arguments)


@dataclass(frozen=True, slots=True)
class ServerResource:
    """What a server offers to read."""

    uri: str
    """Of a template with gaps in braces."""
    about: str
    """Name and description in one line."""


Offer = Literal["tools", "prompts", "resources"]
"""A list of a server."""


def described_tool(tool: Any) -> ServerTool:
    """The tool for an `mcp.types.Tool`."""
    hints = tool.annotations
    description = (tool.description or tool.title or (hints and hints.title) or tool.name).strip()
    if len(description) > LONGEST_DESCRIPTION:
        description = f"{description[: LONGEST_DESCRIPTION - 1]}…"
    schema = {"type": "object", **tool.input_schema}
    schema.pop("$schema", None)
    read_only = bool(hints and hints.read_only_hint)
    return ServerTool(
        *(tool.name, description, schema, read_only),
        destructive=not read_only and bool(hints and hints.destructive_hint),
        idempotent=read_only or bool(hints and hints.idempotent_hint),
    )


def described_prompt(prompt: Any) -> ServerPrompt:
    """The prompt for an `mcp.types.Prompt`."""
    given = prompt.arguments or ()
    about = " ".join((prompt.description or prompt.title or prompt.name).split())[:LONGEST_DESCRIPTION]
    required = frozenset(one.name for one in given if one.required)
    return ServerPrompt(prompt.name, about, tuple(one.name for one in given), required)


def described_resource(one: Any) -> ServerResource:
    """The resource for an `mcp.types.Resource` or `ResourceTemplate`."""
    about = shorten_line(f"{one.name} {one.description or one.title or ''}")
    return ServerResource(str(getattr(one, "uri", None) or one.uri_template), about)
