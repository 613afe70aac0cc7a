"""The answer of a hook command, from its exit code, stdout and stderr.

exit 0    it has no objection; on stdout a JSON object with the fields of `HookAnswer`, or with those of
          Claude Code (https://code.claude.com/docs/en/hooks); other text is context for the model where a session or
          a turn begins, and decides nothing elsewhere
exit 2    it blocks; the reason is on stderr
other     it failed
"""

import json
import re
from dataclasses import replace

from harness.events import HookPoint, Json
from harness.hooks import claude_code
from harness.hooks.definition import HookAnswer, HookCall, HookError, UnclearAnswerError, Verdict

BLOCKS = 2
"""Exit code of a command that blocks."""
MOST_BYTES = 100_000
"""Bytes of stdout that are read; longer output is an error."""
_TEXTS = ("block", "context", "stop", "reason")
_KEYS = (*_TEXTS, "input", "permission")
_OF_CLAUDE = (
    *("continue", "stopReason", "decision", "hookSpecificOutput", "suppressOutput", "systemMessage"),
    *("async", "asyncTimeout"),
)
_SPECIFIC = ("permissionDecision", "permissionDecisionReason")
_OBJECT = re.compile(r"^[ \t]*\{", re.MULTILINE)
_DECIDES = re.compile("decision|permission|behavior|block|deny", re.IGNORECASE)
_DECISIONS = {"block": Verdict.DENY, "deny": Verdict.DENY, "ask": Verdict.ASK, "approve": Verdict.ALLOW}
_DECISIONS |= {"allow": Verdict.ALLOW}


def answer_of(
    exit_code: int | None, stdout: bytes, stderr: bytes, point: HookPoint = HookPoint.BEFORE_TOOL
) -> HookAnswer:
    """The answer of a command that exited. Raises HookError for anything but the two ways to answer.

    Args:
        point: where it was asked.
        exit_code: negative: the number of the signal that killed it; None: it could not be ended.
        stdout: at most `MOST_BYTES` and one more byte, which shows that it is longer.
        stderr: as much of it as is worth reading.
    """
    if exit_code == BLOCKS:
        return HookAnswer(block=_text(stderr) or "it gave no reason")
    if exit_code != 0:
        said = _text(stderr).rpartition("\n")[2]
        raise HookError(_failure(exit_code) + (f": {said[:300]}" if said else ""))
    if len(stdout) > MOST_BYTES:
        raise HookError(f"it wrote more than {MOST_BYTES:,} bytes")
    text = _text(stdout)
    if begin := _OBJECT.search(text):  # what it logged may stand in front
        return _answer_in(text[begin.start() :])
    return HookAnswer(context=text if point in claude_code.TOLD else "")


def _answer_in(text: str) -> HookAnswer:
    try:
        found: Json = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UnclearAnswerError(f"its output is no JSON ({str(error)[:100]})") from error
    return answer_in(found)


def answer_in(found: Json) -> HookAnswer:
    """The answer in an object with our fields or those of Claude Code. Raises UnclearAnswerError."""
    try:
        return _answer_of(_in_our_words(found))
    except HookError as error:
        raise UnclearAnswerError(str(error)) from None


def own_answer(answer: HookAnswer, call: HookCall) -> HookAnswer:
    """The answer with an input of our tool where it has one of Claude Code's."""
    if not call.tool or answer.input is None:
        return answer
    return replace(answer, input=claude_code.own_input(call.tool, answer.input, call.input, call.workspace))


def _in_our_words(found: Json) -> Json:
    """An answer with the fields of this program, where it has those of Claude Code."""
    own = {key: value for key, value in found.items() if key not in _OF_CLAUDE}
    reason = found.get("reason") or "it gave no reason"
    if found.get("continue") is False:
        own["stop"] = found.get("stopReason") or reason
    if found.get("decision") is not None:
        match _verdict(found["decision"]):
            case Verdict.DENY:
                own["block"] = reason
                own.pop("reason", None)
            case verdict:
                own["permission"] = verdict
    more = found.get("hookSpecificOutput")
    if more is None:
        return own
    if not isinstance(more, dict):
        raise HookError("hookSpecificOutput in its answer is no object")
    if strange := [key for key in more if key not in _SPECIFIC and _DECIDES.search(key)]:
        raise HookError(f"hookSpecificOutput in its answer has {strange[0][:50]!r}, which is not known")
    own["input"] = own.get("input") or more.get("updatedInput")
    own["context"] = own.get("context") or more.get("additionalContext") or None
    if more.get("permissionDecision") not in (None, "defer"):
        own["permission"] = _verdict(more["permissionDecision"])
        own["reason"] = more.get("permissionDecisionReason") or found.get("reason")
    return own


def _verdict(decision: object) -> Verdict:
    if str(decision).lower() not in _DECISIONS:
        raise HookError(f"the decision in its answer is {str(decision)[:50]!r}; there are {', '.join(_DECISIONS)}")
    return _DECISIONS[str(decision).lower()]


def _answer_of(found: Json) -> HookAnswer:
    if strange := [key for key in found if key not in _KEYS]:
        raise HookError(f"its answer has {strange[0][:50]!r}, which is not known; there are {', '.join(_KEYS)}")
    return HookAnswer(
        **{name: _text_in(found, name) for name in _TEXTS},
        input=_input_in(found),
        permission=_permission_in(found),
    )


def _text_in(found: Json, name: str) -> str:
    value = found.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise HookError(f"{name} in its answer is no text")
    if name != "reason" and not value.strip():
        raise HookError(f"{name} in its answer is empty")
    return value.strip()


def _input_in(found: Json) -> Json | None:
    value = found.get("input")
    if value is None or isinstance(value, dict):
        return value
    raise HookError("input in its answer is no object")


def _permission_in(found: Json) -> Verdict | None:
    value = found.get("permission")
    if value is None:
        return None
    if value not in tuple(Verdict):
        raise HookError(f"permission in its answer is {str(value)[:50]!r}; there are {', '.join(Verdict)}")
    return Verdict(value)


def _failure(exit_code: int | None) -> str:
    match exit_code:
        case None:
            return "it could not be ended"
        case code if code < 0:
            return f"it was killed by signal {-code}"
        case code:
            return f"it ended with exit code {code}"


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace").strip()
