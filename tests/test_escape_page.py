"""What the page about watching an agent says is so."""

import re
import subprocess
import sys

from harness.escape.policy import EscapePolicy
from harness.events import Rung
from tests.test_readme import ROOT, block

PAGE = "docs/escape.md"


def test_the_agent_on_the_page_is_watched_and_stopped() -> None:
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", block(PAGE, "agent")],
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    lines = ran.stdout.splitlines()
    assert lines[0].startswith("LoopFound(")
    assert "copies=3" in lines[0]
    taken = [line for line in lines if line.startswith("Intervened(") and "applied=True" in line]
    assert ["BREAKER" in taken[0], "STOP" in taken[1]] == [True, True]
    assert lines[-1].startswith("WalkEnded(end=<WalkEnd.STOP")


def test_the_page_names_every_rung_in_its_order_with_its_quota() -> None:
    rows = re.findall(r"^\| (\w+) \| (\d|–) \|", (ROOT / PAGE).read_text(encoding="utf-8"), re.MULTILINE)
    policy = EscapePolicy()
    assert rows == [(rung.value, "–" if rung is Rung.STOP else str(policy.quota(rung))) for rung in Rung]
