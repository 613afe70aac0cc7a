"""What the tests of the policy are made of: ordinary facts, replies and faults, and a turn played through."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import repeat
from typing import Any

from harness.events import (
    Block,
    CutCall,
    Fault,
    FaultKind,
    Outcome,
    Reply,
    ToolCall,
    TransitionCode,
    Usage,
)
from harness.policies.recovery import (
    Decision,
    RecoveryLimits,
    Resend,
    RunTools,
    Situation,
    Stop,
    SwitchModel,
    TurnState,
    decide,
)
from harness.policies.recovery.state import Endpoints

LIMITS = RecoveryLimits()
FRESH = TurnState("primary")
ORDINARY = Situation(chance=0.0, now=0.0, window=200_000, max_output=64_000, prompt_tokens=10_000)

CALL = ToolCall("t1", "bash", {"command": "ls"})
CUT_CALL = CutCall("t2", "bash", "its input is not a JSON object")


def text(words: str) -> Block:
    return {"type": "text", "text": words}


def use(call: ToolCall) -> Block:
    return {"type": "tool_use", "id": call.id, "name": call.name, "input": call.input}


def reply(
    words: str = "",
    stop_reason: str = "end_turn",
    *,
    calls: tuple[ToolCall, ...] = (),
    cut_calls: tuple[CutCall, ...] = (),
    output: int = 10,
) -> Reply:
    """A whole reply with these words, then these calls."""
    blocks = (*([text(words)] if words else []), *map(use, calls))
    return Reply("m", stop_reason, blocks, calls, cut_calls, Usage(100, output))


ANSWER = reply("done")
TOOLS = reply("", "tool_use", calls=(CALL,))
CUT = reply("half a sen", "max_tokens")
MALFORMED = reply("", "tool_use", cut_calls=(CUT_CALL,))


def fault(kind: FaultKind, **facts: Any) -> Fault:
    """A fault of this kind."""
    return Fault(kind, f"it was {kind}", **facts)


OVERLOADED = fault(FaultKind.OVERLOADED, status=529)
SERVER = fault(FaultKind.SERVER, status=500)
UNREACHABLE = fault(FaultKind.NETWORK, unreachable=True)
RESET = fault(FaultKind.NETWORK, streamed=True)
TOO_LONG = fault(FaultKind.PROMPT_TOO_LONG, status=400, input_tokens=210_000, limit=200_000)


def after_text(broken: Fault, words: str = "a whole block", **facts: Any) -> Fault:
    """The same fault, in a stream that had brought a whole block of text."""
    return replace(broken, streamed=True, kept=(text(words),), **facts)


def overloaded_before(models: Iterable[str], limits: RecoveryLimits = LIMITS) -> Endpoints:
    """The state of a turn that begins on the primary at 0, after a turn that overloaded each of these."""
    endpoints = Endpoints()
    for model in models:
        for _ in range(limits.overloads_before_switch):
            endpoints = endpoints.overloaded(model, -1.0, limits.endpoint)
    return endpoints.turned_to("primary", 0.0, limits.endpoint)


@dataclass(frozen=True, slots=True)
class Played:
    """A turn that was played through."""

    decisions: tuple[Decision, ...]
    models: tuple[str, ...]
    """The model that each request went to."""

    @property
    def posts(self) -> int:
        return len(self.models)

    @property
    def last(self) -> Decision:
        return self.decisions[-1]

    @property
    def waits(self) -> list[float]:
        found = [getattr(decision, "wait", None) for decision in self.decisions]
        return [wait.seconds for wait in found if wait is not None]

    @property
    def codes(self) -> list[TransitionCode]:
        return [decision.code for decision in self.decisions if decision.code is not None]

    @property
    def end(self) -> TransitionCode | None:
        return self.last.code if isinstance(self.last, Stop) else None

    @property
    def switches(self) -> list[str]:
        return [decision.to_model for decision in self.decisions if isinstance(decision, SwitchModel)]


def play(
    outcomes: Iterable[Outcome],
    *,
    limits: RecoveryLimits = LIMITS,
    state: TurnState = FRESH,
    situation: Situation = ORDINARY,
) -> Played:
    """Answer one request after the other with these outcomes, until the policy ends the turn or they are used up.

    Tool rounds count as the loop counts them.
    """
    decisions: list[Decision] = []
    models: list[str] = []
    for outcome in outcomes:
        models.append(state.model)
        decision = decide(state, outcome, limits, situation)
        decisions.append(decision)
        state = decision.state
        if isinstance(decision, RunTools):
            state = replace(state, steps=state.steps + 1, compacted=False)
        if isinstance(decision, Stop):
            break
    return Played(tuple(decisions), tuple(models))


def for_ever(outcome: Outcome, most: int = 500) -> Iterable[Outcome]:
    """The same outcome repeatedly; a turn that takes `most` of them counts as endless."""
    return repeat(outcome, most)


def resent(decision: Decision) -> Resend:
    """The decision, which must be to send the same request again after a wait."""
    assert isinstance(decision, Resend)
    assert decision.wait is not None
    return decision
