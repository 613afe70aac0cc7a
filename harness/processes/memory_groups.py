"""A memory limit for commands: each runs in a control group of its own (Linux, cgroups v2).

The groups are beside that of this program, because a group with processes may have no limited groups below it. The user
must be allowed to make groups there: that is so in a desktop session of systemd, and not in most containers.
https://docs.kernel.org/admin-guide/cgroup-v2.html
"""

import os
import re
from contextlib import suppress
from pathlib import Path
from secrets import token_hex

import psutil

from harness.base.errors import HarnessError

_NAME = re.compile(r"harness-(\d+)-[0-9a-f]+")
"""Of a group: the process id of the program that made it, and a random part."""


def memory_groups(limit_bytes: int) -> "MemoryGroups":
    """Groups with this limit for the commands of this program. Raises HarnessError, a clause, where there are none."""
    try:
        found = own_group(Path("/proc/self/mountinfo").read_text(), Path("/proc/self/cgroup").read_text())
    except OSError:
        found = None
    if found is None:
        raise HarnessError("this system has no control groups of version 2")
    return MemoryGroups(place_for_groups(*found), limit_bytes)


def own_group(mounts: str, groups: str) -> tuple[Path, Path] | None:
    """The folder of the root group that is mounted, and that of this process; None: there are none.

    `mounts` and `groups` are the files mountinfo and cgroup of the process.
    """
    path = next((line.removeprefix("0::") for line in groups.splitlines() if line.startswith("0::/")), None)
    for line in mounts.splitlines():
        words = line.split()
        if path is not None and "-" in words and words[words.index("-") + 1] == "cgroup2":
            shown, folder = Path(words[3]), Path(words[4])
            if Path(path).is_relative_to(shown):
                return folder, folder / Path(path).relative_to(shown)
    return None


def place_for_groups(root: Path, own: Path) -> Path:
    """The parent of limited groups. Raises HarnessError, a clause, where that is not possible."""
    place = own if own == root else own.parent
    if "memory" not in _text(place / "cgroup.subtree_control").split():
        raise HarnessError(f"the control group {place} does not limit the memory of groups in it")
    if place != own and _text(own / "memory.max").strip() != "max":
        raise HarnessError(f"the control group {own} has a memory limit itself, which groups beside it would evade")
    if not (os.access(place, os.W_OK) and os.access(place / "cgroup.procs", os.W_OK)):
        raise HarnessError(f"you may not make control groups in {place}")
    return place


class MemoryGroups:
    """Makes the groups of the commands of one program."""

    def __init__(self, place: Path, limit_bytes: int) -> None:
        """`place`: their parent."""
        self._place, self._limit_bytes = place, limit_bytes

    def make(self) -> "MemoryGroup":
        """An empty group; those that programs left behind are removed. Raises OSError."""
        for folder in self._place.iterdir():
            if (name := _NAME.fullmatch(folder.name)) and not psutil.pid_exists(int(name[1])):
                _remove(folder)
        folder = self._place / f"harness-{os.getpid()}-{token_hex(4)}"
        folder.mkdir()
        try:
            (folder / "memory.max").write_text(str(self._limit_bytes))
            if (swap := folder / "memory.swap.max").exists():
                swap.write_text("0")  # a command that swaps holds up the machine as well
        except OSError:
            _remove(folder)
            raise
        return MemoryGroup(folder, self._limit_bytes)


class MemoryGroup:
    """The group of one command."""

    def __init__(self, folder: Path, limit_bytes: int) -> None:
        self._folder = folder
        self.limit_bytes = limit_bytes

    def add(self, process: psutil.Process) -> None:
        """Move a process that has just begun into the group, with the children that it may have; those that follow
        begin there. Raises OSError."""
        self._move(process.pid)
        with suppress(psutil.NoSuchProcess):
            for child in process.children(recursive=True):
                self._move(child.pid)

    def kills(self) -> int:
        """How many processes of it the kernel has killed because the memory did not suffice."""
        facts = (line.split() for line in _text(self._folder / "memory.events").splitlines())
        return sum(int(fact[1]) for fact in facts if fact[0] == "oom_kill")

    def remove(self) -> None:
        """Its processes are gone. A group with a process stays until a later session begins a command."""
        _remove(self._folder)

    def _move(self, pid: int) -> None:
        members = (self._folder / "cgroup.procs").open("a")
        with suppress(ProcessLookupError), members:  # it may have exited
            members.write(f"{pid}\n")


def _remove(folder: Path) -> None:
    with suppress(OSError):
        folder.rmdir()


def _text(file: Path) -> str:
    try:
        return file.read_text()
    except OSError:
        return ""
