"""What a machine can enforce is found out by trying it, and what is missing is said with the command that ends it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness.sandbox.landlock import landlock_version
from harness.sandbox.probe import explain, fallback, install_command, os_release, probe
from harness.sandbox.profile import SandboxLevel
from tests.sandbox.machine import USER, bubblewrap

REPOSITORY = Path(__file__).parents[2]
SHOWN = f"""
import ctypes, os, sys
from pathlib import Path
from harness.sandbox.probe import probe
import harness.sandbox.landlock, subprocess
if "user" in sys.argv:
    os.setgroups([])
    os.setresgid({USER}, {USER}, {USER})
    os.setresuid({USER}, {USER}, {USER})
if "forbidden" in sys.argv:  # in a namespace of its own, which has a setting of its own
    libc = ctypes.CDLL(None)
    assert libc.prctl(4, 1, 0, 0, 0) == 0  # its files in /proc belong to the user again
    assert libc.unshare(0x10000000) == 0
    Path("/proc/self/uid_map").write_text(f"{{os.geteuid()}} {{os.geteuid()}} 1")
    Path("/proc/sys/user/max_user_namespaces").write_text("0")
found = probe(os.environ["PATH"])
print(found.state.level.value, found.state.why, found.state.repair, found.bubblewrap, sep="|")
"""


def shown(*prefix: str, how: tuple[str, ...] = ()) -> str:
    """What the probe finds in a process that `prefix` starts, and that takes rights away from itself."""
    bubblewrap()
    if os.geteuid():
        pytest.skip("only root can take rights away")
    command = [*prefix, sys.executable, "-c", SHOWN, *how]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_this_machine_is_found() -> None:
    bubblewrap()
    found = probe(os.environ["PATH"])
    assert (found.state.level, found.state.by, found.state.why) == (SandboxLevel.FULL, "bubblewrap", "")


def test_a_user_and_root_get_the_full_sandbox() -> None:
    assert "user_namespace=False, root=True" in shown()
    assert "user_namespace=False, root=False" in shown(how=("user",))


def test_root_that_may_not_mount_asks_for_a_user_namespace() -> None:
    said = shown("setpriv", "--bounding-set=-sys_admin", "sh", "-c", 'exec "$@"', "sh")
    assert said.startswith("full|||")
    assert "user_namespace=True, root=True" in said


def test_user_namespaces_that_are_forbidden_are_said() -> None:
    said = shown(how=("user", "forbidden"))
    assert said.startswith("files only|" if landlock_version() else "none|")
    assert "the system allows no user namespaces" in said
    assert "|sudo sysctl -w user.max_user_namespaces=15000|None" in said
    forbidden = 'echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"'
    assert shown("unshare", "-Ur", "sh", "-c", forbidden, "sh").startswith("full|")  # root mounts by itself


def test_a_system_that_lets_nobody_mount_proc_is_said() -> None:
    others = "awk '$5 != \"/proc\" && / - proc /{print $5}' /proc/self/mountinfo | xargs -r umount -l"
    covered = f'{others}; mount -t tmpfs none /proc/irq && exec unshare -Urm "$@"'  # which cannot uncover it
    said = shown("unshare", "-m", "sh", "-c", covered, "sh")
    assert "bubblewrap does not work: Can't mount proc" in said
    assert "|start the container with --security-opt" in said


@pytest.mark.parametrize(
    ("settings", "why", "repair"),
    [
        (
            {"kernel/apparmor_restrict_unprivileged_userns": "1\n", "user/max_user_namespaces": "0\n"},
            "AppArmor forbids user namespaces",
            "a profile for bwrap (docs/sandbox.md), or sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
        ),
        (
            {"kernel/apparmor_restrict_unprivileged_userns": "0\n", "kernel/unprivileged_userns_clone": "0\n"},
            "the system forbids user namespaces",
            "sudo sysctl -w kernel.unprivileged_userns_clone=1",
        ),
        (
            {"user/max_user_namespaces": "0\n"},
            "the system allows no user namespaces",
            "sudo sysctl -w user.max_user_namespaces=15000",
        ),
        ({"user/max_user_namespaces": "9\n"}, "bubblewrap does not work: words", ""),
    ],
)
def test_the_reason_and_the_command_that_ends_it(settings: dict[str, str], why: str, repair: str) -> None:
    assert explain("words", lambda name: settings.get(name, ""), in_container=False) == (why, repair)


def test_in_a_container_its_options_are_named() -> None:
    why, repair = explain("words", lambda name: "", in_container=True)
    assert why == "bubblewrap does not work: words (in a container)"
    assert "--security-opt" in repair


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("ID=debian\n", "sudo apt install bubblewrap"),
        ('NAME="Linux Mint"\nID=linuxmint\nID_LIKE="ubuntu debian"\n', "sudo apt install bubblewrap"),
        ('ID="rocky"\nID_LIKE="rhel centos fedora"\n', "sudo dnf install bubblewrap"),
        ("ID=manjaro\nID_LIKE=arch\n", "sudo pacman -S bubblewrap"),
        ("ID=alpine\n", "sudo apk add bubblewrap"),
        ('ID="opensuse-tumbleweed"\nID_LIKE="opensuse suse"\n', "sudo zypper install bubblewrap"),
        ("ID=nixos\n", "nix-env -iA nixos.bubblewrap"),
        ("ID=unheard\n", ""),
        ("", ""),
    ],
)
def test_a_missing_bubblewrap_is_installed_by_the_system_s_own_command(tmp_path: Path, text: str, command: str) -> None:
    (tmp_path / "usr/lib").mkdir(parents=True)
    (tmp_path / "usr/lib/os-release").write_text(text)
    assert install_command(os_release(tmp_path)) == command
    state = probe(str(tmp_path), tmp_path).state
    assert state.why.startswith("bubblewrap is not installed")
    assert (state.level is SandboxLevel.FULL, state.repair) == (False, command)


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("echo 'bwrap: No permissions' >&2; exit 1", "bubblewrap does not work: No permissions"),
        ("exit 3", "bubblewrap does not work: exit code 3"),
        ('case "$*" in *--seccomp*) exit 4; esac', "bubblewrap does not work: exit code 4"),
        ("exec sleep 9", "bubblewrap does not work: it did not end within 1 s"),
    ],
)
def test_a_bubblewrap_that_does_not_work_is_not_used(tmp_path: Path, script: str, why: str) -> None:
    program = tmp_path / "bwrap"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    found = probe(str(tmp_path), tmp_path)
    assert found.bubblewrap is None
    assert found.state.why.startswith(why)


def test_without_bubblewrap_it_depends_on_landlock() -> None:
    assert fallback("x", "y", 0).level is SandboxLevel.NONE
    assert "no Landlock" in fallback("x", "y", 0).why
    old, new = fallback("x", "y", 1), fallback("x", "y", 7)
    assert {old.level, new.level} == {SandboxLevel.FILES}
    assert (old.by, new.why, new.repair) == ("landlock", "x", "y")
    assert "too old to hold" in old.why
