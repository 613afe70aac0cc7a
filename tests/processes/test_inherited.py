"""What a line inherits that runs without a question because the sandbox holds it."""

import os
from pathlib import Path

import pytest

from harness.processes.inherited import held

DROPPED = (
    *("GIT_DIR", "GIT_WORK_TREE", "GIT_SSH_COMMAND", "GIT_EXTERNAL_DIFF", "GIT_CONFIG_PARAMETERS", "GIT_EXEC_PATH"),
    *("BASH_ENV", "ENV", "BASHOPTS", "SHELLOPTS", "CDPATH", "RIPGREP_CONFIG_PATH", "PROMPT_COMMAND", "IFS"),
    *("BASH_FUNC_git%%", "GREP_OPTIONS", "TAR_OPTIONS"),
)
KEPT = (
    *(
        "VIRTUAL_ENV",
        "CONDA_PREFIX",
        "LANG",
        "LC_ALL",
        "HOME",
        "GIT_AUTHOR_NAME",
        "GIT_COMMITTER_EMAIL",
        "CC",
        "CFLAGS",
    ),
    *("PYTHONPATH", "NODE_OPTIONS", "DATABASE", "XDG_CACHE_HOME", "CARGO_HOME", "GIT_CONFIG_GLOBAL", "MY_ENV"),
)


@pytest.mark.parametrize(("names", "stay"), [(DROPPED, False), (KEPT, True)], ids=["dropped", "kept"])
def test_what_the_shell_and_git_obey_goes_and_what_builds_need_stays(
    names: tuple[str, ...], stay: bool, tmp_path: Path
) -> None:
    given = dict.fromkeys(names, "/some/where")
    assert {name for name in names if held(given, tmp_path).get(name) == "/some/where"} == (
        set(names) if stay else set()
    )


def test_settings_of_git_that_the_environment_adds_stay(tmp_path: Path) -> None:
    given = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"}
    made = held(given, tmp_path)
    assert (made["GIT_CONFIG_KEY_0"], made["GIT_CONFIG_VALUE_0"]) == ("safe.directory", "*")
    assert int(made["GIT_CONFIG_COUNT"]) > 1


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ({"PATH": ".:bin::/usr/bin:WS/.venv/bin"}, "/usr/bin:WS/.venv/bin"),
        ({"PATH": "."}, os.defpath),
        ({"PATH": ""}, os.defpath),
        ({}, os.defpath),
    ],
)
def test_no_relative_folder_of_programs_stays(given: dict[str, str], path: str, tmp_path: Path) -> None:
    named = {name: value.replace("WS", str(tmp_path)) for name, value in given.items()}
    assert held(named, tmp_path)["PATH"] == path.replace("WS", str(tmp_path))
