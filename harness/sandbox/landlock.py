"""A sandbox for commands that only look: whatever they are, they change no file (Linux: Landlock).

Landlock and no_new_privs belong to a thread and to all that it starts. A thread that lives for a moment therefore
restricts itself and starts the command; the rest of the program stays as it is.
https://docs.kernel.org/userspace-api/landlock.html

In the sandbox nothing is opened for writing, truncated, made, renamed, linked or removed, except in one private folder
for temporary files; no process outside is signalled, looked into or reached by an abstract socket; no setuid program
gets rights. Reading, running programs, descriptors that are open already, pipes and the network are as before. The
kernel does not let Landlock cover chmod, chown, extended attributes, times of files, and sockets that have a path.

It is a second line of defence: where the kernel has no Landlock, the command runs without it.
"""

import ctypes
import gc
import os
import platform
import shutil
import struct
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

_MACHINES = ("x86_64", "aarch64", "armv7l", "armv8l", "i686", "loongarch64", "ppc64le", "riscv64", "s390x")
"""Where the system calls have the numbers below; a few old machines count otherwise."""
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_ASK_VERSION = 1
_PATH_BENEATH = 1
_SET_NO_NEW_PRIVS = 38

_WRITE_FILE, _TRUNCATE, _IOCTL_DEV = 1 << 1, 1 << 14, 1 << 15
_REMOVE_AND_MAKE = sum(1 << bit for bit in range(4, 13))
_RIGHTS = {1: _WRITE_FILE | _REMOVE_AND_MAKE, 3: _TRUNCATE, 5: _IOCTL_DEV}
"""Every right to change something, by the version of Landlock that knows it first. To link or rename into another
folder needs no mention: that is denied in every sandbox."""
_SCOPES = 0b11
"""Abstract sockets and signals, since version 6."""
_DEVICES = (Path("/dev/null"), Path("/dev/zero"))
"""May be written: it changes nothing."""


@cache
def landlock_version() -> int:
    """The version of Landlock that the kernel offers; 0: none, or it is switched off."""
    if sys.platform != "linux" or hasattr(sys, "getandroidapilevel") or platform.machine() not in _MACHINES:
        return 0  # Android kills a program for a system call that it does not know
    return max(0, _system_call(_CREATE_RULESET, None, 0, _ASK_VERSION))


class ReadOnlySandbox:
    """The sandbox of one command; where the system offers none, it does nothing."""

    def __init__(self) -> None:
        """Make the private folder. Without one, on a full disk, the command can write nowhere."""
        self._folder: Path | None = None
        if landlock_version():
            with suppress(OSError):
                self._folder = Path(tempfile.mkdtemp(prefix="harness-"))

    @property
    def environment(self) -> dict[str, str]:
        """What the command needs in its environment: bash puts a long here-document, sort a long file in there."""
        return {"TMPDIR": str(self._folder)} if self._folder else {}

    def start(self, begin: Callable[[], T]) -> T:
        """Call `begin` in a thread that may change nothing; what it starts may not either.

        No garbage is collected meanwhile: a finalizer of something else would run in the sandbox.
        """
        if not landlock_version():
            return begin()
        collects = gc.isenabled()
        gc.disable()
        try:
            with ThreadPoolExecutor(1, "read-only start") as thread:
                return thread.submit(self._start, begin).result()
        finally:
            if collects:
                gc.enable()

    def close(self) -> None:
        """Remove the private folder."""
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _start(self, begin: Callable[[], T]) -> T:
        with _ruleset(self._folder) as ruleset:
            if ruleset >= 0 and _libc().prctl(_SET_NO_NEW_PRIVS, *map(ctypes.c_ulong, (1, 0, 0, 0))) == 0:
                _system_call(_RESTRICT_SELF, ruleset, 0)
        return begin()


@contextmanager
def _ruleset(folder: Path | None) -> Iterator[int]:
    """Its descriptor; negative where the kernel refuses to make one."""
    version = landlock_version()
    rights = sum(right for since, right in _RIGHTS.items() if since <= version)
    made = struct.pack("=QQQ", rights, 0, _SCOPES if version >= 6 else 0)
    ruleset = _system_call(_CREATE_RULESET, made, len(made), 0)
    try:
        for device in _DEVICES:
            _allow(ruleset, device, rights & (_WRITE_FILE | _TRUNCATE | _IOCTL_DEV))
        if folder:
            _allow(ruleset, folder, rights)
        yield ruleset
    finally:
        if ruleset >= 0:
            os.close(ruleset)


def _allow(ruleset: int, path: Path, rights: int) -> None:
    """Allow `rights` at a path and beneath it; where that fails they stay denied."""
    with suppress(OSError):
        place = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            _system_call(_ADD_RULE, ruleset, _PATH_BENEATH, struct.pack("=Qi", rights, place), 0)
        finally:
            os.close(place)


def _system_call(number: int, *arguments: int | bytes | None) -> int:
    """Its result; negative where it failed."""
    wide = [ctypes.c_long(value) if isinstance(value, int) else value for value in arguments]
    return int(_libc().syscall(ctypes.c_long(number), *wide))


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None)
