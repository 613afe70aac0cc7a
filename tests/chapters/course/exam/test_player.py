"""The program under examination, over real processes: its command line, its environment, its limits."""

import os
import sys
from pathlib import Path

import pytest

from chapters.course.exam.judgement import Observed
from chapters.course.exam.mechanisms import Mechanism
from chapters.course.exam.player import Played, play_exam
from chapters.course.exam.program import FALLBACK_MODEL, MODEL, Program, ProgramError
from chapters.course.exam.scratch import ExamLimits, violation
from harness.events import Json

pytestmark = pytest.mark.anyio
START = "one tool call, then the answer"
POST = """
import json, os, urllib.request
def post(*messages):
    tools = [{"name": "bash", "input_schema": {"type": "object", "properties": {"command": {"type": "string"}}}}]
    body = {"model": os.environ["MY_AGENT_MODEL"], "max_tokens": 8000, "messages": messages, "tools": tools}
    headers = {"x-api-key": "any", "anthropic-version": "2023-06-01", "content-type": "application/json"}
    url = os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages"
    return urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode(), headers)).read()
"""


async def played(folder: Path, code: str, limits: ExamLimits | None = None) -> tuple[Played, Observed]:
    """Play the part without a fault to a program."""
    (folder / "program.py").write_text(POST + code)
    (part,) = [one async for one in play_exam(Program.parse("program.py", folder), [START, "500"], limits)]
    assert isinstance(part.seen, Observed)
    return part, part.seen


async def test_a_program_is_ended_at_its_time_limit(tmp_path: Path) -> None:
    part, seen = await played(tmp_path, "import time; print('ready'); time.sleep(60)", ExamLimits(row_s=0.5))
    assert (seen.exit_code, seen.endless, seen.stdout) == (None, False, "ready\n")
    assert part.verdict.missing == (Mechanism.AGENT_LOOP,)


async def test_a_program_is_ended_when_it_sends_too_many_requests(tmp_path: Path) -> None:
    code = "while True: post({'role': 'user', 'content': 'again'})"
    _, seen = await played(tmp_path, code, ExamLimits(requests=5))
    assert (seen.exit_code, seen.endless) == (None, True)
    assert 5 <= seen.requests < 10


async def test_an_invalid_history_is_noticed_whatever_the_program_makes_of_it(tmp_path: Path) -> None:
    code = (
        "post({'role': 'user', 'content': 'a'})\ntry: post({'role': 'assistant', 'content': 'b'})\nexcept OSError: pass"
    )
    part, seen = await played(tmp_path, code)
    assert seen.violations == ('messages: first message must use the "user" role',)
    assert part.verdict.missing == (Mechanism.VALID_HISTORY,)


async def test_no_setting_of_the_user_reaches_the_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_AUTH_TOKEN", "HARNESS_MODEL", "CLAUDE_CONFIG_DIR", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, "mine")
    monkeypatch.setenv("PYTHONPATH", os.path.relpath(tmp_path))
    _, seen = await played(
        tmp_path, "print('mine' in os.environ.values(), os.listdir(), os.listdir(os.environ['HOME']))"
    )
    assert seen.stdout == "False [] []\n"
    environment = Program(("x",)).environment(tmp_path, "http://127.0.0.1:1")
    assert environment["PYTHONPATH"] == str(tmp_path.resolve())
    assert (environment["MY_AGENT_MODEL"], environment["MY_AGENT_FALLBACK_MODEL"]) == (MODEL, FALLBACK_MODEL)


def test_files_and_models_of_a_command_line_are_filled_in(tmp_path: Path) -> None:
    (tmp_path / "my agent.py").write_text("")
    (tmp_path / "tools.py").write_text("")
    (tmp_path / "start").symlink_to(sys.executable)
    tools, own = str(tmp_path.resolve() / "tools.py"), str(tmp_path.resolve() / "my agent.py")
    for text, words in (
        ("my agent.py", (sys.executable, own)),
        ("tools.py -v", (sys.executable, tools, "-v")),
        ("./start tools.py -m $MY_AGENT_MODEL", (str(tmp_path / "start"), tools, "-m", MODEL)),
    ):
        assert Program.parse(text, tmp_path).words == words
    for text in ("", "'", "no-such-program-here", "none.py", "./none"):
        with pytest.raises(ProgramError):
            Program.parse(text, tmp_path)


@pytest.mark.parametrize(
    ("messages", "problem"),
    [
        ([{"role": "user", "content": "a"}], None),
        (None, "messages: Field required"),
        ([{"role": "assistant", "content": "a"}], 'messages: first message must use the "user" role'),
    ],
)
def test_a_violation_is_in_the_words_of_the_api(messages: list[Json] | None, problem: str | None) -> None:
    assert violation({"model": MODEL, "messages": messages}) == problem
