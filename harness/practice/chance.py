"""Faults at random, from a seed: the same seed and the same requests give the same faults."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random

from harness.practice import faults
from harness.practice.conditions import When
from harness.practice.faults import Fault, StatusFault

MIX: Mapping[str, Callable[[int], Fault]] = {
    "overloaded": lambda at: StatusFault(529),
    "rate_limit": lambda at: StatusFault(429, headers={"retry-after": "1"}),
    "server_error": lambda at: StatusFault(500),
    "bad_gateway": lambda at: StatusFault(502, body="<html><body><h1>502 Bad Gateway</h1></body></html>"),
    "unavailable": lambda at: StatusFault(503, body="upstream connect error or disconnect/reset before headers"),
    "error_event": faults.ErrorEvent,
    "reset": faults.Reset,
    "cut_chunk": faults.CutChunk,
    "clean_end": faults.CleanEnd,
    "empty_stream": lambda at: faults.CleanEnd(0),
    "bad_json": faults.BadJson,
    "cut_tool": lambda at: faults.CutTool(at, "end"),
    "no_answer": lambda at: faults.Reset("headers"),
    "stall": faults.Stall,
    "pings_only": faults.PingsOnly,
    "refused": lambda at: StatusFault(400, message="This request cannot be answered."),
}
"""The faults that can be thrown in, by name, each struck after a number of events."""

USUAL = tuple(name for name in MIX if name not in ("stall", "pings_only", "refused"))
"""The mix when none is chosen: all but those that take a client's whole patience, or that no patience helps against."""


@dataclass(frozen=True, slots=True)
class Chance:
    """How often a fault is thrown in, and which."""

    probability: float
    """Of a fault in one request, from 0 to 1."""
    seed: int = 0
    mix: tuple[str, ...] = USUAL
    """Names from `MIX`, each as likely as the others; a name may stand twice."""
    when: When | None = None
    """Which requests it is for; None: all."""

    def dice(self) -> "Dice":
        """The random sequence that this chance stands for, from its beginning."""
        return Dice(self)


class Dice:
    """Throws once for each request."""

    def __init__(self, chance: Chance) -> None:
        self._chance = chance
        self._random = Random(chance.seed)

    def throw(self) -> Fault | None:
        """The fault for the next request, or None."""
        hit = self._random.random() < self._chance.probability
        name = self._random.choice(self._chance.mix)
        at = self._random.randint(1, 8)
        return MIX[name](at) if hit else None
