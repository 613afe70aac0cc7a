"""Finds out what this machine can enforce: each enforcer really starts a command."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from harness.sandbox.bubblewrap import BubblewrapProgram
from harness.sandbox.landlock import landlock_version, not_held
from harness.sandbox.profile import SandboxLevel, SandboxState
from harness.sandbox.system_calls import filter_for_bubblewrap

TIME_LIMIT_S = 1.0
_WORDS = 160
"""Characters of what bubblewrap says that are shown."""
_INSTALL = {
    **dict.fromkeys(("debian", "ubuntu"), "sudo apt install bubblewrap"),
    **dict.fromkeys(("fedora", "rhel"), "sudo dnf install bubblewrap"),
    **dict.fromkeys(("suse", "opensuse"), "sudo zypper install bubblewrap"),
    "arch": "sudo pacman -S bubblewrap",
    "alpine": "sudo apk add bubblewrap",
    "void": "sudo xbps-install bubblewrap",
    "gentoo": "sudo emerge sys-apps/bubblewrap",
    "nixos": "nix-env -iA nixos.bubblewrap",
}
"""By ID or ID_LIKE of os-release."""
_SYSCTLS = (
    (
        *("kernel/apparmor_restrict_unprivileged_userns", "1", "AppArmor forbids user namespaces"),
        "a profile for bwrap (docs/sandbox.md), or sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
    ),
    (
        *("kernel/unprivileged_userns_clone", "0", "the system forbids user namespaces"),
        "sudo sysctl -w kernel.unprivileged_userns_clone=1",
    ),
    (
        *("user/max_user_namespaces", "0", "the system allows no user namespaces"),
        "sudo sysctl -w user.max_user_namespaces=15000",
    ),
)
"""Below /proc/sys: the setting, the value that forbids, what to say, and what ends it. Ubuntu since 23.10, Debian
before 11, and any kernel."""
_IN_A_CONTAINER = "start the container with " + " ".join(
    f"--security-opt {what}=unconfined" for what in ("seccomp", "apparmor", "systempaths")
)


@dataclass(frozen=True, slots=True)
class Enforcers:
    """The enforcers that work on this machine."""

    state: SandboxState
    bubblewrap: BubblewrapProgram | None = None
    """None: it does not work."""


def probe(search_path: str, root: Path = Path("/")) -> Enforcers:
    """Try the enforcers; at most a second for each.

    Args:
        search_path: folders separated by colons, outside the control of the workspace, because bwrap is run from there.
        root: where /proc and /etc are read.
    """
    if sys.platform == "darwin":
        return Enforcers(_seatbelt())
    program = shutil.which("bwrap", path=search_path)
    if program is None:
        why, repair = "bubblewrap is not installed", install_command(os_release(root))
        return Enforcers(fallback(why, repair, landlock_version()))
    said = ""
    for made in _ways(program):
        said = _refusal_of(made)
        if not said:
            return Enforcers(SandboxState(SandboxLevel.FULL, "bubblewrap"), made)
    why, repair = explain(said, partial(_setting, root), in_container=_in_container(root))
    return Enforcers(fallback(why, repair, landlock_version()))


_EVERYTHING = ("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--")


def _ways(program: str) -> tuple[BubblewrapProgram, ...]:
    """Root mounts by itself; in a container it may lack the right, and gets it in a user namespace."""
    if os.geteuid():
        return (BubblewrapProgram(program),)
    return tuple(BubblewrapProgram(program, user_namespace=asks, root=True) for asks in (False, True))


def _refusal_of(program: BubblewrapProgram) -> str:
    """Why bubblewrap does not start a command, with a filter of system calls as every command has; empty: it does."""
    filtering, filters = filter_for_bubblewrap()
    try:
        return _refusal((*program.arguments, *filtering, *_EVERYTHING, "/bin/sh", "-c", ":"), filters)
    finally:
        for one in filters:
            os.close(one)


def _refusal(command: tuple[str, ...], pass_fds: tuple[int, ...] = ()) -> str:
    """Why a command did not run; empty: it did."""
    try:
        ended = subprocess.run(
            command,
            cwd="/",
            env={"PATH": os.defpath},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=TIME_LIMIT_S,
            start_new_session=True,
            pass_fds=pass_fds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"it did not end within {TIME_LIMIT_S:g} s"
    except OSError as error:
        return str(error.strerror)
    words = (
        " ".join(ended.stderr.decode(errors="replace").replace("bwrap:", " ").split())
        .partition(" See <")[0]
        .rstrip(".")
    )
    return (words or f"exit code {ended.returncode}")[:_WORDS] if ended.returncode else ""


def explain(said: str, setting: Callable[[str], str], *, in_container: bool) -> tuple[str, str]:
    """Why bubblewrap does not work in a few words, and what would make it work. Pure.

    Args:
        said: its own words.
        setting: the text of a file below /proc/sys; empty: there is none.
    """
    for name, forbids, why, repair in _SYSCTLS:
        if setting(name).strip() == forbids:
            return why, repair
    why = f"bubblewrap does not work: {said}"
    if in_container or "mount proc" in said:  # some of /proc is covered, as containers do
        return f"{why} (in a container)", _IN_A_CONTAINER
    return why, ""


def install_command(release: dict[str, str]) -> str:
    """What installs bubblewrap on the system of an os-release file; empty: unknown. Pure."""
    kinds = (release.get("ID", ""), *release.get("ID_LIKE", "").split())
    return next((_INSTALL[kind] for kind in (one.partition("-")[0] for one in kinds) if kind in _INSTALL), "")


def os_release(root: Path) -> dict[str, str]:
    """Its values by name; see os-release(5)."""
    for path in ("etc/os-release", "usr/lib/os-release"):
        lines = _read(root / path).splitlines()
        if lines:
            pairs = (line.partition("=") for line in lines if "=" in line)
            return {name.strip(): value.strip().strip("\"'") for name, _, value in pairs}
    return {}


def fallback(why: str, repair: str, version: int) -> SandboxState:
    """The state where bubblewrap does not work. Pure.

    Args:
        version: that of Landlock; 0: there is none.
    """
    if not version:
        return SandboxState(SandboxLevel.NONE, "", f"{why}, and the kernel has no Landlock, or it is off", repair)
    lacks = not_held(version)
    weaker = f"; this kernel is too old to hold {', '.join(lacks)}" if lacks else ""
    return SandboxState(SandboxLevel.FILES, "landlock", why + weaker, repair)


def _seatbelt() -> SandboxState:
    said = _refusal(("/usr/bin/sandbox-exec", "-p", "(version 1)(allow default)", "/usr/bin/true"))
    if said:
        return SandboxState(SandboxLevel.NONE, "", f"sandbox-exec does not work: {said}")
    return SandboxState(SandboxLevel.FILES, "seatbelt", "its rules for macOS have not been tried on a Mac")


def _in_container(root: Path) -> bool:
    marks = (root / ".dockerenv", root / "run/.containerenv")
    return any(mark.exists() for mark in marks) or "container" in os.environ


def _setting(root: Path, name: str) -> str:
    return _read(root / "proc/sys" / name)


def _read(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""
