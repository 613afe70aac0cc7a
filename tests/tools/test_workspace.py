"""The border around the workspace, against mazes of links."""

import os
import socket
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.tools.workspace import OutsideWorkspace, PathError, Workspace, require_file
from tests.whole import examples

names = st.sampled_from(["a", "b", "c"])
steps = st.sampled_from(["a", "b", "c", "..", "."])
targets = st.one_of(
    st.lists(steps, min_size=1, max_size=4).map("/".join),
    st.lists(steps, max_size=3).map(lambda parts: "{top}/" + "/".join(parts)),
    st.sampled_from(["/", "/etc", "{top}/outside", "{top}/workspace/a", "~"]),
)
entries = st.lists(st.tuples(names, names, st.sampled_from(["folder", "file", "link"]), targets), max_size=12)


def build(top: Path, maze: list[tuple[str, str, str, str]]) -> None:
    """Make what can be made of the maze; links go anywhere, also in circles."""
    for first, second, kind, target in maze:
        path = top / "workspace" / first / second
        try:
            path.parent.mkdir(exist_ok=True)
            match kind:
                case "folder":
                    path.mkdir()
                case "file":
                    path.touch()
                case _:
                    path.symlink_to(target.format(top=top))
        except OSError:
            continue


@settings(max_examples=examples(120), deadline=None)
@given(maze=entries, asked=st.lists(targets, min_size=1, max_size=6))
def test_no_maze_of_links_leads_outside(maze: list[tuple[str, str, str, str]], asked: list[str]) -> None:
    with TemporaryDirectory() as folder:
        top = Path(folder).resolve()
        (top / "outside").mkdir()
        (top / "workspace").mkdir()
        build(top, maze)
        workspace = Workspace(top / "workspace")
        for path in asked:
            named = path.format(top=top)
            # The oracle is the C library's view of the path, not pathlib's.
            real = os.path.realpath(os.path.join(top / "workspace", os.path.expanduser(named)))  # noqa: PTH118, PTH111
            inside = os.path.commonpath([real, str(top / "workspace")]) == str(top / "workspace")
            try:
                resolved = workspace.resolve(named)
            except OutsideWorkspace:
                assert not inside
            except PathError:
                continue  # links in a circle
            else:
                assert str(resolved) == real
                assert inside


@pytest.mark.parametrize("path", ["../x", "/etc/passwd", "~/x", "a/../../x", "/"])
def test_a_path_outside_is_refused_with_the_name_of_the_workspace(path: str, root: Path) -> None:
    with pytest.raises(OutsideWorkspace) as refusal:
        Workspace(root).resolve(path)
    assert str(root) in str(refusal.value)


def test_a_neighbour_with_the_same_beginning_is_outside(root: Path) -> None:
    with pytest.raises(OutsideWorkspace):
        Workspace(root).resolve(f"{root}-evil/x")


@pytest.mark.parametrize("path", ["x", "./x", "a/../x", "deep/er/x"])
def test_a_path_inside_may_exist_or_not(path: str, root: Path) -> None:
    assert Workspace(root).resolve(path).is_relative_to(root)


def test_a_null_byte_is_no_path(root: Path) -> None:
    with pytest.raises(PathError):
        Workspace(root).resolve("a\0b")


def test_a_root_given_as_a_link_is_the_folder_itself(root: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(root)
    assert Workspace(tmp_path / "link").root == root


def test_a_missing_file_is_reported_with_similar_names(root: Path) -> None:
    (root / "src").mkdir()
    (root / "src" / "config.py").touch()
    with pytest.raises(PathError, match=r"does not exist.*config\.py"):
        require_file(root / "src" / "confg.py", "src/confg.py")
    with pytest.raises(PathError, match=r"has no scr.*src"):
        require_file(root / "scr" / "config.py", "scr/config.py")


def test_a_directory_is_reported_with_its_entries(root: Path) -> None:
    (root / "src" / "inner").mkdir(parents=True)
    (root / "src" / "a.py").touch()
    with pytest.raises(PathError, match=r"a directory of 2 entries: a\.py, inner/"):
        require_file(root / "src", "src")


def test_pipes_sockets_and_devices_are_left_alone(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(root / "pipe")
    with pytest.raises(PathError, match="a named pipe"):
        require_file(root / "pipe", "pipe")
    monkeypatch.chdir(root)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket")
        with pytest.raises(PathError, match="a socket"):
            require_file(root / "socket", "socket")
    for path in ("/dev/null", "/proc/self/environ"):
        with pytest.raises(PathError, match="not a regular file"):
            require_file(Path(path), path)


def test_a_path_below_a_file_does_not_exist(root: Path) -> None:
    (root / "file").touch()
    with pytest.raises(PathError, match="does not exist"):
        require_file(root / "file" / "x", "file/x")
