"""Learners may edit a chapter's files; their mistakes are reported with file and line."""

import os
import subprocess
import sys
from pathlib import Path
from shutil import copytree, ignore_patterns

import pytest

from chapters.course.catalogue import chapters_folder

LINE = '    """The loop of s01, with several tools and an answer to every call."""\n'


@pytest.mark.grid(1)
@pytest.mark.parametrize(
    ("file", "wrong", "said"),
    [
        ("demo.py", "    while (True:\n", "demo.py failed in line {line}: this is not valid Python ("),
        ("demo.py", "    forgotten()\n", "demo.py failed in line {line}: NameError: name 'forgotten' is not defined"),
        ("demo.py", "import nowhere_to_be\n", "demo.py failed in line 1: ModuleNotFoundError: No module named"),
        ("script.toml", "[[reply\n", "script.toml is not valid TOML"),
        ("lesson.toml", "[[steps\n", "lesson.toml is not valid TOML"),
    ],
    ids=["syntax", "name", "import", "script", "steps"],
)
def test_a_mistake_is_reported_with_its_file_and_line(tmp_path: Path, file: str, wrong: str, said: str) -> None:
    copytree(chapters_folder(), tmp_path / "chapters", ignore=ignore_patterns("*.svg", "__pycache__"))
    changed = tmp_path / "chapters" / "s02_tool_use" / file
    text = changed.read_text("utf-8")
    inside = LINE in text and wrong.startswith(" ")
    changed.write_text(text.replace(LINE, LINE + wrong) if inside else wrong + text, "utf-8")
    line = text[: text.index(LINE)].count("\n") + 2 if inside else 1
    done = subprocess.run(
        [sys.executable, "-m", "harness", "learn", "s02", "--auto", "--language", "en"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path), "HOME": str(tmp_path), "HARNESS_STATE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode in (1, 2)
    told = done.stderr.splitlines()[-1]
    assert "s02_tool_use/" in told
    assert said.format(line=line) in told
    assert "internal error" not in done.stderr
    assert "Traceback" not in done.stderr
