"""What the README says can be typed, and its Python runs."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
READMES = ("README.md", "README.ja.md")
BLOCK = re.compile(r"(?:<!-- (?P<name>[\w-]+) -->\n)?```(?P<language>\w+)\n(?P<code>.*?)```", re.DOTALL)


def blocks(readme: str) -> list[re.Match[str]]:
    return list(BLOCK.finditer((ROOT / readme).read_text(encoding="utf-8")))


def block(readme: str, name: str) -> str:
    return next(found["code"] for found in blocks(readme) if found["name"] == name)


@pytest.mark.parametrize("readme", READMES)
def test_the_python_of_the_readme_runs_without_a_key(readme: str, tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("ANTHROPIC_", "HARNESS_"))}
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", block(readme, "library")],
        cwd=tmp_path,
        env=environment | {"HARNESS_STATE_DIR": str(tmp_path / "state"), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert "ToolEnded" in ran.stdout
    assert "It is raining in Oslo" in ran.stdout
    assert ran.stderr == ""


@pytest.mark.parametrize("readme", READMES)
def test_ci_runs_exactly_the_test_command_of_the_readme(readme: str) -> None:
    command = block(readme, "test").strip()
    assert command.startswith("python3 -m venv .venv && ")
    assert command.count("\n") == 0
    assert "README.md" in (ROOT / ".ci/run").read_text(encoding="utf-8")


def test_the_two_languages_hold_the_same_code_headings_and_numbers() -> None:
    english, japanese = ((ROOT / name).read_text(encoding="utf-8") for name in READMES)
    assert _code_without_comments(READMES[0]) == _code_without_comments(READMES[1])
    assert len(re.findall(r"^#+ ", english, re.MULTILINE)) == len(re.findall(r"^#+ ", japanese, re.MULTILINE))
    assert _table_figures(english) == _table_figures(japanese)


def _code_without_comments(readme: str) -> list[str]:
    return [re.sub(r" *#.*", "", found["code"]) for found in blocks(readme)]


def _table_figures(text: str) -> list[list[str]]:
    rows = [line for line in text.splitlines() if line.startswith("|")]
    return [re.findall(r"\d+(?:[.,]\d+)*", line) for line in rows]


@pytest.mark.parametrize("readme", READMES)
def test_every_file_the_readme_links_to_exists(readme: str) -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]+)\)", (ROOT / readme).read_text(encoding="utf-8"))
    missing = [link for link in links if not (ROOT / link).exists()]
    assert missing == []
