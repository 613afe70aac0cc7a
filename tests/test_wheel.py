"""What is built holds everything that the program reads at run time."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NEEDED = (
    "harness/model/data/o200k_base.xz",
    "harness/breakers/capabilities.toml",
    "harness/practice/SCRIPTS.md",
    "harness/practice/TOOL_FAULTS.md",
    "harness/practice/broken_tools/grep-dies.toml",
    "harness/practice/scripts/overloaded.toml",
    "harness/practice/scripts/stuck.toml",
    "harness/py.typed",
    "harness/tools/grep_worker.py",
    "harness/ui/serving/page.html",
    "chapters/__init__.py",
    "chapters/s01_agent_loop/exercises/loop/check.py",
    "chapters/s01_agent_loop/exercises/loop/exercise.toml",
    "chapters/s01_agent_loop/exercises/loop/loop.py",
    "harness/lessons/check_program.py",
    "harness/lessons/EXERCISES.md",
)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    folder = tmp_path_factory.mktemp("wheel")
    built = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    (path,) = folder.glob("*.whl")
    return zipfile.ZipFile(path)


@pytest.mark.parametrize("name", NEEDED)
def test_the_wheel_holds(name: str, wheel: zipfile.ZipFile) -> None:
    assert name in wheel.namelist()


def test_the_wheel_holds_nothing_but_the_two_packages(wheel: zipfile.ZipFile) -> None:
    tops = {name.split("/")[0] for name in wheel.namelist()}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"harness", "chapters"}
