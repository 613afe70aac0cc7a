"""What the disk says before a decision, against what bash and find make of the same words."""

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.engine.permissions import disk_lookup
from harness.engine.permissions.disk_lookup import disk_of
from harness.permissions import Ask, Mode, PermissionRequest, Permissions, RuleBook, RuleScope, Surroundings, Verdict
from harness.permissions.disk import Disk, FileTree
from harness.tools.tool import Effect

BASH = shutil.which("bash")
NAMES = ["a", "b.py", ".env", ".x", "-n", "a b", "c*", "[d]", "é", "sub", ".hid"]


@contextmanager
def folder_of(names: list[str]) -> Iterator[Path]:
    """A folder with these files, and the same ones in two folders inside it."""
    with tempfile.TemporaryDirectory() as made:
        root = Path(made).resolve()
        for folder in (root, root / "in", root / ".in"):
            folder.mkdir(exist_ok=True)
            for name in names:
                (folder / name).write_text(name)
        yield root


def asked(line: str, root: Path, mode: Mode = Mode.ASK, **rules: str) -> tuple[Permissions, PermissionRequest]:
    """The gate and a call of bash, before the look at the disk."""
    book = RuleBook(Surroundings(str(root), "/home/ada"))
    for verdict, text in rules.items():
        book.add(book.parse(Verdict(verdict), text, RuleScope.SETTINGS))
    request = PermissionRequest("1", "bash", Effect.RUN, line, line, {"command": line})
    return Permissions(mode, book=book), request


def looked_up(line: str, root: Path, **rules: str) -> Disk:
    return disk_of(*asked(line, root, Mode.ASK, **rules))


PARTS = st.text("ab.*?[]!^-x cé*", min_size=1, max_size=5)


@pytest.mark.skipif(BASH is None, reason="needs bash")
@settings(max_examples=150)
@given(st.lists(PARTS, min_size=1, max_size=2), st.sets(st.sampled_from(NAMES)))
def test_nothing_that_bash_finds_by_a_pattern_is_missed(parts: list[str], names: set[str]) -> None:
    assert BASH is not None
    quoted = ["".join(char if char in "*?[]!^-" else f"\\{char}" for char in part) for part in parts]
    pattern = "/".join(part.replace("\\", "") for part in quoted)
    with folder_of(sorted(names)) as root:
        printed = subprocess.run(
            [BASH, "-c", f"printf '%s\\0' ./{'/'.join(quoted)}"], cwd=root, capture_output=True, check=True
        )
        found = [f"{root}/{os.fsdecode(name)}" for name in printed.stdout.split(b"\0")[:-1]]
        ours = disk_lookup._matches(f"{root}/{pattern}")
        assert ours is not None
        there = {os.path.realpath(path) for path in found if os.path.lexists(path)}
        assert there <= {os.path.realpath(path) for path in ours}


def test_a_pattern_that_fits_too_much_is_left_out(tmp_path: Path) -> None:
    for number in range(disk_lookup.MOST_MATCHES + 1):
        (tmp_path / f"{number}.txt").touch()
    disk = looked_up("ls *.txt", tmp_path)
    assert not disk.matches


def test_a_tree_names_only_what_matters(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    for name in ("a.py", "src/b.py", "src/.env", "src/id_rsa"):
        (tmp_path / name).touch()
    (tmp_path / "src" / "out").symlink_to("/etc/passwd")
    [tree] = looked_up("grep -r x .", tmp_path).trees.values()
    assert tree.files == (str(tmp_path / "src/.env"), str(tmp_path / "src/id_rsa"))
    assert tree.complete
    [denied] = looked_up("grep -r x .", tmp_path, deny="read(src/*.py)").trees.values()
    assert str(tmp_path / "src/b.py") in denied.files


@pytest.mark.parametrize("line", ["grep -R x .", "grep -R --include='*.py' x", "rg -L -g '*.py' x .", "rg -L -tpy x"])
def test_a_link_to_a_folder_leaves_open_what_is_read(tmp_path: Path, line: str) -> None:
    (tmp_path / "etc").symlink_to("/etc")
    [followed] = looked_up(line, tmp_path).trees.values()
    assert not followed.complete


def test_what_git_tracks_is_asked_of_git(tmp_path: Path) -> None:
    def git(*arguments: str) -> None:
        subprocess.run(["git", *arguments], cwd=tmp_path, check=True, capture_output=True)

    git("init", "-q")
    for name in (".env", "a.py", "a b.py"):
        (tmp_path / name).touch()
    git("add", "-f", "a.py")
    tree = FileTree(str(tmp_path), tracked=True)
    assert not disk_lookup._contents(tree, lambda path: path.endswith(".env")).files
    git("add", "-f", ".env", "a b.py")
    contents = disk_lookup._contents(tree, lambda path: path.endswith(".env"))
    assert contents.files == (str(tmp_path / ".env"),)


def test_what_is_looked_through_is_counted_and_not_timed(tmp_path: Path) -> None:
    for folder in ("a1", "a2"):
        (tmp_path / folder).mkdir()
        for number in range(1_000):
            (tmp_path / folder / f"{number}.txt").touch()

    def slowly(path: str) -> bool:
        """Look up one name slowly, as on a busy machine."""
        if path.endswith("/7.txt"):
            time.sleep(2.5)
        return False

    one, both = FileTree(str(tmp_path / "a1")), FileTree(f"{tmp_path}/a*", pattern=True)
    assert disk_lookup._contents(one, slowly).complete
    assert disk_lookup._contents(one, lambda path: False, 1_000).complete
    assert not disk_lookup._contents(one, lambda path: False, 999).complete
    assert disk_lookup._contents(both, lambda path: False, 2_000).complete
    assert not disk_lookup._contents(both, lambda path: False, 1_500).complete


def test_a_relative_folder_of_programs_counts_from_where_a_command_runs(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "ls").touch()
    for folder in (".", "../src"):
        permissions, request = asked("cd src && ls", tmp_path)
        assert permissions.book is not None
        permissions.book.around = replace(permissions.book.around, programs_inside=(folder,))
        assert "would run" in permissions.decide(replace(request, disk=disk_of(permissions, request))).why


def test_what_would_run_from_the_workspace_is_found(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "ls").touch()
    permissions, request = asked("ls; cat a", tmp_path)
    assert permissions.book is not None
    permissions.book.around = replace(permissions.book.around, programs_inside=(str(tmp_path / "bin"),))
    assert disk_of(permissions, request).programs == {str(tmp_path / "bin" / "ls")}
    assert "would run" in permissions.decide(replace(request, disk=disk_of(permissions, request))).why


def test_hidden_files_are_passed_over_until_an_ignore_file_brings_some_back(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / ".env").touch()
    tree = FileTree(str(tmp_path / "src"), hidden=False)

    def found() -> tuple[str, ...]:
        return disk_lookup._contents(tree, lambda path: True).files

    assert not found()
    for folder in (tmp_path, tmp_path / "src"):
        (folder / ".ignore").write_text("*.o\n!.env\n")
        assert str(tmp_path / "src" / ".env") in found()
        (folder / ".ignore").unlink()
    os.mkfifo(tmp_path / ".gitignore")
    assert found()


@pytest.mark.parametrize(
    ("options", "asks"),
    [
        ("", True),
        ("--include='*.py'", False),
        ("--include='.e*'", True),
        ("--exclude=.env", False),
        ("--exclude='.env*'", False),
        ("--exclude='*.py'", True),
        ("--exclude=.env --include='*'", True),
        ("--exclude='*.py' --include='*.c'", True),
    ],
)
def test_a_search_is_judged_by_the_names_that_it_looks_into(tmp_path: Path, options: str, asks: bool) -> None:
    for name in (".env", "a.py"):
        (tmp_path / name).write_text("TOKEN")
    line = f"grep -r TOKEN {options} ."
    permissions, request = asked(line, tmp_path)
    decision = permissions.decide(replace(request, disk=disk_of(permissions, request)))
    assert isinstance(decision, Ask) is asks
    found = subprocess.run(["bash", "-c", line], cwd=tmp_path, capture_output=True, text=True, check=False).stdout
    assert asks or ".env" not in found


def test_folders_that_fit_a_pattern_are_looked_through_one_by_one(tmp_path: Path) -> None:
    for folder in ("cmpa", "cmpb"):
        (tmp_path / folder).mkdir()
    (tmp_path / "cmpb" / "out").symlink_to("/etc")
    (tmp_path / "cmpa" / ".env").touch()
    for line in ("grep -R x cmp[a-b]", "grep -r x cmp*", "diff -r cmp? a", "find cmp* -exec cat {} +"):
        permissions, request = asked(line, tmp_path)
        decision = permissions.decide(replace(request, disk=disk_of(permissions, request)))
        assert isinstance(decision, Ask), line


def test_more_folders_than_are_looked_through_leave_open_what_is_read(tmp_path: Path) -> None:
    for number in range(disk_lookup.MOST_MATCHES + 1):
        (tmp_path / f"d{number}").mkdir()
    permissions, request = asked("grep -r x d*", tmp_path)
    disk = disk_of(permissions, request)
    assert not any(tree.complete for tree in disk.trees.values())
    assert isinstance(permissions.decide(replace(request, disk=disk)), Ask)
