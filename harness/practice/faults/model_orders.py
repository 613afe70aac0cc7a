"""`/fault`: faults that the user orders for the next requests.

    529 3              the next three requests are answered with status 529
    429 2 after 5      two with status 429, which says to come again after 5 seconds
    cut tool           the next reply with a tool call ends in the middle of it

An order comes before the script and uses none of its entries, so a client that retries loses nothing.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import Enum, auto
from itertools import takewhile
from types import MappingProxyType

from harness.events import Json
from harness.practice.faults import model_faults
from harness.practice.faults.model_faults import StatusFault, StreamFault
from harness.practice.faults.orders import FaultCommandResult, OrderError, cancelled, counted, nearest, overview
from harness.practice.faults.words import MODEL_KINDS, OFF, listed
from harness.practice.requests import Purpose, purpose
from harness.practice.script.entries import PlayReply
from harness.practice.wire.replies import Part, ScriptedReply, TextPart, ToolUse

LONGEST_S = 86_400.0
"""A retry-after of one order."""
_HYPHEN = re.compile(r"(?<=[a-z])-(?=[a-z])")


class AppliesTo(Enum):
    """Which requests an order is for. One that it is not for leaves it waiting."""

    ANY = auto()
    TURN = auto()
    """Those of the conversation, not those for a summary of it."""
    TEXT = auto()
    """Those of the conversation whose reply says something."""
    CALL = auto()
    """Those of the conversation whose reply calls a tool with something in its input."""


@dataclass(frozen=True, slots=True)
class Cut:
    """The reply that would come ends early: after its n-th part, if the order is the n-th of so many cuts."""


Action = StatusFault | StreamFault | ScriptedReply | Cut
"""What an order does: an answer of its own, a fault in the reply that would come, or a reply in its place."""


@dataclass(frozen=True, slots=True)
class FaultOrder:
    """An ordered fault."""

    kind: str
    """One of MODEL_KINDS."""
    action: Action
    times: int = 1
    """How many requests it is for."""
    strikes: AppliesTo = AppliesTo.ANY
    after_s: float | None = None
    """The retry-after of its answers, where it was given."""

    @property
    def text(self) -> str:
        """The order as it is typed."""
        times = f" {self.times}" if self.times != 1 else ""
        return f"{self.kind}{times}" + ("" if self.after_s is None else f" after {self.after_s:g}")

    @property
    def sentence(self) -> str:
        """The order as a sentence."""
        which = {AppliesTo.TEXT: "with text", AppliesTo.CALL: "with a tool call"}.get(self.strikes, "")
        one, many = (f"reply {which}", f"replies {which}") if which else ("request", "requests")
        next_ones = f"the next {one}" if self.times == 1 else f"the next {self.times:,} {many}"
        what = MODEL_KINDS[self.kind].partition(";")[0]
        when = "" if self.after_s is None else f"; it asks to wait {self.after_s:g} s"
        return f"On purpose, for {next_ones}: {what}{when}."


def order_of(text: str) -> FaultOrder | None:
    """The order that was typed; None for "off". Raises OrderError."""
    words = _HYPHEN.sub(" ", text.lower()).split()
    named = words[:1] + list(takewhile(lambda word: word.isalpha() and word != "after", words[1:]))
    kind, rest = "-".join(named), words[len(named) :]
    if kind == OFF and not rest:
        return None
    if kind not in MODEL_KINDS:
        raise OrderError(f"There is no fault called {' '.join(named)!r}; {nearest(kind, MODEL_KINDS)}")
    match rest:
        case [] | ["after", _]:
            times = 1
        case [number] | [number, "after", _]:
            times = counted(number)
        case _:
            raise OrderError(f"{' '.join(rest)!r} is not valid; type for example /fault 429 2 after 5.")
    return _order(kind, times, _seconds(rest[-1]) if "after" in rest else None)


def _order(kind: str, times: int, after_s: float | None) -> FaultOrder:
    action = _ACTIONS[kind]
    if after_s is None:
        return FaultOrder(kind, action, times, _STRIKES.get(kind, AppliesTo.ANY))
    if not isinstance(action, StatusFault):
        raise OrderError(f"{kind} has no wait; `after` is for status codes, such as 429.")
    action = replace(action, headers={"retry-after": f"{after_s:g}"})
    return FaultOrder(kind, action, times, _STRIKES.get(kind, AppliesTo.ANY), after_s)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds <= LONGEST_S:  # which NaN is not either
        raise OrderError(f"{text!r} is not a number of seconds; type for example /fault 429 2 after 5.")
    return seconds


_ROUND = "I will look at it once more, then at the place next to it, and then at the first one again. "
_ACTIONS: Mapping[str, Action] = MappingProxyType(
    {
        "529": StatusFault(529),
        "429": StatusFault(429, headers={"retry-after": "1"}),
        "500": StatusFault(500),
        "502": StatusFault(502, body="<html><body><h1>502 Bad Gateway</h1></body></html>"),
        "503": StatusFault(503, body="upstream connect error or disconnect/reset before headers"),
        "504": StatusFault(504),
        "400": StatusFault(400, message="This request cannot be answered."),
        "401": StatusFault(401),
        "403": StatusFault(403),
        "404": StatusFault(404, message="model: practice-0"),
        "413": StatusFault(413),
        "too-long": StatusFault(400, message="prompt is too long: 210000 tokens > 200000 maximum"),
        "image": StatusFault(400, message="messages.0.content.0: Could not process image"),
        "cut": Cut(),
        "cut-tool": model_faults.CutTool(characters=5),
        "garbage-tool": model_faults.ToolJson(),
        "stall": model_faults.Stall(),
        "stall-headers": model_faults.Stall("headers"),
        "pause": model_faults.Stall(seconds=2.0),
        "pings": model_faults.PingsOnly(),
        "reset": model_faults.Reset(),
        "reset-headers": model_faults.Reset("headers"),
        "end": model_faults.CleanEnd(),
        "garbage": model_faults.BadJson(),
        "error": model_faults.ErrorEvent(),
        "html": model_faults.HtmlBody(),
        "nothing": model_faults.CleanEnd(0),
        "empty": ScriptedReply(),
        "refusal": ScriptedReply((TextPart("I would rather not"),), stop_reason="refusal"),
        "repeat": ScriptedReply((TextPart("There is no such file. " + _ROUND * 60),)),
    }
)
_STRIKES: Mapping[str, AppliesTo] = MappingProxyType(
    dict.fromkeys(("413", "too-long", "image", "empty", "refusal", "repeat"), AppliesTo.TURN)
    | {"cut": AppliesTo.TEXT}
    | dict.fromkeys(("cut-tool", "garbage-tool"), AppliesTo.CALL)
)
"""What other requests than any a kind is for."""


NextReply = Callable[[], ScriptedReply | None]
"""The reply that a request would get; None: it would get none."""


class FaultQueue:
    """The first order that is for a request answers it, or spoils its answer."""

    def __init__(self) -> None:
        self._waiting: list[_QueuedFault] = []

    @property
    def waiting(self) -> tuple[FaultOrder, ...]:
        """The orders in the queue, with the requests they are still for."""
        return tuple(queued.left for queued in self._waiting)

    def add(self, order: FaultOrder) -> None:
        """Append an order."""
        self._waiting.append(_QueuedFault(order))

    def cancel(self) -> int:
        """Remove all orders; returns how many requests they were still for."""
        left = sum(order.times for order in self.waiting)
        self._waiting.clear()
        return left

    def next(self, body: Json, coming: NextReply) -> PlayReply | StatusFault | None:
        """The answer that an order gives to a request; None: no order applies."""
        for queued in self._waiting:
            if (answer := queued.answer(body, coming)) is not None:
                queued.used += 1
                if queued.used == queued.order.times:
                    self._waiting.remove(queued)
                return answer
        return None


class _QueuedFault:
    """An order, and how often it was carried out."""

    def __init__(self, order: FaultOrder) -> None:
        self.order = order
        self.used = 0

    @property
    def left(self) -> FaultOrder:
        return replace(self.order, times=self.order.times - self.used)

    def answer(self, body: Json, coming: NextReply) -> PlayReply | StatusFault | None:
        order = self.order
        if order.strikes is not AppliesTo.ANY and purpose(body) is not Purpose.TURN:
            return None
        match order.action:
            case StatusFault() as fault:
                return fault
            case ScriptedReply() as reply:
                return PlayReply(reply)
            case action:
                reply_coming = coming()
                if reply_coming is None or not _strikes(order.strikes, reply_coming):
                    return None
                if isinstance(action, Cut):
                    return PlayReply(cut(reply_coming, (self.used + 1) / (order.times + 1)))
                return PlayReply(reply_coming, action)


def cut(reply: ScriptedReply, share: float) -> ScriptedReply:
    """The reply, cut at max_tokens after this share of its text and without its tool calls."""
    room = max(1, round(share * sum(len(part.text) for part in reply.parts if isinstance(part, TextPart))))
    parts: list[Part] = []
    for part in reply.parts:
        if isinstance(part, ToolUse) or room <= 0:
            break
        if isinstance(part, TextPart):
            parts.append(TextPart(part.text[:room]))
            room -= len(part.text)
        else:
            parts.append(part)
    return replace(reply, parts=tuple(parts), stop_reason="max_tokens")


def _strikes(strikes: AppliesTo, reply: ScriptedReply) -> bool:
    match strikes:
        case AppliesTo.TEXT:
            return any(isinstance(part, TextPart) and part.text for part in reply.parts)
        case AppliesTo.CALL:
            calls = (part for part in reply.parts if isinstance(part, ToolUse))
            return any(call.input or call.raw_input for call in calls)
        case _:
            return True


# ── the command /fault ─────────────────────────────────────────────────────────────────────────────


def break_model(text: str, orders: FaultQueue) -> FaultCommandResult:
    """Carry out `/fault`. Raises OrderError."""
    if not text.strip():
        usage = "/fault KIND [n] [after SECONDS], such as /fault 529 3; /fault off ends it."
        return FaultCommandResult(overview(listed(MODEL_KINDS), (order.text for order in orders.waiting), usage))
    order = order_of(text)
    if order is None:
        return cancelled(orders.cancel(), "request")
    orders.add(order)
    return FaultCommandResult(order.sentence, order.text)
