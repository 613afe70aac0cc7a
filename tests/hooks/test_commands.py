"""How the end of a command is read as an answer."""

import json

import pytest

from harness.hooks import HookAnswer, HookError, Verdict
from harness.hooks.commands import MOST_BYTES, answer_of


def test_silence_is_no_objection() -> None:
    assert answer_of(0, b"", b"a warning") == HookAnswer()
    assert answer_of(0, b" \n", b"") == HookAnswer()


def test_exit_2_blocks_with_what_stands_on_stderr() -> None:
    assert answer_of(2, b"{not read}", b"no force pushes\n") == HookAnswer(block="no force pushes")
    assert answer_of(2, b"", b"").block == "it gave no reason"


def test_an_object_on_stdout_is_an_answer() -> None:
    said = {"input": {"command": "ls"}, "context": " hello ", "permission": "ask", "reason": "careful", "stop": None}
    expected = HookAnswer(input={"command": "ls"}, context="hello", permission=Verdict.ASK, reason="careful")
    assert answer_of(0, json.dumps(said).encode(), b"") == expected


@pytest.mark.parametrize(
    ("stdout", "why"),
    [
        (b"all good", "no JSON"),
        (b"{", "no JSON"),
        (b"[" * 100_000, "no JSON|nested|more than"),
        (b"[]", "no object"),
        (b'{"blok": "x"}', "'blok', which is not known"),
        (b'{"block": true}', "block in its answer is no text"),
        (b'{"block": ""}', "block in its answer is empty"),
        (b'{"input": "ls"}', "input in its answer is no object"),
        (b'{"permission": "yes"}', "there are allow, ask, deny"),
        (b"\xff\xfe", "no JSON"),
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
