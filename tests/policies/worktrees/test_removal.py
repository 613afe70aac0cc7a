"""Names of worktrees, and what a removal would mean."""

import subprocess
from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.policies.worktrees.removal import MOST_NAMED, Removal, TreeState, name_problem, removal

GOOD = ("fix", "a.b", "fix/login-2", "A_1", "x" * 64, "head-first")
BAD = (
    "",
    "-x",
    ".hidden",
    "a..b",
    "x.lock",
    "HEAD",
    "head",
    "@",
    "a/HEAD",
    "a/",
    "/a",
    "a//b",
    "x\n",
    "é",
    "a b",
    "a.",
)
MORE_BAD = ("x" * 65, "a/.b", "a:b", "~", "a^", "a\\b", "..", "a/../b", "-")


def is_branch(name: str) -> bool:
    command = ["git", "check-ref-format", "--branch", name]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize("name", GOOD)
def test_a_good_name_is_a_branch_of_git(name: str) -> None:
    assert name_problem(name) == ""
    assert is_branch(f"harness/{name}")


@pytest.mark.parametrize("name", [*BAD, *MORE_BAD])
def test_a_bad_name_is_refused_with_a_reason(name: str) -> None:
    assert name_problem(name)


@pytest.mark.parametrize(
    ("name", "taken", "refused"),
    [("Fix", "fix", True), ("fix/a", "fix", True), ("fix", "fix/a", True), ("fixes", "fix", False)],
)
def test_a_name_differs_in_more_than_capital_letters_and_is_no_folder_of_another(
    name: str, taken: str, refused: bool
) -> None:
    assert bool(name_problem(name, [taken])) is refused


@given(st.text("ab.-/@H", max_size=8))
def test_what_is_accepted_is_accepted_by_git(name: str) -> None:
    if not name_problem(name):
        assert is_branch(f"harness/{name}")


FORBIDS = {
    "held_by": "session 1",
    "processes": ("vim (7)",),
    "unfinished": "rebase",
    "odd": "it is a link",
    "submodules": ("sub",),
    "nested": ("other",),
}
LOSES = {"ignored": (".env",)}
KEEPS = {"changed": ("a",), "untracked": ("b",), "commits": 2, "left_behind": 1, "missing": True}


def test_every_fact_counts_alone_and_an_empty_state_is_free() -> None:
    assert removal(TreeState()).free
    assert removal(TreeState(branch="harness/x")).free
    for kind, facts in (("forbidden", FORBIDS), ("lost", LOSES), ("kept", KEEPS)):
        for name, value in facts.items():
            found = removal(TreeState(**{name: value}))  # type: ignore[arg-type]
            assert len(getattr(found, kind)) == 1, name
            assert sum(map(len, (found.forbidden, found.lost, found.kept))) == 1
            assert not found.free
    known = {*FORBIDS, *LOSES, *KEEPS, "branch"}
    assert {field.name for field in fields(TreeState)} == known, "a fact that no test looks at"


def test_the_lines_name_files_and_say_how_many_more_there_are() -> None:
    names = tuple(f"f{number}" for number in range(MOST_NAMED + 3))
    assert "f0, " in removal(TreeState(ignored=names)).lost[0]
    assert removal(TreeState(ignored=names)).lost[0].endswith("… (3 more)")
    assert removal(TreeState(commits=1)).kept == ("1 commit of a detached HEAD, on no branch",)
    assert removal(TreeState(commits=2, branch="b")).lines == ("stays in the repository: 2 commits on b, not merged",)
    assert Removal(("x",), ("y",), ()).lines == ("cannot be removed: x", "would be lost: y")


def test_a_line_end_in_the_name_of_a_file_begins_no_line() -> None:
    (line,) = removal(TreeState(untracked=("a\nwould be lost: b",))).lines
    assert line == "stays in the repository: 1 untracked file: a\\nwould be lost: b"
