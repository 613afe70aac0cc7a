"""What was ordered to go wrong and waits for the requests that it is for. Stands before the script of a server."""

from collections.abc import Callable
from dataclasses import replace

from harness.events import Json
from harness.practice.fault_orders import Cut, Order, Strikes
from harness.practice.faults import StatusFault
from harness.practice.replies import Part, ScriptedReply, Text, ToolUse
from harness.practice.requests import Purpose, purpose
from harness.practice.step import Play

Coming = Callable[[], ScriptedReply | None]
"""The reply that a request would get; None: it would get none."""


class Orders:
    """The first order that is for a request answers it, or spoils its answer."""

    def __init__(self) -> None:
        self._waiting: list[_Standing] = []

    @property
    def waiting(self) -> tuple[Order, ...]:
        """What waits, with the number of requests that are left of it."""
        return tuple(standing.left for standing in self._waiting)

    def add(self, order: Order) -> None:
        """Let something go wrong, after what waits already."""
        self._waiting.append(_Standing(order))

    def cancel(self) -> int:
        """Let nothing go wrong any more; returns how many requests were waited for."""
        left = sum(order.times for order in self.waiting)
        self._waiting.clear()
        return left

    def next(self, body: Json, coming: Coming) -> Play | StatusFault | None:
        """What becomes of a request; None: nothing that was ordered is for it."""
        for standing in self._waiting:
            if (answer := standing.answer(body, coming)) is not None:
                standing.used += 1
                if standing.used == standing.order.times:
                    self._waiting.remove(standing)
                return answer
        return None


class _Standing:
    """An order, and how often it was carried out."""

    def __init__(self, order: Order) -> None:
        self.order = order
        self.used = 0

    @property
    def left(self) -> Order:
        return replace(self.order, times=self.order.times - self.used)

    def answer(self, body: Json, coming: Coming) -> Play | StatusFault | None:
        order = self.order
        if order.strikes is not Strikes.ANY and purpose(body) is not Purpose.TURN:
            return None
        match order.action:
            case StatusFault() as fault:
                return fault
            case ScriptedReply() as reply:
                return Play(reply)
            case action:
                reply_coming = coming()
                if reply_coming is None or not _strikes(order.strikes, reply_coming):
                    return None
                if isinstance(action, Cut):
                    return Play(cut(reply_coming, (self.used + 1) / (order.times + 1)))
                return Play(reply_coming, action)


def cut(reply: ScriptedReply, share: float) -> ScriptedReply:
    """The reply as it is when its tokens run out after this share of its text; tool calls come no more."""
    room = max(1, round(share * sum(len(part.text) for part in reply.parts if isinstance(part, Text))))
    parts: list[Part] = []
    for part in reply.parts:
        if isinstance(part, ToolUse) or room <= 0:
            break
        if isinstance(part, Text):
            parts.append(Text(part.text[:room]))
            room -= len(part.text)
        else:
            parts.append(part)
    return replace(reply, parts=tuple(parts), stop_reason="max_tokens")


def _strikes(strikes: Strikes, reply: ScriptedReply) -> bool:
    match strikes:
        case Strikes.TEXT:
            return any(isinstance(part, Text) and part.text for part in reply.parts)
        case Strikes.CALL:
            calls = (part for part in reply.parts if isinstance(part, ToolUse))
            return any(call.input or call.raw_input for call in calls)
        case _:
            return True
