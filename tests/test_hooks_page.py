"""What docs/hooks.md shows runs, and its tables are those of the code."""

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from harness.events import HookPoint
from harness.hooks import HookAnswer, HookError, Verdict, declared
from harness.hooks.checking import checked
from harness.hooks.commands import answer_of
from harness.hooks.values import TIME_LIMIT_S
from harness.recovery import RecoveryLimits

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "hooks.md").read_text(encoding="utf-8")
BLOCKS = {
    found["name"]: found["code"]
    for found in re.finditer(r"<!-- (?P<name>\w+) -->\n```\w+\n(?P<code>.*?)```", PAGE, re.DOTALL)
}
ANSWERS = {
    "block": HookAnswer(block="x"),
    "input": HookAnswer(input={"prompt": "x"}),
    "context": HookAnswer(context="x"),
    "stop": HookAnswer(stop="x"),
    "permission": HookAnswer(permission=Verdict.ASK),
}


def test_every_block_of_code_has_a_name_and_is_run_here() -> None:
    assert BLOCKS.keys() == {"function", "settings", "command"}
    assert PAGE.count("```") == 2 * len(BLOCKS)


def test_the_function_runs_without_a_key(tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("ANTHROPIC_", "HARNESS_"))}
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", BLOCKS["function"]],
        cwd=tmp_path,
        env=environment | {"HARNESS_STATE_DIR": str(tmp_path / "state"), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "Transition stop_hook_blocking" in ran.stdout
    assert ran.stdout.endswith("TurnEnded completed\n")


def test_the_settings_are_hooks() -> None:
    first, second = declared(tomllib.loads(BLOCKS["settings"])["hooks"])
    assert (first.point, first.tools, first.time_s, first.required) == (HookPoint.BEFORE_TOOL, "bash", 5.0, False)
    assert (second.name, second.point, second.required) == ("tests pass", HookPoint.STOP, True)


@pytest.mark.parametrize(
    ("command", "answer"),
    [
        ("git push --force", HookAnswer(block="nobody pushes by force here")),
        ("npm test", HookAnswer(input={"command": "CI=1 npm test"})),
        ("ls", HookAnswer()),
    ],
)
def test_the_command_answers(command: str, answer: HookAnswer) -> None:
    told = json.dumps({"input": {"command": command}})
    ran = subprocess.run(
        [sys.executable, "-c", BLOCKS["command"]], input=told.encode(), capture_output=True, timeout=60, check=False
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
