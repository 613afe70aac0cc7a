"""What a command in bubblewrap can read and write is what its profile says."""

import os
import shlex
import socket
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.sandbox.profile import Profile, ProfileName
from tests.sandbox.machine import LINKS, SYSTEM, bubblewrap, run_in

FOLDERS = ("", "a", "a/b", "a/b/c", "a b", "d", "d/é\n", "d/.git", "d/.git/hooks")
FILES = ("f", "a/f", "a/b/f", "a/b/.env", "a/b/c/f", "a b/f", "d/f", "d/é\n/f", "d/.git/config", "d/.git/hooks/f")
PLACES = st.lists(st.sampled_from((*FOLDERS, *FILES)), unique=True, max_size=4)


def allowed(path: str, readable: list[str], writable: list[str], read_only: list[str], hidden: list[str]) -> str:
    """The longest path that covers it decides; of equal ones the last list."""
    best, answer = -1, "none"
    lists = (("read", readable), ("write", writable), ("read", read_only), ("none", hidden))
    for kind, places in lists:
        for place in places:
            parts = place.split("/") if place else []
            if path.split("/")[: len(parts)] == parts and len(parts) >= best:
                best, answer = len(parts), kind
    return answer


@given(readable=PLACES, writable=PLACES, read_only=PLACES, hidden=PLACES, name=st.sampled_from(("look", "work")))
@settings(deadline=None, max_examples=40)
def test_the_longest_path_that_covers_a_file_decides(
    readable: list[str], writable: list[str], read_only: list[str], hidden: list[str], name: str
) -> None:
    bubblewrap()
    with tempfile.TemporaryDirectory() as made:
        base = Path(os.path.realpath(made))
        top = base / "top"
        for folder in FOLDERS:
            (top / folder).mkdir(parents=True, exist_ok=True)
        for file in FILES:
            (top / file).write_text("old\n")

        def paths(places: list[str]) -> tuple[str, ...]:
            return tuple(str(top / one) for one in places)

        seen = (*SYSTEM, *paths(readable))
        profile = Profile(ProfileName(name), seen, paths(writable), paths(read_only), paths(hidden), links=LINKS)
        script = [f"test -s {shlex.quote(str(top / one))} && printf r || printf -" for one in FILES]
        script += [f"{{ echo x >> {shlex.quote(str(top / one))}; }} 2>/dev/null" for one in FILES]
        script += [f"{{ true > {shlex.quote(str(top / one / 'new'))}; }} 2>/dev/null" for one in FOLDERS]
        done = run_in(profile, "/bin/sh", "-c", "\n".join([*script, ":"]), cwd="/")
        assert (done.returncode, done.stderr) == (0, "")
        said = {one: allowed(one, readable, writable, read_only, hidden) for one in (*FILES, *FOLDERS)}
        assert done.stdout == "".join("-" if said[one] == "none" else "r" for one in FILES)
        assert {one: (top / one).read_text() for one in FILES} == {
            one: "old\nx\n" if said[one] == "write" else "old\n" for one in FILES
        }
        assert {one: (top / one / "new").exists() for one in FOLDERS} == {one: said[one] == "write" for one in FOLDERS}


@pytest.mark.parametrize(
    ("line", "printed"),
    [
        ("kill -0 $OUTSIDE", "No such process"),
        ("ls /proc | grep -cx $OUTSIDE", "0"),
        ("cat /home/*/.bashrc /root/.bashrc", "No such file"),
        ("echo x > /usr/x; echo x > /x; echo x > /run/x", "Read-only file system"),
        ("echo x > /proc/sys/kernel/hostname", "Read-only file system\nPermission denied"),
        ("ls /run", ""),
        ("exec 3<>/dev/tcp/127.0.0.1/$PORT", "Connection refused"),
        ("cat /proc/net/dev | grep -c : ", "1"),
        (
            "unshare -Urm sh -c 'umount $PWD/key || umount -l $PWD/key'; cat key",
            "not mounted\nmust be\nfail\nnvalid",
        ),
        ("mount --bind . /usr; umount /usr", "\nmust be superuser\npermission denied"),
        ("mv .git other", "Device or resource busy"),
        ("rm -f key; cat key", "Device or resource busy"),
        (
            "t() { tmux -S /tmp/t \"$@\"; }; t new -d 'tmux -S /tmp/t wait -S x; cat'; t wait x && echo done; t kill-server",
            "done",
        ),
        ("grep CapEff /proc/self/status", "00000000000004fb\n0000000000000000"),
        ("ls -A ~ /tmp /var/tmp /dev/shm; touch /tmp/a /var/tmp/b /dev/shm/c && ls /tmp", "a\nb"),
    ],
)
def test_what_a_command_in_a_workspace_meets(tmp_path: Path, line: str, printed: str) -> None:
    workspace = Path(os.path.realpath(tmp_path)) / "w"
    (workspace / ".git").mkdir(parents=True)
    (workspace / "key").write_text("hunter2")
    writable = (str(workspace), str(workspace / ".git"))
    profile = Profile(ProfileName.WORK, SYSTEM, writable, hidden=(str(workspace / "key"),), links=LINKS)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        values = f"OUTSIDE={os.getpid()} PORT={listening.getsockname()[1]}\n"
        done = run_in(profile, "/bin/bash", "-c", values + line, cwd=str(workspace))
    said = done.stdout + done.stderr
    assert any(one in said for one in printed.split("\n")), said
    assert "hunter2" not in said
