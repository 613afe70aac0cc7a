"""Which requests an entry of a script, or its faults at random, are for."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random

from harness.events import Json
from harness.practice.faults import model_faults
from harness.practice.faults.model_faults import Fault, StatusFault, StreamFault
from harness.practice.requests import Purpose, last_text, purpose, tool_names
from harness.practice.wire.replies import ScriptedReply


@dataclass(frozen=True, slots=True)
class When:
    """Which requests something is for. All that is given must fit."""

    text: str | None = None
    """Must be part of the last user message: of its text, or of its tool results where it has no text."""
    purpose: Purpose | None = None
    model: str | None = None
    """Must be part of the model's name."""
    offers: str | None = None
    """The name of a tool that the request must offer. The agent of a session offers `agent`, which its agents lack."""
    lacks: str | None = None
    """The name of a tool that the request must not offer."""

    def fits(self, body: Json) -> bool:
        """Whether it is for this request."""
        return (
            (self.text is None or self.text in last_text(body))
            and (self.purpose is None or self.purpose is purpose(body))
            and (self.model is None or self.model in str(body.get("model")))
            and (self.offers is None or _offers(body, self.offers))
            and not (self.lacks and _offers(body, self.lacks))
        )


def _offers(body: Json, tool: str) -> bool:
    """Whether a request offers a tool."""
    return tool in tool_names(body)


@dataclass(frozen=True, slots=True)
class PlayReply:
    """Answer with a reply, whole or with a fault in it."""

    reply: ScriptedReply | None = None
    """None: the model behind answers, that is the rule-based model, or the upstream server of a proxy."""
    fault: StreamFault | None = None


@dataclass(frozen=True, slots=True)
class ScriptEntry:
    """One entry of a script."""

    action: PlayReply | StatusFault
    times: int | None = 1
    """How many requests it answers; None: any number."""
    when: When | None = None
    """None: the entry takes its turn in the list. Otherwise it waits aside for a request that fits."""


MIX: Mapping[str, Callable[[int], Fault]] = {
    "overloaded": lambda at: StatusFault(529),
    "rate_limit": lambda at: StatusFault(429, headers={"retry-after": "1"}),
    "server_error": lambda at: StatusFault(500),
    "bad_gateway": lambda at: StatusFault(502, body="<html><body><h1>502 Bad Gateway</h1></body></html>"),
    "unavailable": lambda at: StatusFault(503, body="upstream connect error or disconnect/reset before headers"),
    "error_event": model_faults.ErrorEvent,
    "reset": model_faults.Reset,
    "cut_chunk": model_faults.CutChunk,
    "clean_end": model_faults.CleanEnd,
    "empty_stream": lambda at: model_faults.CleanEnd(0),
    "bad_json": model_faults.BadJson,
    "cut_tool": lambda at: model_faults.CutTool(at, "end"),
    "no_answer": lambda at: model_faults.Reset("headers"),
    "stall": model_faults.Stall,
    "pings_only": model_faults.PingsOnly,
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
    """Names from `MIX`, each as likely as the others; a name may appear twice."""
    when: When | None = None
    """Which requests it is for; None: all."""

    def dice(self) -> "Dice":
        """The random sequence of this chance, from its start."""
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
