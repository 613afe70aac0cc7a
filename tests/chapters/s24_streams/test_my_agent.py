"""Ctrl-C ends an answer of the learner's own agent, not the agent; the history stays valid."""

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest

from harness.practice.script import Script
from harness.practice.server import PracticeServer

pytestmark = pytest.mark.anyio
PROGRAM = Path(__file__).parents[3] / "chapters" / "s24_streams" / "my_agent.py"
SCRIPT = """
[[reply]]
text = "The tide comes in at six, and goes out at noon."
chunk = 16
fault = { kind = "stall", at = 5 }
[[reply]]
text = "At noon."
"""


@pytest.mark.stories
async def test_an_interrupted_answer_is_kept_and_the_next_prompt_is_answered(tmp_path: Path) -> None:
    async with PracticeServer(script=Script.parse(SCRIPT)) as server:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            str(PROGRAM),
            cwd=tmp_path,
            env={**os.environ, "ANTHROPIC_BASE_URL": server.base_url, "ANTHROPIC_API_KEY": "practice"},
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        assert process.stdin
        assert process.stderr
        process.stdin.write(b"When does the tide come in?\n")
        shown = await process.stderr.readuntil(b"comes in at six")
        process.send_signal(signal.SIGINT)
        out, err = await process.communicate(b"And when does it go out?\n")
        assert out == b"At noon.\n", shown + err
        assert b"interrupted; the text so far is kept" in err
        said = [(one["role"], one["content"][0]["text"]) for one in server.requests[-1].body["messages"]]
        assert [role for role, _ in said] == ["user", "assistant", "user"]
        assert said[1][1].startswith("The tide comes in at six")
