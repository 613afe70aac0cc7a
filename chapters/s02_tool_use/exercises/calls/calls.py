"""The tool calls of one reply and their results."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Block = dict[str, Any]
"""A `tool_use` block has an `id`, the `name` of a tool and its `input`, a dict. Other blocks have another `type`."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that the model may call."""

    run: Callable[..., Awaitable[str]]
    """Takes the arguments by name. Returns the text for the model, or raises."""
    takes: Mapping[str, type]
    """The arguments and their types. All are required."""
    reads: bool
    """Whether it is read-only and may run at the same time as other such tools."""


def complaint(name: str, tool: Tool, given: Mapping[str, Any]) -> str:
    """The error in the arguments of a call, as a sentence for the model; empty if there is none."""
    if given.keys() != tool.takes.keys():
        return f"{name} takes {', '.join(tool.takes)}, and was given {', '.join(given) or 'nothing'}."
    for argument, wanted in tool.takes.items():
        if type(given[argument]) is not wanted:
            return f"{argument} of {name} has to be of type {wanted.__name__}."
    return ""


async def answers(reply: Sequence[Block], tools: Mapping[str, Tool]) -> list[Block]:
    """The blocks of the one user message that answers a reply; `tools` by their names."""
    # ── your part begins ─────────────────────────────────────────────
    return []
    # ── your part ends ───────────────────────────────────────────────
