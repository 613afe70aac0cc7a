"""In which folder a command of a line runs: the shell itself says so."""

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.permissions import Allow, Ask
from harness.permissions.protected_places import Surroundings
from harness.permissions.requirements import RequirementKind, requirements_of
from tests.permissions.test_verdicts import bash, decided
from tests.whole import examples

BASH = shutil.which("bash")


@pytest.mark.parametrize(
    "line",
    [
        "cd tests && ls && cd ..",
        "cd a && cat ../b",
        "cd a/b && ls ../.. && cd ../.. && ls",
        "cd . && ls",
        "cd a && ls .. 2>&1",
    ],
)
def test_a_chain_that_comes_back_stays_in_the_workspace(line: str) -> None:
    assert isinstance(decided(line), Allow)


def test_a_folder_that_is_not_certain_is_asked_about() -> None:
    table = [
        *("cd a && cat ../../b", "cd a; cat ../b", "cd a || cat ../b", "false && cd a; cat ../b", "cd a & cat ../b"),
        *("cd a | cat ../b", "(cd a) && cat ../b", "echo $(cd a) && cat ../b", "bash -c 'cd a' && cat ../b"),
        *("eval 'cd a' && cat ../b", "command cd a && cat ../b", "if cd a; then ls; fi; cat ../b"),
        *("cd a && ls\ncat ../b", "cd $x && cat b", "cd && cat b", "pushd a && cat b"),
    ]
    assert [line for line in table if not isinstance(decided(line), Ask)] == []


STEPS = [
    "cd a >&2",
    "true >&2",
    "cd a <&-",
    "cd a >&9",
    "cd a <<< x",
    "cd a",
    "cd ..",
    "cd a/b",
    "cd .",
    "cd link",
    "cd nowhere",
    "true",
    "false",
    "(cd a)",
    ": $(cd a)",
]
JOINTS = [" && ", " && ", " && ", "; ", " || ", " | ", " & ", "\n"]


@pytest.mark.skipif(BASH is None, reason="needs bash")
@settings(max_examples=examples(200))
@given(st.lists(st.tuples(st.sampled_from(STEPS), st.sampled_from(JOINTS)), max_size=4))
def test_every_folder_that_bash_may_be_in_is_known(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, str]]
) -> None:
    root = _folders(tmp_path_factory)
    line = "".join(step + joint for step, joint in steps)
    assert BASH is not None
    ran = subprocess.run([BASH, "-c", line + "cat here"], cwd=root, capture_output=True, text=True, check=False)
    needs = requirements_of(bash(line + "cat here"), Surroundings(str(root), "/home/ada"))
    asked = any(need.kind is RequirementKind.UNREADABLE or need.dangers for need in needs)
    known = {str(Path(path).resolve()) for need in needs if need.shown == "here" for path in need.paths}
    lost = any(
        need.kind is RequirementKind.COMMAND and not need.looks and need.shown.startswith("cat") for need in needs
    )
    if ran.stdout and not asked and not lost:
        assert ran.stdout in {Path(path).read_text() for path in known if Path(path).is_file()}, (line, known)


def _folders(factory: pytest.TempPathFactory) -> Path:
    """Nested folders, each with a file that holds its own path."""
    top = factory.getbasetemp().resolve() / "folders"
    root = top / "w"
    if not root.exists():
        for folder in (top, root, root / "a", root / "a" / "b", root / "a" / "b" / "a"):
            folder.mkdir()
            (folder / "here").write_text(str(folder))
        (root / "link").symlink_to("a/b")
    return root
