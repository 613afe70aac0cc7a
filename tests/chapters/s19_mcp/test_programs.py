"""The programs of the chapter that run alone: the small client, which a learner kills, and the learner's own agent."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from chapters.course import Recording, lesson
from chapters.course.lesson import LessonError
from harness.practice.script import Script
from harness.practice.server import PracticeServer
from tests.chapters.test_my_agents import run

WORKSPACE = lesson("s19").folder / "workspace"
HARBOR = json.dumps({"mcpServers": {"harbor": {"command": sys.executable, "args": [str(WORKSPACE / "harbor.py")]}}})
SCRIPT = """
[[reply]]
tools = [{ name = "mcp__harbor__fog", input = {} }]
[[reply]]
tools = [{ name = "mcp__harbor__tide", input = { c = "Porto", t = "noon" } }]
[[reply]]
text = "It is {what}."
fills = { what = '(high water in Porto at noon)' }
"""


def test_the_small_client_works_until_its_server_is_killed(tmp_path: Path) -> None:
    for name in ("client.py", "harbor.py"):
        (tmp_path / name).write_text((WORKSPACE / name).read_text("utf-8"), "utf-8")
    program = subprocess.Popen(
        [sys.executable, "client.py"],
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with program:
        assert program.stdout is not None
        said = ""
        while (found := re.search(r"kill -9 (\d+)\n", said)) is None:
            character = program.stdout.read(1)
            assert character, said
            said += character
        assert "high water in Porto at noon" in said
        os.kill(int(found[1]), signal.SIGKILL)
        _, errors = program.communicate("\n", timeout=60)
    assert program.returncode == 1
    assert "BrokenPipeError" in errors or "JSONDecodeError" in errors


@pytest.mark.anyio
async def test_the_own_agent_gets_a_result_of_a_server_that_ends_and_calls_it_again(tmp_path: Path) -> None:
    (tmp_path / ".mcp.json").write_text(HARBOR, "utf-8")
    async with PracticeServer(script=Script.parse(SCRIPT)) as server:
        program = lesson("s19").folder / "my_agent.py"
        code, out, err = await run(program, tmp_path, server.base_url, "--yolo", "How is the water?")
        assert (code, out) == (0, "It is high water in Porto at noon.\n"), err
        assert "ended before the answer came" in str(server.requests[1].body["messages"][-1])


@pytest.mark.anyio
async def test_without_the_package_the_first_part_runs_and_one_line_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "mcp", None)
    async with Recording(lesson("s19"), scripted_only=True) as recording:
        with pytest.raises(LessonError, match=re.escape("run: pip install 'harness-agent[mcp]'")) as raised:
            await recording.finished()
        assert "\n" not in str(raised.value)
        assert len(recording.steps) == 7
        assert not recording.failed
