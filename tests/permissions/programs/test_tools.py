"""Interpreters, package managers, forges, archives: what only looks, whatever files lie in the folder."""

import stat
import tomllib
from pathlib import Path

import pytest

from harness.permissions.name_sets import names
from harness.permissions.programs import HANDLERS, KNOWN, PROGRAMS, UNPACKERS, WRITERS
from tests.cases import lines
from tests.permissions.programs.reading import found, looks, run, state

VERSIONS = lines(__file__, "versions")
LISTS = lines(__file__, "lists")


def test_these_forms_only_look() -> None:
    assert [line for line in (*VERSIONS, *LISTS) if not looks(line)] == []


def test_every_other_form_is_asked_about() -> None:
    assert [line for line in lines(__file__, "does more") if looks(line)] == []


ASK_THE_FOLDER = names(
    "cargo rustc rustup go yarn pnpm npx corepack pytest tox nox poetry bundle mvn gradle dotnet terraform php deno bun"
)


def test_the_version_of_a_program_that_asks_the_folder_is_not_shown_unasked() -> None:
    assert [
        program for program in sorted(ASK_THE_FOLDER) if program in PROGRAMS and looks(f"{program} --version")
    ] == []


def test_what_is_known_of_acting_programs_is_said_once() -> None:
    assert not WRITERS & HANDLERS
    assert UNPACKERS <= HANDLERS
    assert WRITERS | HANDLERS | PROGRAMS.keys() <= KNOWN


# ── a hostile folder ────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A folder with every file that makes some program run something."""
    folder = tmp_path / "folder"
    for name, content in tomllib.loads(Path(__file__).with_name("hostile.toml").read_text("utf-8")).items():
        path = folder / name
        if name != "pip/__init__.py":
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
            path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return folder


@pytest.mark.stories
def test_nothing_of_a_hostile_folder_is_run(hostile: Path) -> None:
    before = state(hostile)
    for line in [line for line in (*VERSIONS, *LISTS) if found(line)]:
        done = run(line, hostile)
        assert state(hostile) == before, line
        assert done.returncode == 0 or line in LISTS, (line, done.stderr)


@pytest.mark.parametrize("line", ["make -n", "python3 -m pip list", "python3 setup.py", "npm ls"])
def test_forms_that_were_left_out_run_or_write_something_there(line: str, hostile: Path) -> None:
    if not found(line):
        pytest.skip("the program is not installed")
    before = state(hostile)
    run(line, hostile)
    assert state(hostile) != before
