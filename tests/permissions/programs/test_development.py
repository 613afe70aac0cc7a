"""Interpreters, package managers, containers, forges: what only looks, whatever files lie in the folder."""

import stat
from pathlib import Path

import pytest

from harness.permissions.name_sets import names
from harness.permissions.programs import PROGRAMS
from tests.cases import cases, lines, members
from tests.permissions.programs.reading import found, looks, parsed, run, state, uses

VERSIONS = lines(__file__, "versions")
LISTS = lines(__file__, "lists")


def test_these_forms_only_look() -> None:
    table = [*VERSIONS, *LISTS]
    assert [line for line in table if not looks(line)] == []


def test_every_other_form_is_asked_about() -> None:
    assert [line for line in lines(__file__, "does more") if looks(line)] == []


ASK_THE_FOLDER = names(
    "cargo rustc rustup go yarn pnpm npx corepack pytest tox nox poetry bundle mvn gradle dotnet terraform php deno bun"
)


def test_the_version_of_a_program_that_asks_the_folder_is_not_shown_unasked() -> None:
    table = sorted(ASK_THE_FOLDER)
    assert [program for program in table if not (program not in PROGRAMS or not looks(f"{program} --version"))] == []


@cases(__file__, "roles", "line expected", str, members)
def test_every_word_has_its_role(line: str, expected: set[str]) -> None:
    assert uses(line) == expected


@pytest.mark.parametrize("line", ["python a.py $x", "docker run -v $PWD:/x i", "npm install x", "gcc -I../x a.c"])
def test_what_is_not_known_is_not_in_the_grammar(line: str) -> None:
    assert parsed(line) is None


# ── a hostile folder ────────────────────────────────────────────────────────────────────────────

SHELL = "#!/bin/sh\ntouch PWNED\n"
PYTHON = "open('PWNED', 'w')\n"
SCRIPT = "require('fs').writeFileSync('PWNED', '')\n"
FILES = {
    **dict.fromkeys(
        ("conftest.py", "sitecustomize.py", "usercustomize.py", "setup.py", "toxfile.py", "noxfile.py"), PYTHON
    ),
    **dict.fromkeys(("pip.py", "pip/__init__.py", "json.py", "encodings/__init__.py", "plugin.py", "re.py"), PYTHON),
    "pip.conf": "[global]\nlog = PWNED\npython = ./evil.sh\n",
    "setup.cfg": "[global]\ncommand_packages = plugin\n[install]\nroot = PWNED\n",
    "pyproject.toml": "[build-system]\nrequires = []\nbuild-backend = 'plugin'\nbackend-path = ['.']\n"
    "[tool.mypy]\nplugins = 'plugin.py'\n",
    "mypy.ini": "[mypy]\nplugins = plugin.py\n",
    "ruff.toml": "extend = 'PWNED'\n",
    "uv.toml": "cache-dir = 'PWNED'\n",
    ".venv/bin/python": SHELL,
    ".venv/pyvenv.cfg": "home = .\n",
    "package.json": '{"name": "x", "packageManager": "yarn@1.22.0", "scripts": {"version": "touch PWNED"}}',
    ".npmrc": "logs-dir=PWNED\ncache=PWNED\nscript-shell=./evil.sh\nonload-script=./evil.js\n"
    "node-options=-r ./evil.js\n",
    ".yarnrc": 'yarn-path "./evil.js"\n',
    ".yarnrc.yml": "yarnPath: ./evil.js\n",
    "node.config.json": '{"nodeOptions": {"import": ["./evil.js"]}}',
    **dict.fromkeys(("evil.js", "node_modules/npm/index.js", "node_modules/typescript/index.js"), SCRIPT),
    **dict.fromkeys(("evil.sh", "node_modules/.bin/tsc", "rustc", "tc/bin/rustc", "tc/bin/cargo"), SHELL),
    "rust-toolchain.toml": '[toolchain]\npath = "tc"\n',
    ".cargo/config.toml": '[build]\nrustc = "./evil.sh"\n',
    **dict.fromkeys(("Makefile", "GNUmakefile", "makefile"), "$(shell touch PWNED)\nall:\n\ttouch PWNED\n"),
    "CMakeLists.txt": "execute_process(COMMAND touch PWNED)\n",
    "CTestTestfile.cmake": "execute_process(COMMAND touch PWNED)\n",
    "CMakePresets.json": '{"version": 3}',
    "build.ninja": "rule x\n  command = touch PWNED\nbuild all: x\n",
    "specs": "*version:\ntouch PWNED\n",
    ".hotspotrc": "+PrintFlagsFinal\n",
    ".mvn/jvm.config": "-javaagent:evil.jar\n",
    "docker-compose.yml": "services: {}\n",
    **dict.fromkeys((".bashrc", ".profile", ".perldb", "sitecustomize.pl"), "touch PWNED\n"),
    "strict.pm": "open(F, '>PWNED'); 1;\n",
    ".git/config": "[core]\n\tfsmonitor = touch PWNED\n\tpager = touch PWNED\n",
    ".git/HEAD": "ref: refs/heads/main\n",
}


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A folder with every file that makes some program run something."""
    folder = tmp_path / "folder"
    for name, content in FILES.items():
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
