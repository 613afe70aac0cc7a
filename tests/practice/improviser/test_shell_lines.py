"""The command lines, run by a real shell."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from harness.practice.improviser import shell_lines

BASH = shutil.which("bash") or "/bin/bash"
AWKWARD = 'it\'s $HOME `id` "x" \\ %s; *'


def ran(line: str, folder: Path, path: str = os.environ["PATH"]) -> subprocess.CompletedProcess[str]:
    """A command line, run in a folder."""
    return subprocess.run(
        (BASH, "-c", line), cwd=folder, env={"PATH": path}, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("content", ["", "a\n", AWKWARD, f"{AWKWARD}\n\n{AWKWARD}", "-n", "日本語\n"])
@pytest.mark.parametrize("path", ["a.txt", "-a.txt", "new folder/it's $x.txt"])
def test_what_is_written_is_what_was_meant_and_can_be_read(tmp_path: Path, path: str, content: str) -> None:
    assert ran(shell_lines.writing(path, content), tmp_path).returncode == 0
    assert (tmp_path / path).read_text() == content
    shown = ran(shell_lines.reading(path), tmp_path).stdout
    assert [line.partition("\t")[2] for line in shown.splitlines()] == content.splitlines()


@pytest.mark.parametrize(
    ("pattern", "folder", "expected"),
    [
        ("*.py", None, ["./a.py", "./src/b.py", "./src/deep/c.py"]),
        ("**/*.py", None, ["./a.py", "./src/b.py", "./src/deep/c.py"]),
        ("**/*", "src", ["src/b.py", "src/deep/c.py"]),
        ("src/*.py", None, ["./src/b.py"]),
        ("src/**/*.py", None, ["./src/b.py", "./src/deep/c.py"]),
        ("*/*.py", None, ["./src/b.py"]),
        ("src/deep/c.py", None, ["./src/deep/c.py"]),
        ("*.rb", None, []),
    ],
)
def test_files_are_found_where_the_pattern_says(
    tmp_path: Path, pattern: str, folder: str | None, expected: list[str]
) -> None:
    for name in ("a.py", "src/b.py", "src/deep/c.py", ".git/d.py", ".hidden.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    found = ran(shell_lines.finding(pattern, folder), tmp_path)
    assert [line.removeprefix("./") for line in found.stdout.split()] == [one.removeprefix("./") for one in expected]
    assert found.returncode == 0


def test_a_folder_that_is_not_there_is_no_empty_list(tmp_path: Path) -> None:
    found = ran(shell_lines.finding("**/*", "nowhere"), tmp_path)
    assert found.returncode != 0
    assert "No such file" in found.stderr


def program(folder: Path, name: str, body: str) -> None:
    """A program that is found before all others."""
    folder.mkdir(exist_ok=True)
    file = folder / name
    file.write_text(f"#!/bin/bash\n{body}\n")
    file.chmod(0o755)


def test_without_rg_grep_searches(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("one\nit's $HOME\n")
    (tmp_path / "b.txt").write_text("it's $HOME\n")
    program(tmp_path / "bin", "grep", f'exec {shutil.which("grep")} "$@"')
    found = ran(shell_lines.searching(r"it's \$HOME", include="**/*.py"), tmp_path, str(tmp_path / "bin"))
    assert found.stdout == "./a.py:2:it's $HOME\n"
    assert found.returncode == 0


def test_with_rg_rg_searches_and_grep_does_not_search_again(tmp_path: Path) -> None:
    program(tmp_path / "bin", "rg", 'printf "%s|" "$@"; exit 1')
    program(tmp_path / "bin", "grep", "echo wrong")
    found = ran(shell_lines.searching("it's", "src", "*.py"), tmp_path, str(tmp_path / "bin"))
    assert found.stdout == "-nH|--no-heading|--color|never|-g|*.py|-e|it's|--|src|"
    assert found.returncode == 0


def test_a_search_that_cannot_be_done_is_a_failure(tmp_path: Path) -> None:
    assert ran(shell_lines.searching("x", "nowhere"), tmp_path).returncode != 0
