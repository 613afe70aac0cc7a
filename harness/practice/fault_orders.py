"""`/fault`: what a person orders to go wrong with the next requests. Words in, orders out; nothing is played here.

    529 3              the next three requests are answered with status 529
    429 2 after 5      two with status 429, which says to come again after 5 seconds
    cut tool           the next reply with a tool call ends in the middle of it

An order is a fault as scripts have them, and stands before the script: no entry is used, so that a client which tries
again gets what it would have got.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from enum import Enum, auto
from itertools import takewhile
from types import MappingProxyType

from harness.base.errors import HarnessError
from harness.practice import faults
from harness.practice.fault_words import MODEL_KINDS, OFF
from harness.practice.faults import StatusFault, StreamFault
from harness.practice.replies import ScriptedReply, Text

MOST = 1_000
"""Requests of one order."""
LONGEST_S = 86_400.0
"""A retry-after of one order."""
_HYPHEN = re.compile(r"(?<=[a-z])-(?=[a-z])")


class OrderError(HarnessError):
    """An order that is not understood. `str(error)` says what can be typed instead."""

    exit_code = 2


class Strikes(Enum):
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
class Order:
    """Something to go wrong."""

    kind: str
    """One of MODEL_KINDS."""
    action: Action
    times: int = 1
    """How many requests it is for."""
    strikes: Strikes = Strikes.ANY
    after_s: float | None = None
    """The retry-after of its answers, where it was given."""

    @property
    def text(self) -> str:
        """The order as it is typed."""
        times = f" {self.times}" if self.times != 1 else ""
        return f"{self.kind}{times}" + ("" if self.after_s is None else f" after {self.after_s:g}")

    @property
    def told(self) -> str:
        """The order as a sentence."""
        which = {Strikes.TEXT: "with text", Strikes.CALL: "with a tool call"}.get(self.strikes, "")
        one, many = (f"reply {which}", f"replies {which}") if which else ("request", "requests")
        next_ones = f"the next {one}" if self.times == 1 else f"the next {self.times:,} {many}"
        what = MODEL_KINDS[self.kind].partition(";")[0]
        when = "" if self.after_s is None else f"; it asks to come again in {self.after_s:g} s"
        return f"On purpose, for {next_ones}: {what}{when}."


def order_of(text: str) -> Order | None:
    """The order that was typed; None for "off". Raises OrderError, one sentence, for what is not understood."""
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
            raise OrderError(f"{' '.join(rest)!r} is not understood; type for example /fault 429 2 after 5.")
    return _order(kind, times, _seconds(rest[-1]) if "after" in rest else None)


def counted(text: str) -> int:
    """How often something is to go wrong. Raises OrderError for what is no such number."""
    if not (text.isascii() and text.isdigit()) or not 1 <= int(text) <= MOST:
        raise OrderError(f"{text!r} is no number of times; type one from 1 to {MOST:,}.")
    return int(text)


def nearest(word: str, known: Mapping[str, object]) -> str:
    """The end of a sentence about a word that is not known."""
    near = get_close_matches(word, known, n=1, cutoff=0.4)
    return f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}."


def _order(kind: str, times: int, after_s: float | None) -> Order:
    action = _ACTIONS[kind]
    if after_s is None:
        return Order(kind, action, times, _STRIKES.get(kind, Strikes.ANY))
    if not isinstance(action, StatusFault):
        raise OrderError(f"{kind} says nothing of when to come again; `after` is for the numbers, such as 429.")
    action = replace(action, headers={"retry-after": f"{after_s:g}"})
    return Order(kind, action, times, _STRIKES.get(kind, Strikes.ANY), after_s)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds <= LONGEST_S:  # which NaN is not either
        raise OrderError(f"{text!r} is no number of seconds; type for example /fault 429 2 after 5.")
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
        "cut-tool": faults.CutTool(characters=5),
        "garbage-tool": faults.ToolJson(),
        "stall": faults.Stall(),
        "stall-headers": faults.Stall("headers"),
        "pause": faults.Stall(seconds=2.0),
        "pings": faults.PingsOnly(),
        "reset": faults.Reset(),
        "reset-headers": faults.Reset("headers"),
        "end": faults.CleanEnd(),
        "garbage": faults.BadJson(),
        "error": faults.ErrorEvent(),
        "html": faults.HtmlBody(),
        "nothing": faults.CleanEnd(0),
        "empty": ScriptedReply(),
        "refusal": ScriptedReply((Text("I would rather not"),), stop_reason="refusal"),
        "repeat": ScriptedReply((Text("There is no such file. " + _ROUND * 60),)),
    }
)
_STRIKES: Mapping[str, Strikes] = MappingProxyType(
    dict.fromkeys(("413", "too-long", "image", "empty", "refusal", "repeat"), Strikes.TURN)
    | {"cut": Strikes.TEXT}
    | dict.fromkeys(("cut-tool", "garbage-tool"), Strikes.CALL)
)
"""What other requests than any a kind is for."""
