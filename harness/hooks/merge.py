"""How the answers of several hooks become one.

Every hook is asked, also after one has said no, so that one that only writes things down sees them all. The hooks are
asked in order, and each sees the input as those before it left it.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from types import MappingProxyType

from harness.events import HookOutcome, HookPoint, Json
from harness.hooks.definition import HookAnswer, Verdict

STRENGTH = (Verdict.ALLOW, Verdict.ASK, Verdict.DENY)
"""Deny beats ask beats allow."""


@dataclass(frozen=True, slots=True)
class Said:
    """A text, and the hook that said it."""

    hook: str
    text: str


@dataclass(frozen=True, slots=True)
class Combined:
    """What all hooks of a point decided together."""

    input: Json
    """As the last of them left it."""
    blocks: tuple[Said, ...] = ()
    contexts: tuple[Said, ...] = ()
    stops: tuple[Said, ...] = ()
    verdict: Verdict | None = None
    reasons: tuple[Said, ...] = ()
    """Why the verdict is what it is; one for each hook that said the same."""

    def joined(self, hook: str, answer: HookAnswer) -> "Combined":
        """What they decided, with the answer of the next one.

        What was allowed was another call than the one that a later hook makes of it, so such an allow is void. A no
        and the wish to ask stand: they came from somebody who saw what the model wanted.
        """
        input, verdict, reasons = self.input, self.verdict, self.reasons
        if answer.input is not None and answer.input != input:
            input = answer.input
            if verdict is Verdict.ALLOW:
                verdict, reasons = None, ()
        if answer.permission is not None and _weight(answer.permission) >= _weight(verdict):
            said = Said(hook, answer.reason)
            reasons = (*reasons, said) if answer.permission is verdict else (said,)
            verdict = answer.permission
        return Combined(
            input,
            _with(self.blocks, hook, answer.block),
            _with(self.contexts, hook, answer.context),
            _with(self.stops, hook, answer.stop),
            verdict,
            reasons,
        )

    @property
    def reason(self) -> str:
        """Why the verdict is what it is, in one line."""
        return in_one_line(self.reasons)


def combined(input: Json, answers: Iterable[tuple[str, HookAnswer]]) -> Combined:
    """What the answers, each with the name of its hook, decide together about `input`."""
    together = Combined(input)
    for hook, answer in answers:
        together = together.joined(hook, answer)
    return together


def in_one_line(said: Iterable[Said]) -> str:
    """The texts in one line, each behind the name of its hook."""
    return "; ".join(f"{one.hook}: {' '.join(one.text.split())}" if one.text.strip() else one.hook for one in said)


_EVERYTHING = frozenset({"block", "input", "context", "stop", "permission"})
_MEANT = MappingProxyType(
    {
        HookPoint.SESSION_START: frozenset({"block", "context", "stop"}),
        HookPoint.SESSION_END: frozenset[str](),
        HookPoint.PROMPT_SUBMIT: frozenset({"block", "input", "context", "stop"}),
        HookPoint.BEFORE_TOOL: _EVERYTHING,
        HookPoint.AFTER_TOOL: frozenset({"block", "context", "stop"}),
        HookPoint.BEFORE_COMPACTION: frozenset({"block", "context"}),
        HookPoint.AFTER_COMPACTION: frozenset({"context"}),
        HookPoint.STOP: frozenset({"block", "stop"}),
        HookPoint.NOTIFICATION: frozenset[str](),
    }
)


def misplaced(point: HookPoint, answer: HookAnswer) -> str:
    """The field of the answer that means nothing at this point; empty: there is none."""
    decides = {
        "block": bool(answer.block),
        "input": answer.input is not None,
        "context": bool(answer.context),
        "stop": bool(answer.stop),
        "permission": answer.permission is not None,
    }
    return next((name for name, set_ in decides.items() if set_ and name not in _MEANT[point]), "")


def outcome_of(answer: HookAnswer) -> tuple[HookOutcome, str]:
    """The weightiest thing that an answer does, and its words."""
    match answer:
        case HookAnswer(stop=why) if why:
            return HookOutcome.STOPPED, why
        case HookAnswer(block=why) if why:
            return HookOutcome.BLOCKED, why
        case HookAnswer(permission=Verdict.DENY, reason=why):
            return HookOutcome.DENIED, why
        case HookAnswer(permission=Verdict.ASK, reason=why):
            return HookOutcome.ASKED, why
        case HookAnswer(permission=Verdict.ALLOW, reason=why):
            return HookOutcome.ALLOWED, why
        case HookAnswer(input=dict() as input):
            return HookOutcome.CHANGED, ", ".join(f"{name}: {value}" for name, value in input.items())
        case HookAnswer(context=text) if text:
            return HookOutcome.ADDED, text
        case _:
            return HookOutcome.PASSED, ""


def as_a_no(answer: HookAnswer, point: HookPoint, why: str) -> HookAnswer:
    """The answer of a required hook that failed. At the end of a turn it stops: the model cannot mend a hook."""
    return replace(answer, stop=why) if point is HookPoint.STOP else replace(answer, block=why)


def _with(said: tuple[Said, ...], hook: str, text: str) -> tuple[Said, ...]:
    return (*said, Said(hook, text)) if text else said


def _weight(verdict: Verdict | None) -> int:
    return -1 if verdict is None else STRENGTH.index(verdict)
