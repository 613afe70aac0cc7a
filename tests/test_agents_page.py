"""What the page about agents says is so."""

import re
import subprocess
import sys
from pathlib import Path

from harness.events import AgentEnd
from harness.settings import Settings
from tests.test_readme import ROOT, block

PAGE = "docs/agents.md"


def test_the_program_on_the_page_lets_two_of_three_agents_work_at_once(tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", block(PAGE, "agents")],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT), "HARNESS_STATE_DIR": str(tmp_path / "state"), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    lines = ran.stdout.splitlines()
    assert lines[:2] == ["a1 begins, 1 at work", "a2 begins, 2 at work"]
    assert sorted(line for line in lines if "answered" in line) == ["a1: answered", "a2: answered", "a3: answered"]
    assert not [line for line in lines if "3 at work" in line]
    assert ran.stderr == ""


def test_the_page_names_every_end_of_an_agent() -> None:
    text = (ROOT / PAGE).read_text(encoding="utf-8")
    assert re.findall(r"^\| `(\w+)` \|", text.partition("## The gate")[0], re.MULTILINE) == [
        end.value for end in AgentEnd
    ]


def test_the_numbers_of_the_page_are_those_of_the_settings() -> None:
    text = (ROOT / PAGE).read_text(encoding="utf-8")
    settings = Settings()
    for name, words in (
        ("max_concurrent", f"`max_concurrent` agents ({settings.max_concurrent})"),
        ("max_queue_size", f"`max_queue_size` ({settings.max_queue_size})"),
        ("max_background", f"`max_background`, {settings.max_background}"),
        ("agent_turns", f"`agent_turns` steps ({settings.agent_turns})"),
    ):
        assert words in text, name
