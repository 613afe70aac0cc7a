"""Files below one folder, reached name by name, beside what pathlib says of the same folder."""

import os
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from harness.tools.tree import FolderTree

LINK = "symbolic links|Not a directory"


@pytest.fixture
def tree(root: Path) -> Iterator[FolderTree]:
    """An open tree; it leaves no descriptor open and no temporary file behind."""
    before = psutil.Process().num_fds()
    with FolderTree(root) as opened:
        yield opened
    assert psutil.Process().num_fds() == before
    assert not [*root.rglob(".*.tmp")]


def test_a_file_is_written_read_and_removed_with_its_folders(tree: FolderTree, root: Path) -> None:
    assert tree.status("a/b/c") is tree.status("c/") is None
    tree.write("a/b/c", b"one" * 500_000)
    status, data = tree.read("a/b/c", 2_000_000)
    assert (status.st_size, data) == (1_500_000, b"one" * 500_000)
    assert tree.read("a/b/c", 4)[1] == b"oneo"
    assert tree.read("a/b/c", 0)[1] == b""
    tree.write("a/keeps", b"")
    tree.remove("a/b/c")
    assert [path.name for path in root.rglob("*")] == ["a", "keeps"]
    tree.remove("a/keeps")
    assert list(root.iterdir()) == []
    with pytest.raises(FileNotFoundError):
        tree.remove("a/keeps")


def test_a_file_has_the_mode_that_is_wanted_or_the_one_that_it_had(tree: FolderTree, root: Path) -> None:
    for mode, expected in ((0o640, 0o640), (None, 0o640), (0o755, 0o755)):
        tree.write("f", b"x", mode)
        assert (root / "f").stat().st_mode & 0o7777 == expected
    tree.set_mode("f", 0o600)
    assert (root / "f").stat().st_mode & 0o7777 == 0o600


@pytest.mark.parametrize("other_name", [False, True])
def test_a_write_is_durable_checked_and_whole_or_nothing(tree: FolderTree, root: Path, *, other_name: bool) -> None:
    tree.write("f", b"old", durable=True)
    if other_name:
        (root / "g").hardlink_to(root / "f")
    before = (root / "f").stat().st_ino

    def refuse() -> None:
        raise PermissionError("changed meanwhile")

    with pytest.raises(PermissionError, match="changed meanwhile"):
        tree.write("f", b"new", check=refuse)
    assert (root / "f").read_bytes() == b"old"
    tree.write("f", b"newer", durable=True)
    assert ((root / "f").read_bytes(), (root / "f").stat().st_ino == before) == (b"newer", other_name)
    assert not other_name or (root / "g").read_bytes() == b"newer"
    tree.write("f", b"apart", apart=True)
    assert not other_name or (root / "g").read_bytes() == b"newer"
    assert (root / "f").stat().st_nlink == 1


def test_a_new_file_takes_no_name_that_is_there(tree: FolderTree, root: Path) -> None:
    tree.write("f", b"first", new=True)
    with pytest.raises(FileExistsError):
        tree.write("f", b"second", new=True)
    assert ((root / "f").read_bytes(), (root / "f").stat().st_nlink) == (b"first", 1)


def test_no_link_on_the_way_is_followed(tree: FolderTree, root: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "f").write_text("hidden")
    tree.write_link("links/out", b"../../outside")
    tree.write_link("links/f", b"../../outside/f")
    assert (tree.target("links/out"), tree.target("links/f")) == (b"../../outside", b"../../outside/f")
    assert tree.status("links/out/f") is None
    for reading in ("links/out/f", "links/f"):
        with pytest.raises(OSError, match=LINK):
            tree.read(reading, 9)
    with pytest.raises(OSError, match=LINK):
        tree.set_mode("links/f", 0o777)
    with pytest.raises(OSError, match=LINK):
        tree.write("links/out/g", b"x")
    tree.write("links/f", b"here")  # takes the place of the link
    assert (root / "links" / "f").read_bytes() == b"here"
    assert [path.name for path in (tmp_path / "outside").iterdir()] == ["f"]


def test_only_an_empty_folder_makes_way_for_a_file_or_link(tree: FolderTree, root: Path) -> None:
    for name in ("file", "link"):
        (root / name).mkdir()
    (root / "full" / "inner").mkdir(parents=True)
    tree.write("file", b"x")
    tree.write_link("link", b"file")
    assert ((root / "file").is_file(), (root / "link").is_symlink()) == (True, True)
    with pytest.raises(OSError, match="not empty"):
        tree.write("full", b"x")
    with pytest.raises(OSError, match="not empty"):
        tree.write_link("full", b"file")


@pytest.mark.parametrize("kind", ["folder", "pipe"])
def test_what_is_no_regular_file_is_not_opened(tree: FolderTree, root: Path, kind: str) -> None:
    (root / "x").mkdir() if kind == "folder" else os.mkfifo(root / "x")
    with pytest.raises(OSError, match="is no longer a regular file"):
        tree.read("x", 9)
