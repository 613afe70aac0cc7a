"""What a command in bubblewrap can read and write is what its profile says."""

import os
import re
import shlex
import socket
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.sandbox.profile import Profile, ProfileName
from tests.sandbox.machine import CALLERS, LINKS, SYSTEM, bubblewrap, folder_of, run_in

FOLDERS = ("", "a", "a/b", "a/b/c", "a b", "d", "d/é\n", "d/.git", "d/.git/hooks")
FILES = ("f", "a/f", "a/b/f", "a/b/.env", "a/b/c/f", "a b/f", "d/f", "d/é\n/f", "d/.git/config", "d/.git/hooks/f")
TMUX = "SHELL=/bin/sh tmux -S /tmp/t"
"""With a shell: without one, tmux takes that of the user, and the user of this test may have none that runs a line."""
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


READ_ONLY, BUSY = "Read-only file system", "Device or resource busy"


@pytest.mark.parametrize(
    ("line", "printed"),
    [
        ("kill -0 $OUTSIDE", "No such process"),
        ("ls -d /proc/$OUTSIDE", "No such file"),
        ("[ $(readlink /proc/self/ns/ipc) != $IPC ] && echo own", "own"),
        ("cat /root/.bashrc /home/*/.bashrc", "No such file"),
        ("echo x > /usr/x", READ_ONLY),
        ("echo x > /x", READ_ONLY),
        ("echo x > /run/x", READ_ONLY),
        ("echo x > ~/x", f"{READ_ONLY}|No such file"),
        ("echo $(hostname) > /proc/sys/kernel/hostname", f"{READ_ONLY}|Permission denied"),
        ("find /run /var/tmp /dev/shm -type f,s | wc -l", r"^0\n$"),
        ("exec 3<>/dev/tcp/127.0.0.1/$PORT", "Connection refused"),
        ("grep -c : /proc/net/dev", r"^1\n$"),
        (
            "unshare -Urm umount $PWD/key; unshare -Urm sh -c 'umount $PWD/key; cat key'",
            "umount: .*(not mounted|must be|nvalid)|uid_map",
        ),
        ("mkdir x; unshare -Urm mount --bind . x; cat x/key; unshare -Urm sh -c 'mount --bind . x; cat x/key'", "."),
        ("mount -t tmpfs x /usr", "must be superuser|permission denied|Operation not permitted"),
        ("mknod disk b 254 0; cat disk", "Operation not permitted"),
        ("mv .git other", BUSY),
        ("rm -f key", BUSY),
        ("ln key other; cat other", "Invalid cross-device link"),
        ("mkdir sub; mv sub other && ls", "other"),
        (f"{TMUX} new -d '{TMUX} wait -S x; cat'; {TMUX} wait x && echo done; {TMUX} kill-server", "done"),
        ("grep CapEff /proc/self/status", "00000000000004fb|0000000000000000"),
        ("touch /tmp/a /var/tmp/b /dev/shm/c && ls /tmp", "^a\nb\n"),
    ],
)
@pytest.mark.parametrize("caller", CALLERS)
def test_what_a_command_in_a_workspace_meets(caller: str, line: str, printed: str) -> None:
    with folder_of(caller) as workspace, socket.create_server(("127.0.0.1", 0)) as listening:
        (workspace / ".git").mkdir()
        (workspace / "key").write_text("hunter2")
        writable = (str(workspace), str(workspace / ".git"))
        profile = Profile(ProfileName.WORK, SYSTEM, writable, hidden=(str(workspace / "key"),), links=LINKS)
        values = f"OUTSIDE={os.getpid()} PORT={listening.getsockname()[1]} IPC={Path('/proc/self/ns/ipc').readlink()}\n"
        done = run_in(profile, "/bin/bash", "-c", values + line, cwd=str(workspace), caller=caller)
    said = done.stdout + done.stderr
    assert re.search(printed, said), said
    assert "hunter2" not in said


def test_beside_what_is_visible_in_a_hidden_folder_nothing_can_be_made(tmp_path: Path) -> None:
    top = Path(os.path.realpath(tmp_path))
    (top / "hidden/shown").mkdir(parents=True)
    shown = str(top / "hidden/shown")
    profile = Profile(ProfileName.WORK, SYSTEM, (str(top), shown), hidden=(str(top / "hidden"),), links=LINKS)
    said = run_in(profile, "/bin/sh", "-c", "touch hidden/shown/new; touch hidden/new; ls hidden", cwd=str(top))
    assert said.stdout == "shown\n"
    assert READ_ONLY in said.stderr
    assert (top / "hidden/shown/new").exists()
