"""The tool calls of one reply, and what the model is told about them."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
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
    """What is wrong with the arguments of a call, in a sentence for the model; empty where nothing is."""
    if given.keys() != tool.takes.keys():
        return f"{name} takes {', '.join(tool.takes)}, and was given {', '.join(given) or 'nothing'}."
    for argument, wanted in tool.takes.items():
        if type(given[argument]) is not wanted:
            return f"{argument} of {name} has to be of type {wanted.__name__}."
    return ""


async def answers(reply: Sequence[Block], tools: Mapping[str, Tool]) -> list[Block]:
    """The blocks of the one user message that answers a reply; `tools` by their names."""
    # ── your part begins ─────────────────────────────────────────────
    calls = [block for block in reply if block["type"] == "tool_use"]
    results: list[Block] = []
    for reading, group in groupby(calls, key=lambda call: call["name"] in tools and tools[call["name"]].reads):
        if reading:
            results += await asyncio.gather(*(_answer(call, tools) for call in group))
        else:
            results += [await _answer(call, tools) for call in group]
    return results


async def _answer(call: Block, tools: Mapping[str, Tool]) -> Block:
    name, given = call["name"], call["input"]
    result = {"type": "tool_result", "tool_use_id": call["id"]}
    if name not in tools:
        return result | {"content": f"No tool is called {name}; take {', '.join(tools)}.", "is_error": True}
    if why := complaint(name, tools[name], given):
        return result | {"content": why, "is_error": True}
    try:
        return result | {"content": await tools[name].run(**given)}
    except Exception as error:  # noqa: BLE001  border: whatever a tool raises is told to the model
        return result | {"content": f"{name} failed with {error!r}", "is_error": True}
    # ── your part ends ───────────────────────────────────────────────
