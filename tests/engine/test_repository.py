"""The changes of real repositories: generated ones, compared with a naive reading, and odd ones."""

import os
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.base.errors import HarnessError
from harness.engine.repository import MOST_UNTRACKED, ChangedFile, changes_since, local_changes

WHO = ("-c", "user.name=n", "-c", "user.email=n@example.org", "-c", "protocol.file.allow=always")


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(("git", *WHO, *arguments), cwd=folder, check=True, capture_output=True)
    return done.stdout.decode()


def write(folder: Path, files: Mapping[str, str]) -> None:
    """Make the folder hold exactly these files beside .git."""
    for path in folder.iterdir():
        if path.is_file():
            path.unlink()
    for name, text in files.items():
        (folder / name).write_text(text)


def new_text(file: ChangedFile, old: str) -> str:
    """The new text of a file, by applying its hunks to the old one line by line."""
    before, after, at = old.split("\n"), [], 0
    for line in file.hunks.split("\n")[:-1]:
        if line.startswith("@@"):
            start, _, count = line.split()[1][1:].partition(",")
            begin = int(start) - (count != "0")
            after += before[at:begin]
            at = begin
        elif line[:1] == "+":
            after.append(line[1:])
        elif line[:1] in (" ", "-"):
            assert before[at] == line[1:]
            after += [line[1:]] * (line[0] == " ")
            at += 1
    return "\n".join((*after, *before[at:]))


names = st.sampled_from(["a.py", "b c.txt", "ü.md", "-x", "q\"'.txt"])
texts = st.lists(st.sampled_from(["one", "two", "  three", "-- x", "++ y", "@@"]), max_size=12).map(
    lambda lines: "".join(f"{line}\n" for line in lines)
)
trees = st.dictionaries(names, texts, max_size=4)


@settings(max_examples=25, deadline=None)
@given(trees, trees, trees, st.booleans())
def test_each_group_leads_from_its_old_files_to_its_new_ones(
    committed: dict[str, str], staged: dict[str, str], now: dict[str, str], unborn: bool
) -> None:
    with TemporaryDirectory() as made:
        folder = Path(made)
        git(folder, "init", "-q", "-b", "main")
        if not unborn:
            write(folder, committed)
            git(folder, "add", "-A")
            git(folder, "commit", "-qm", "x", "--allow-empty")
        write(folder, staged)
        git(folder, "add", "-A")
        write(folder, now)
        found = local_changes(folder).files
        head = {} if unborn else committed
        steps = {"staged": (head, staged), "unstaged": (staged, {name: now[name] for name in now if name in staged})}
        for group, (old, new) in steps.items():
            seen = dict(old)
            for file in (one for one in found if one.group == group):
                source = file.note.removeprefix("renamed from ").split(", ")[0] if "renamed" in file.note else file.path
                text = new_text(file, old.get(source, ""))
                if source != file.path:
                    seen.pop(source, None)
                if "deleted" in file.note:
                    seen.pop(file.path, None)
                else:
                    seen[file.path] = text
            assert seen == new
        assert {one.path for one in found if one.group == "untracked"} == set(now) - set(staged)
        against = changes_since(folder, "")
        assert {one.path for one in against.files if one.group == "untracked"} == set(now) - set(staged)


def dirty(folder: Path) -> None:
    (folder / "a.txt").write_text("changed\n")
    (folder / "new.txt").write_text("new\nno end")
    (folder / "data").write_bytes(b"\0\1" * 50)


def with_binary(folder: Path) -> None:
    (folder / "data").write_bytes(b"\0\1")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "data")
    (folder / "data").write_bytes(b"\0\2")


def renamed(folder: Path) -> None:
    git(folder, "mv", "a.txt", "b.txt")
    (folder / "b.txt").write_text("a\nb\nmore\n")


def detached(folder: Path) -> None:
    git(folder, "checkout", "-q", "--detach")
    (folder / "a.txt").unlink()


def with_submodule(folder: Path) -> None:
    other = folder.parent / "other"
    other.mkdir()
    begin(other)
    git(folder, "submodule", "add", "-q", str(other), "sub")
    git(folder, "commit", "-qm", "sub")
    git(folder / "sub", "commit", "-qm", "more", "--allow-empty")
    (folder / "nested").mkdir()
    begin(folder / "nested")


def in_conflict(folder: Path) -> None:
    git(folder, "checkout", "-qb", "side")
    (folder / "a.txt").write_text("side\n")
    git(folder, "commit", "-qam", "side")
    git(folder, "checkout", "-q", "main")
    (folder / "a.txt").write_text("main\n")
    git(folder, "commit", "-qam", "main")
    subprocess.run(("git", *WHO, "merge", "-q", "side"), cwd=folder, capture_output=True, check=False)


def odd_modes(folder: Path) -> None:
    (folder / "a.txt").chmod(0o755)
    (folder / "link").symlink_to("a.txt")
    git(folder, "config", "diff.external", "touch ran")
    git(folder, "config", "diff.noprefix", "true")
    git(folder, "config", "core.fsmonitor", "touch ran")
    (folder / ".gitattributes").write_text("*.txt diff=x\n")
    git(folder, "config", "diff.x.textconv", "touch ran; cat")


def begin(folder: Path) -> None:
    """A repository with one commit."""
    git(folder, "init", "-q", "-b", "main")
    (folder / "a.txt").write_text("a\nb\n")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "first")


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (lambda _: None, []),
        (dirty, ["unstaged a.txt +1 -2", "untracked data +0 -0 binary", "untracked new.txt +2 -0"]),
        (with_binary, ["unstaged data +0 -0 binary"]),
        (renamed, ["staged b.txt +0 -0 renamed from a.txt", "unstaged b.txt +1 -0"]),
        (detached, ["unstaged a.txt +0 -2 deleted"]),
        (with_submodule, ["unstaged sub +1 -1 submodule", "untracked nested/ +0 -0 a repository of its own"]),
        (
            odd_modes,
            [
                *("unstaged a.txt +0 -0 mode 100644 → 100755", "untracked .gitattributes +1 -0"),
                "untracked link +0 -0 link to a.txt",
            ],
        ),
    ],
)
def test_odd_repositories_are_told_in_words(tmp_path: Path, change: Callable[[Path], None], found: list[str]) -> None:
    folder = tmp_path / "repository"
    (folder / "below").mkdir(parents=True)
    begin(folder)
    change(folder)
    for start in (folder, folder / "below"):
        files = local_changes(start).files
        assert [f"{one.group} {one.path} +{one.added} -{one.removed} {one.note}".rstrip() for one in files] == found
    assert not (folder / "ran").exists()


def test_a_conflict_is_named_once_with_what_differs_from_our_side(tmp_path: Path) -> None:
    begin(tmp_path)
    (tmp_path / "z.txt").write_text("z\n")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "z")
    in_conflict(tmp_path)
    (tmp_path / "z.txt").write_text("zz\n")
    changed, other = local_changes(tmp_path).files
    assert (changed.group, changed.path, changed.note) == ("unstaged", "a.txt", "in conflict")
    assert new_text(changed, "main\n") == (tmp_path / "a.txt").read_text()
    assert (other.path, new_text(other, "z\n")) == ("z.txt", "zz\n")
    assert [one.path for one in local_changes(tmp_path, "a.txt").files] == ["a.txt"]


def test_a_file_that_a_merge_left_without_our_side_is_named(tmp_path: Path) -> None:
    begin(tmp_path)
    git(tmp_path, "checkout", "-qb", "side")
    (tmp_path / "a.txt").write_text("side\n")
    git(tmp_path, "commit", "-qam", "side")
    git(tmp_path, "checkout", "-q", "main")
    git(tmp_path, "rm", "-q", "a.txt")
    git(tmp_path, "commit", "-qm", "gone")
    subprocess.run(("git", *WHO, "merge", "-q", "side"), cwd=tmp_path, capture_output=True, check=False)
    assert [(one.path, one.note) for one in local_changes(tmp_path).files] == [("a.txt", "in conflict")]


def test_a_file_that_became_a_link_does_not_shift_the_diffs_of_others(tmp_path: Path) -> None:
    begin(tmp_path)
    (tmp_path / "b.txt").write_text("b\n")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "b")
    (tmp_path / "a.txt").unlink()
    (tmp_path / "a.txt").symlink_to("b.txt")
    (tmp_path / "b.txt").write_text("c\n")
    *_, last = local_changes(tmp_path).files
    assert (last.path, new_text(last, "b\n")) == ("b.txt", "c\n")


def test_a_file_that_is_asked_for_is_read_behind_any_number_of_others(tmp_path: Path) -> None:
    begin(tmp_path)
    (tmp_path / "new").mkdir()
    for number in range(MOST_UNTRACKED + 1):
        (tmp_path / "new" / f"{number:04}").write_text("x\n")
    last = f"new/{MOST_UNTRACKED:04}"
    (found,) = local_changes(tmp_path, f"./{last}").files
    assert (found.path, found.added) == (last, 1)


def test_a_name_with_a_line_break_is_one_line(tmp_path: Path) -> None:
    begin(tmp_path)
    (tmp_path / "a\nb.py  +9 −0").write_text("x\n")
    assert [one.path for one in local_changes(tmp_path).files] == ["a\\nb.py  +9 −0"]


def test_a_review_compares_the_working_tree_with_the_merge_base(tmp_path: Path) -> None:
    begin(tmp_path)
    git(tmp_path, "checkout", "-qb", "work")
    (tmp_path / "mine.txt").write_text("mine\n")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "mine")
    git(tmp_path, "checkout", "-q", "main")
    (tmp_path / "theirs.txt").write_text("theirs\n")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "theirs")
    git(tmp_path, "checkout", "-q", "work")
    (tmp_path / "a.txt").write_text("a\nchanged\n")
    (tmp_path / "new.txt").write_text("new\n")
    for base in ("", "main"):
        found = changes_since(tmp_path, base)
        assert found.base.startswith("main (")
        assert [(one.group, one.path) for one in found.files] == [
            *(("changed", "a.txt"), ("changed", "mine.txt"), ("untracked", "new.txt"))
        ]
    for wrong in ("no-such", "--output=x", "main^{tree}"):
        with pytest.raises(HarnessError, match="no branch or commit"):
            changes_since(tmp_path, wrong)
    assert not (tmp_path / "x").exists()


def test_no_repository_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(HarnessError, match=r"is in no git repository; `git init` makes one\."):
        local_changes(tmp_path)
    git(tmp_path, "init", "-q")
    monkeypatch.setenv("PATH", os.devnull)
    with pytest.raises(HarnessError, match="git is not installed"):
        local_changes(tmp_path)


def test_a_great_change_is_counted_and_not_read(tmp_path: Path) -> None:
    begin(tmp_path)
    (tmp_path / "a.txt").write_text("x\n" * 50_000)
    (found,) = local_changes(tmp_path).files
    assert (found.added, found.hunks) == (50_000, "")
