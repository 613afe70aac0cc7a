"""How the end of a command is read as an answer."""

import json

import pytest

from harness.events import HookPoint
from harness.hooks import HookAnswer, HookError, Verdict
from harness.hooks.commands import MOST_BYTES, answer_of
from harness.hooks.definition import UnclearAnswerError


def test_silence_is_no_objection() -> None:
    assert answer_of(0, b"", b"a warning") == HookAnswer()
    assert answer_of(0, b" \n", b"") == HookAnswer()


def test_exit_2_blocks_with_the_text_of_stderr() -> None:
    assert answer_of(2, b"{not read}", b"no force pushes\n") == HookAnswer(block="no force pushes")
    assert answer_of(2, b"", b"").block == "it gave no reason"


def test_an_object_on_stdout_is_an_answer() -> None:
    said = {"input": {"command": "ls"}, "context": " hello ", "permission": "ask", "reason": "careful", "stop": None}
    expected = HookAnswer(input={"command": "ls"}, context="hello", permission=Verdict.ASK, reason="careful")
    assert answer_of(0, json.dumps(said).encode(), b"") == expected


def claude(**fields: object) -> dict[str, object]:
    return {"hookSpecificOutput": {"hookEventName": "PreToolUse", **fields}}


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ({"decision": "block", "reason": "no"}, HookAnswer(block="no")),
        ({"decision": "block"}, HookAnswer(block="it gave no reason")),
        ({"decision": "Deny", "reason": "no"}, HookAnswer(block="no")),
        ({"decision": "approve", "reason": "fine"}, HookAnswer(permission=Verdict.ALLOW, reason="fine")),
        ({"decision": None, "suppressOutput": True, "systemMessage": "hm"}, HookAnswer()),
        ({"continue": True}, HookAnswer()),
        ({"continue": False, "stopReason": "enough"}, HookAnswer(stop="enough")),
        ({"continue": False}, HookAnswer(stop="it gave no reason")),
        (
            claude(permissionDecision="deny", permissionDecisionReason="no"),
            HookAnswer(permission=Verdict.DENY, reason="no"),
        ),
        (claude(permissionDecision="deny"), HookAnswer(permission=Verdict.DENY)),
        (claude(permissionDecision="ask"), HookAnswer(permission=Verdict.ASK)),
        (claude(permissionDecision="allow"), HookAnswer(permission=Verdict.ALLOW)),
        (claude(permissionDecision="defer"), HookAnswer()),
        (
            claude(updatedInput={"command": "ls"}, additionalContext="c"),
            HookAnswer(input={"command": "ls"}, context="c"),
        ),
    ],
)
def test_an_answer_in_the_form_of_claude_code_decides_the_same(said: dict[str, object], answer: HookAnswer) -> None:
    assert answer_of(0, json.dumps(said).encode(), b"") == answer
    assert answer_of(0, b"checking\n" + json.dumps(said).encode(), b"") == answer


@pytest.mark.parametrize("stdout", [b"all good", b"[]", b"true", b"\xff\xfe", b"found {} in it", b"[" * 90_000])
@pytest.mark.parametrize("point", HookPoint)
def test_plain_text_is_context_where_a_session_or_turn_begins_and_decides_nothing_elsewhere(
    stdout: bytes, point: HookPoint
) -> None:
    told = point in (HookPoint.SESSION_START, HookPoint.PROMPT_SUBMIT)
    assert answer_of(0, stdout, b"", point) == HookAnswer(context=stdout.decode(errors="replace") if told else "")


@pytest.mark.parametrize(
    ("stdout", "unclear"),
    [
        (b" " * (MOST_BYTES + 1), False),
        (b'{"decision": "block"', True),
        (b'checking\n  {"decision": "block"', True),
        (b'{"hookSpecificOutput": {"permission_decision": "deny"}}', True),
        (b'{"hookSpecificOutput": {"decision": {"behavior": "deny"}}}', True),
        (b'checking\n{"decision": "block",}', True),
        (b'{"decision": "nope"}', True),
        (b'{"permission": "no"}', True),
        (b'{"hookSpecificOutput": "deny"}', True),
        (b'{"verdict": "deny"}', True),
    ],
)
def test_an_object_that_is_not_understood_may_have_been_a_no(stdout: bytes, unclear: bool) -> None:
    with pytest.raises(HookError) as raised:
        answer_of(0, stdout, b"")
    assert isinstance(raised.value, UnclearAnswerError) is unclear


@pytest.mark.parametrize(
    ("stdout", "why"),
    [
        (b"{", "no JSON"),
        (b'{"a":' * 15_000, "no JSON|nested"),
        (b'{"blok": "x"}', "'blok', which is not known"),
        (b'{"block": true}', "block in its answer is no text"),
        (b'{"block": ""}', "block in its answer is empty"),
        (b'{"input": "ls"}', "input in its answer is no object"),
        (b'{"permission": "yes"}', "there are allow, ask, deny"),
        (b" " * (MOST_BYTES + 1), "more than 100,000 bytes"),
    ],
)
def test_what_is_no_answer_is_a_failure_with_its_reason(stdout: bytes, why: str) -> None:
    with pytest.raises(HookError, match=why):
        answer_of(0, stdout, b"")


@pytest.mark.parametrize(
    ("code", "why"),
    [(1, "exit code 1: no such thing"), (127, "exit code 127"), (-9, "signal 9"), (None, "could not be ended")],
)
def test_every_other_end_is_a_failure(code: int | None, why: str) -> None:
    with pytest.raises(HookError, match=why):
        answer_of(code, b'{"permission": "allow"}', b"first\nno such thing\n")
