"""The programs in `examples` run alone, without a key, and show what they promise."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SHOWS = {
    "custom_tool": ["the last one is weather", "called: It is raining in Oslo."],
    "custom_hook": ["no_force_push blocked: force pushes are not allowed here", "I left the branch as it is."],
    "custom_policy": ["practice-1 → claude-haiku-5-5: practice-1 is rate limited", "The other model answers."],
    "resumed_session": ["turns so far: 1", "It is raining in Bergen.", "['weather: ok', 'weather: ok']"],
}


@pytest.mark.parametrize("name", SHOWS)
def test_an_example_shows_what_it_promises(name: str, tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-W", "error", str(ROOT / "examples" / f"{name}.py")],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    assert [line for line in SHOWS[name] if line not in ran.stdout] == []


def test_every_example_is_run_and_stands_on_the_page() -> None:
    there = {path.stem for path in (ROOT / "examples").glob("*.py")} - {"__init__"}
    page = (ROOT / "docs" / "library.md").read_text(encoding="utf-8")
    assert there == SHOWS.keys()
    assert [name for name in there if f"../examples/{name}.py" not in page] == []
