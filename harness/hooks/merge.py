"""How several hook answers become one, and which answers are valid at which point."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from types import MappingProxyType

from harness.events import HookOutcome, HookPoint, Json
from harness.hooks.definition import HookAnswer, HookError, Verdict

STRENGTH = (Verdict.ALLOW, Verdict.ASK, Verdict.DENY)
"""Deny beats ask beats allow."""


@dataclass(frozen=True, slots=True)
class HookNote:
    """A text and the hook it came from."""

    hook: str
    text: str


@dataclass(frozen=True, slots=True)
class MergedAnswer:
    """The merged answer of all hooks of a point."""

    input: Json
    """As the last of them left it."""
    blocks: tuple[HookNote, ...] = ()
    contexts: tuple[HookNote, ...] = ()
    stops: tuple[HookNote, ...] = ()
    verdict: Verdict | None = None
    reasons: tuple[HookNote, ...] = ()
    """Why the verdict is what it is; one for each hook that said the same."""

    def joined(self, hook: str, answer: HookAnswer) -> "MergedAnswer":
        """The merged answer, with the answer of the next hook.

        An allow is void when a later hook changes the input, because it allowed a different call. Deny and ask remain
        valid: they judged the call of the model.
        """
        input, verdict, reasons = self.input, self.verdict, self.reasons
        if answer.input is not None and answer.input != input:
            input = answer.input
            if verdict is Verdict.ALLOW:
                verdict, reasons = None, ()
        if answer.permission is not None and _weight(answer.permission) >= _weight(verdict):
            said = HookNote(hook, answer.reason)
            reasons = (*reasons, said) if answer.permission is verdict else (said,)
            verdict = answer.permission
        return MergedAnswer(
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


def in_one_line(said: Iterable[HookNote]) -> str:
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
        HookPoint.TASK_CREATED: frozenset({"block"}),
        HookPoint.TASK_COMPLETED: frozenset({"block"}),
        HookPoint.STOP: frozenset({"block", "stop"}),
        HookPoint.NOTIFICATION: frozenset[str](),
    }
)


def misplaced(point: HookPoint, answer: HookAnswer) -> str:
    """The field of the answer that has no meaning at this point; empty: none."""
    decides = {
        "block": bool(answer.block),
        "input": answer.input is not None,
        "context": bool(answer.context),
        "stop": bool(answer.stop),
        "permission": answer.permission is not None,
    }
    return next((name for name, set_ in decides.items() if set_ and name not in _MEANT[point]), "")


def outcome_of(answer: HookAnswer) -> tuple[HookOutcome, str]:
    """The strongest effect of an answer, and its text."""
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
    """The answer of a required hook that failed. At the end of a turn it stops the turn: the model cannot fix a
    hook."""
    return replace(answer, stop=why) if point is HookPoint.STOP else replace(answer, block=why)


def _with(said: tuple[HookNote, ...], hook: str, text: str) -> tuple[HookNote, ...]:
    return (*said, HookNote(hook, text)) if text else said


def _weight(verdict: Verdict | None) -> int:
    return -1 if verdict is None else STRENGTH.index(verdict)


MOST_REASON = 4_000
"""Characters of a reason; longer ones are cut."""
MOST_CONTEXT = 10_000
"""Characters of a context; longer ones are cut, because they stay in the history."""


def checked(point: HookPoint, answer: object) -> HookAnswer:
    """The validated answer, with long texts cut. None decides nothing.

    Raises HookError, a clause, for an unusable answer, which its author would take for a decision.
    """
    if answer is None:
        return HookAnswer()
    if not isinstance(answer, HookAnswer):
        raise HookError(f"it returned {type(answer).__name__}; a hook returns HookAnswer or None")
    if field := misplaced(point, answer):
        raise HookError(f"its answer has {field}, which means nothing at {point}")
    if answer.permission not in (None, *Verdict):
        raise HookError(f"permission in its answer is {str(answer.permission)[:50]!r}; there are {', '.join(Verdict)}")
    return HookAnswer(
        block=_text(answer.block, "block", MOST_REASON),
        input=None if answer.input is None else _input(point, answer.input),
        context=_text(answer.context, "context", MOST_CONTEXT),
        stop=_text(answer.stop, "stop", MOST_REASON),
        permission=None if answer.permission is None else Verdict(answer.permission),
        reason=_text(answer.reason, "reason", MOST_REASON),
    )


def _text(text: object, field: str, most: int) -> str:
    if not isinstance(text, str):
        raise HookError(f"{field} in its answer is {type(text).__name__} and no text")
    return text if len(text) <= most else text[: most - 1] + "…"


def _input(point: HookPoint, input: object) -> Json:
    if not isinstance(input, dict):
        raise HookError(f"input in its answer is {type(input).__name__} and no object")
    if point is HookPoint.PROMPT_SUBMIT and (list(input) != ["prompt"] or not isinstance(input["prompt"], str)):
        raise HookError('input in its answer is not {"prompt": a text}')
    try:
        copy: Json = json.loads(json.dumps(input))
    except (TypeError, ValueError, RecursionError) as error:
        raise HookError(f"input in its answer cannot be written as JSON ({error})") from error
    return copy
