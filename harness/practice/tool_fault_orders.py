"""`/toolfault`: what a person orders to go wrong with the next calls of a tool, while an agent works with it.

    grep timeout 3     the next three calls of grep run out of time
    all missing        the next call of any tool finds no program

The tools are wrapped once, when an agent is made. As long as nothing was ordered a call goes straight through.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import partial
from types import MappingProxyType
from typing import Any

from harness.practice.fault_orders import OrderError, counted, nearest
from harness.practice.fault_words import OFF, TOOL_KINDS
from harness.practice.tool_faults import EVERY, ToolFault, ToolFaultKind, spoiled
from harness.tools.tool import Tool, ToolContext, ToolResult

ALL = "all"
"""In the place of a tool's name, as people type it: every tool."""
SLOW_S = 2.0
"""Seconds of a slow call: long enough to be seen."""

_KINDS: Mapping[str, ToolFaultKind] = MappingProxyType(
    {
        **{kind: ToolFaultKind(kind) for kind in TOOL_KINDS if kind in tuple(ToolFaultKind)},
        "missing": ToolFaultKind.CANNOT_START,
        "refused": ToolFaultKind.TRANSPORT,
    }
)


@dataclass(frozen=True, slots=True)
class ToolOrder:
    """Calls of a tool that are to go wrong."""

    tool: str
    """Its name, or "all"."""
    kind: str
    """One of TOOL_KINDS."""
    times: int = 1

    @property
    def fault(self) -> ToolFault:
        """What happens to such a call."""
        fault = ToolFault(EVERY if self.tool == ALL else self.tool, _KINDS[self.kind])
        return replace(fault, seconds=SLOW_S) if fault.kind is ToolFaultKind.SLOW else fault

    @property
    def text(self) -> str:
        """The order as it is typed."""
        return f"{self.tool} {self.kind}" + (f" {self.times}" if self.times != 1 else "")

    @property
    def told(self) -> str:
        """The order as a sentence."""
        calls = "call" if self.times == 1 else f"{self.times:,} calls"
        tool = "any tool" if self.tool == ALL else self.tool
        return f"On purpose, for the next {calls} of {tool}: {TOOL_KINDS[self.kind]}."


def tool_order_of(text: str, tools: Collection[str]) -> ToolOrder | None:
    """The order that was typed, for one of these tools; None for "off". Raises OrderError, one sentence."""
    words = text.split()
    match words:
        case [word] if word.lower() == OFF:
            return None
        case [tool, kind]:
            times = "1"
        case [tool, kind, times]:
            pass
        case _:
            raise OrderError(f"{text.strip()!r} is not understood; type for example /toolfault grep timeout 3.")
    tool = ALL if tool in (ALL, EVERY) else tool
    if tool != ALL and tool not in tools:
        near = get_close_matches(tool, tools, n=1, cutoff=0.4)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(tools)}."
        raise OrderError(f"There is no tool called {tool}; {hint}")
    if kind.lower() not in TOOL_KINDS:
        raise OrderError(f"There is no fault of a tool called {kind!r}; {nearest(kind.lower(), TOOL_KINDS)}")
    return ToolOrder(tool, kind.lower(), counted(times))


class ToolOrders:
    """What waits for the calls that it is for."""

    def __init__(self) -> None:
        self._waiting: list[ToolOrder] = []

    @property
    def waiting(self) -> tuple[ToolOrder, ...]:
        """What waits, with the number of calls that are left of it."""
        return tuple(self._waiting)

    def add(self, order: ToolOrder) -> None:
        """Let calls go wrong, after what waits already."""
        self._waiting.append(order)

    def cancel(self) -> int:
        """Let nothing go wrong any more; returns how many calls were waited for."""
        left = sum(order.times for order in self._waiting)
        self._waiting.clear()
        return left

    def applied(self, tools: Iterable[Tool]) -> tuple[Tool, ...]:
        """The same tools, which go wrong from now on as ordered."""
        return tuple(replace(tool, run=partial(self._run, tool)) for tool in tools)

    async def _run(self, tool: Tool, context: ToolContext, arguments: Any) -> ToolResult:
        order = self._take(tool.name) if self._waiting else None
        if order is None:
            return await tool.run(context, arguments)
        return await spoiled(order.fault, lambda: tool.run(context, arguments))

    def _take(self, tool: str) -> ToolOrder | None:
        """The first order for a call of this tool, with one call less left of it."""
        for place, order in enumerate(self._waiting):
            if order.tool in (ALL, tool):
                left = replace(order, times=order.times - 1)
                self._waiting[place : place + 1] = [left] if left.times else []
                return order
        return None
