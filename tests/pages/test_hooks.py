"""The examples of docs/hooks.md run, and its tables match the code."""

import json
import re
import subprocess
import sys
import tomllib

import pytest

from harness.events import HookPoint
from harness.hooks import HookAnswer, HookError, Verdict, declared
from harness.hooks.commands import answer_of
from harness.hooks.definition import TIME_LIMIT_S
from harness.hooks.merge import checked
from harness.policies.recovery import RecoveryLimits
from tests.pages.blocks import block, text

PAGE = text("docs/hooks.md")
ANSWERS = {
    "block": HookAnswer(block="x"),
    "input": HookAnswer(input={"prompt": "x"}),
    "context": HookAnswer(context="x"),
    "stop": HookAnswer(stop="x"),
    "permission": HookAnswer(permission=Verdict.ASK),
}


def test_the_settings_are_hooks() -> None:
    first, second = declared(tomllib.loads(block("docs/hooks.md", "settings"))["hooks"])
    assert (first.point, first.tools, first.time_s, first.required) == (HookPoint.BEFORE_TOOL, "bash", 5.0, False)
    assert (second.name, second.point, second.required) == ("tests pass", HookPoint.STOP, True)


@pytest.mark.parametrize(
    ("command", "answer"),
    [
        ("git push --force", HookAnswer(block="force pushes are not allowed here")),
        ("git commit -m 'about push --force'", HookAnswer()),
        ("npm test", HookAnswer(input={"command": "CI=1 npm test"})),
        ("ls", HookAnswer()),
    ],
)
def test_the_command_answers(command: str, answer: HookAnswer) -> None:
    document = json.dumps({"input": {"command": command}})
    ran = subprocess.run(
        [sys.executable, "-c", block("docs/hooks.md", "command")],
        input=document.encode(),
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert answer_of(ran.returncode, ran.stdout, ran.stderr) == answer


@pytest.mark.parametrize("point", HookPoint)
def test_the_table_says_what_an_answer_may_hold(point: HookPoint) -> None:
    [cells] = re.findall(rf"^\| `{point}` \|[^|]*\|([^|]*)\|$", PAGE, re.MULTILINE)
    assert set(re.findall(r"`(\w+)`", cells)) == {name for name, answer in ANSWERS.items() if _counts(point, answer)}


def _counts(point: HookPoint, answer: HookAnswer) -> bool:
    try:
        return checked(point, answer) == answer
    except HookError:
        return False


def test_the_numbers_are_those_of_the_code() -> None:
    assert f"({TIME_LIMIT_S:g} seconds)" in PAGE
    assert f"back to work {RecoveryLimits().objections} times" in PAGE
