"""Whether an answer can be used where it was given, and how much of it."""

import json

from harness.events import HookPoint, Json
from harness.hooks.definition import HookAnswer, HookError, Verdict
from harness.hooks.merge import misplaced

MOST_REASON = 4_000
"""Characters of a reason; what is longer is cut."""
MOST_CONTEXT = 10_000
"""Characters of a context; what is longer is cut, because it stays in the history."""


def checked(point: HookPoint, answer: object) -> HookAnswer:
    """The answer, with its texts cut to what a history can bear; None is an answer that decides nothing.

    Raises HookError, a clause, for one that cannot be used: its author would take it for a decision.
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
