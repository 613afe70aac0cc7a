"""The wheel holds everything that the program reads at run time, and runs where nothing else of the repository is."""

import os
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness import __version__

ROOT = Path(__file__).parents[1]
NEEDED = (
    "harness/model/data/o200k_base.xz",
    "harness/model/data/prices.toml",
    "harness/policies/breakers/capabilities.toml",
    "harness/practice/script/SCRIPTS.md",
    "harness/practice/faults/TOOL_FAULTS.md",
    "harness/practice/faults/broken_tools/grep-dies.toml",
    "harness/practice/script/shipped/overloaded.toml",
    "harness/practice/script/shipped/stuck.toml",
    "harness/py.typed",
    "harness/tools/grep_worker.py",
    "harness/ui/web/page.html",
    "harness/ui/web/page.js",
    "chapters/__init__.py",
    "chapters/s01_agent_loop/README.ja.md",
    "chapters/s01_agent_loop/script.toml",
    "chapters/s01_agent_loop/exercises/loop/check.py",
    "chapters/s01_agent_loop/exercises/loop/exercise.toml",
    "chapters/s01_agent_loop/exercises/loop/loop.py",
    "chapters/s07_skills/workspace/.harness/skills/release/SKILL.md",
    "chapters/course/checks/check_program.py",
    "chapters/course/EXERCISES.md",
)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of the repository."""
    return built(tmp_path_factory.mktemp("wheel"), "hatchling", "build", "-t", "wheel", "-d")


@pytest.fixture(scope="module")
def from_sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel that `python -m build` makes from the source distribution."""
    return built(tmp_path_factory.mktemp("sdist"), "build", "--no-isolation", "--outdir")


def built(folder: Path, *words: str) -> Path:
    """Run a module that builds into `folder`, and give the wheel."""
    command = [sys.executable, "-m", *words, str(folder)]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=100, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    (path,) = folder.glob("harness_agent-*.whl")
    return path


def contents(wheel: Path) -> dict[str, bytes]:
    """The files in a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.mark.parametrize("name", NEEDED)
def test_the_wheel_holds(name: str, wheel: Path) -> None:
    assert name in contents(wheel)


def test_the_wheel_holds_every_file_of_the_two_packages_that_git_knows_and_nothing_else(wheel: Path) -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("this is no clone")
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z", "harness", "chapters"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    known = {name for name in listed.stdout.split("\0") if name and (ROOT / name).exists()}
    assert {name for name in contents(wheel) if ".dist-info/" not in name} == known


@pytest.mark.wheel
def test_the_source_distribution_builds_the_same_wheel_as_the_repository(wheel: Path, from_sdist: Path) -> None:
    assert contents(from_sdist) == contents(wheel)


@dataclass(frozen=True)
class Installed:
    """An environment with the wheel in it, and a folder that is not the repository."""

    bin: Path
    folder: Path
    environment: Mapping[str, str]

    def run(self, *words: str) -> str:
        """What a program of the environment prints; it must end well."""
        program, *rest = words
        ran = subprocess.run(
            [str(self.bin / program), *rest],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )
        assert ran.returncode == 0, ran.stdout + ran.stderr
        return ran.stdout


def installed(folder: Path, wheel: Path) -> Installed:
    """A new environment in `folder` with the wheel and, from the package index, with what it needs."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder / "venv")], check=True)
    programs = folder / "venv" / "bin"
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    pip = [sys.executable, "-m", "pip", "--python", str(programs / "python"), "install", "-q", str(wheel)]
    ran = subprocess.run(pip, cwd=elsewhere, capture_output=True, text=True, timeout=600, check=False)
    assert ran.returncode == 0, ran.stderr
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("ANTHROPIC_", "HARNESS_", "PYTHON", "VIRTUAL_ENV"))
    }
    return Installed(programs, elsewhere, kept | {"HOME": str(folder), "HARNESS_STATE_DIR": str(folder / "state")})


@pytest.mark.wheel
@pytest.mark.timeout(900)
def test_what_is_installed_runs_in_a_folder_that_is_not_the_repository(from_sdist: Path, tmp_path: Path) -> None:
    place = installed(tmp_path, from_sdist)
    where = place.run("python", "-c", "import harness, chapters; print(harness.__file__, chapters.__file__)")
    assert all(file.startswith(str(place.bin.parent)) for file in where.split())
    assert place.run("harness", "--version") == f"harness {__version__}\n"
    assert "practice model" in place.run("harness", "-p", "hello", "--practice")
    assert "s02 · Tool use" in place.run("python", "-m", "chapters.s01_agent_loop")
    assert "s11" in place.run("harness", "learn", "--list")
    assert "Watch" in place.run("python", "-c", "import harness; print(harness.Watch)")
