"""What `/fault` and `/toolfault` do: list, order, or call off; and the sentence that comes of it."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from harness.practice.fault_orders import order_of
from harness.practice.fault_words import MODEL_KINDS, OFF, TOOL_KINDS, listed
from harness.practice.pending_faults import Orders
from harness.practice.tool_fault_orders import ToolOrders, tool_order_of


@dataclass(frozen=True, slots=True)
class Broken:
    """What came of it."""

    said: str
    """For the person; one sentence, or the list."""
    ordered: str = ""
    """What changed, as it is typed: "529 3", or "off". Empty: nothing did."""


def break_model(text: str, orders: Orders) -> Broken:
    """Order what a person typed after `/fault`. Raises OrderError, one sentence, for what is not understood."""
    if not text.strip():
        usage = "/fault KIND [n] [after SECONDS], such as /fault 529 3; /fault off ends it."
        return Broken(_list(listed(MODEL_KINDS), (order.text for order in orders.waiting), usage))
    order = order_of(text)
    if order is None:
        return _called_off(orders.cancel(), "request")
    orders.add(order)
    return Broken(order.told, order.text)


def break_tool(text: str, orders: ToolOrders, tools: Collection[str]) -> Broken:
    """Order what a person typed after `/toolfault`, for one of these tools. Raises OrderError, one sentence."""
    if not text.strip():
        usage = "/toolfault TOOL KIND [n], such as /toolfault grep timeout 3; /toolfault off ends it."
        return Broken(_list(listed(TOOL_KINDS), (order.text for order in orders.waiting), usage))
    order = tool_order_of(text, tools)
    if order is None:
        return _called_off(orders.cancel(), "call")
    orders.add(order)
    return Broken(order.told, order.text)


def _list(kinds: Sequence[str], waiting: Iterable[str], usage: str) -> str:
    waits = ", ".join(waiting)
    return "\n".join((*kinds, f"waiting: {waits or 'nothing'}", usage))


def _called_off(left: int, what: str) -> Broken:
    if not left:
        return Broken("Nothing was ordered to go wrong.")
    return Broken(f"Called off; {left:,} {what}{'s' * (left != 1)} would have gone wrong.", OFF)
