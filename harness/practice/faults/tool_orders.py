"""`/toolfault`: faults that the user orders for the next calls of a tool.

    grep timeout 3     the next three calls of grep run out of time
    all missing        the next call of any tool finds no program
    mcp:notes die      the MCP server notes is killed under the next call of a tool of it

Without an order a call passes straight through.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from harness.practice.faults.orders import FaultCommandResult, OrderError, cancelled, counted, nearest, overview
from harness.practice.faults.tool_faults import EVERY, ToolFault, ToolFaultKind, spoiled
from harness.practice.faults.words import DIE, OFF, SERVER, TOOL_KINDS, listed, server_of
from harness.tools.tool import Tool, ToolContext, ToolResult

ALL = "all"
"""In the place of a tool's name, as typed: every tool."""
SERVERS = f"  {SERVER}NAME for TOOL: any tool of an MCP server; {SERVER}NAME {DIE}: it is killed under the call"
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
class ToolFaultOrder:
    """Calls of a tool that are to go wrong."""

    tool: str
    """Its name, "all", or "mcp:" and the name of a server."""
    kind: str
    """One of TOOL_KINDS, or DIE."""
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
    def sentence(self) -> str:
        """The order as a sentence."""
        calls = "call" if self.times == 1 else f"{self.times:,} calls"
        tool = "any tool" if self.tool == ALL else self.tool
        return f"On purpose, for the next {calls} of {tool}: {TOOL_KINDS.get(self.kind, 'its server is killed')}."

    def hits(self, tool: Tool) -> bool:
        """A call of this tool goes wrong."""
        if self.tool.startswith(SERVER):
            return self.tool == server_of(tool.breaker)
        return self.tool in (ALL, tool.name)


def tool_order_of(text: str, tools: Collection[str]) -> ToolFaultOrder | None:
    """The order that was typed, for one of these tools; None for "off". Raises OrderError."""
    words = text.split()
    match words:
        case [word] if word.lower() == OFF:
            return None
        case [tool, kind]:
            times = "1"
        case [tool, kind, times]:
            pass
        case _:
            raise OrderError(f"{text.strip()!r} is not valid; type for example /toolfault grep timeout 3.")
    tool = ALL if tool in (ALL, EVERY) else tool
    if tool != ALL and tool not in tools:
        raise OrderError(f"There is no tool called {tool}; {nearest(tool, tools)}")
    if kind.lower() == DIE and not tool.startswith((SERVER, "mcp__")):
        raise OrderError(f"Only an MCP server can die; type for example /toolfault {SERVER}NAME {DIE}.")
    if kind.lower() not in (*TOOL_KINDS, DIE):
        raise OrderError(f"There is no tool fault {kind!r}; {nearest(kind.lower(), TOOL_KINDS)}")
    return ToolFaultOrder(tool, kind.lower(), counted(times))


class ToolFaultQueue:
    """The ordered faults that wait for their calls."""

    def __init__(self) -> None:
        self._waiting: list[ToolFaultOrder] = []

    @property
    def waiting(self) -> tuple[ToolFaultOrder, ...]:
        """The orders in the queue, with the calls they are still for."""
        return tuple(self._waiting)

    def add(self, order: ToolFaultOrder) -> None:
        """Append an order."""
        self._waiting.append(order)

    def cancel(self) -> int:
        """Remove all orders; returns how many calls they were still for."""
        left = sum(order.times for order in self._waiting)
        self._waiting.clear()
        return left

    async def run(self, tool: Tool, context: ToolContext, arguments: Any) -> ToolResult:
        """Call a tool, with the first fault ordered for it."""
        order = self._take(tool) if self._waiting else None
        if order is None:
            return await tool.run(context, arguments)
        if order.kind == DIE and tool.die is not None:
            return await tool.die()
        return await spoiled(order.fault, lambda: tool.run(context, arguments))

    def _take(self, tool: Tool) -> ToolFaultOrder | None:
        """The first order for a call of this tool, with one call less left of it."""
        for place, order in enumerate(self._waiting):
            if order.hits(tool):
                left = replace(order, times=order.times - 1)
                self._waiting[place : place + 1] = [left] if left.times else []
                return order
        return None


def break_tool(text: str, orders: ToolFaultQueue, tools: Collection[str]) -> FaultCommandResult:
    """Carry out `/toolfault` for one of these tools. Raises OrderError."""
    if not text.strip():
        usage = "/toolfault TOOL KIND [n], such as /toolfault grep timeout 3; /toolfault off ends it."
        return FaultCommandResult(
            overview((*listed(TOOL_KINDS), SERVERS), (order.text for order in orders.waiting), usage)
        )
    order = tool_order_of(text, tools)
    if order is None:
        return cancelled(orders.cancel(), "call")
    orders.add(order)
    return FaultCommandResult(order.sentence, order.text)
