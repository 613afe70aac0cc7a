"""Files from other parties are read or refused without blocking."""

import os
from pathlib import Path

import pytest

from harness.base.files import NotRegularError, home_folder, private_folder, read_regular


def test_reads_a_file_up_to_the_limit(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_bytes(b"12345")
    assert read_regular(file, 5) == b"12345"
    with pytest.raises(NotRegularError, match="larger than 4 bytes"):
        read_regular(file, 4)


def test_follows_a_link_to_a_file(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x")
    (tmp_path / "b").symlink_to("a")
    assert read_regular(tmp_path / "b", 5) == b"x"


def test_refuses_whatever_is_no_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    for path in (tmp_path / "pipe", tmp_path / "link", Path("/dev/zero")):
        with pytest.raises(NotRegularError, match="not a regular file"):
            read_regular(path, 5)


def test_a_missing_file_is_missing_and_a_directory_is_one(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError):
        read_regular(tmp_path, 5)
    with pytest.raises(FileNotFoundError):
        read_regular(tmp_path / "a", 5)


def test_a_folder_that_was_open_is_closed_with_all_in_it(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        (tmp_path / "open" / "sub").mkdir(parents=True)
        (tmp_path / "open" / "sub" / "file").write_text("x")
        (tmp_path / "outside").write_text("x")
        (tmp_path / "open" / "link").symlink_to(tmp_path / "outside")
        private_folder(tmp_path / "open")
    finally:
        os.umask(before)
    modes = {name: (tmp_path / name).stat().st_mode & 0o777 for name in ("open", "open/sub", "open/sub/file")}
    assert modes == {"open": 0o700, "open/sub": 0o700, "open/sub/file": 0o600}
    assert (tmp_path / "outside").stat().st_mode & 0o777 == 0o666


def test_a_user_without_a_home_has_a_path_that_is_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert home_folder() == tmp_path
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", "~")  # what `expanduser` leaves where neither HOME nor the list of users names one
    assert home_folder() == tmp_path / "~"
