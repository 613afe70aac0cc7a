"""Holds a command to a profile by Landlock: files, signals, abstract sockets and TCP (Linux).

Landlock and no_new_privs belong to a thread and to all that it starts. A thread that lives for a moment therefore
restricts itself and starts the command; the rest of the program stays as it is, and the command inherits no
descriptor. https://docs.kernel.org/userspace-api/landlock.html

The kernel adds up the rights of all folders above a file, so it cannot take away in a folder what it gives above it.
Around a place with fewer rights, the entries beside it get theirs one by one: `LandlockSandbox` therefore never allows
more than the profile, except that the names in a hidden folder can be listed; and it allows less in a folder that holds
such a place: nothing is made or removed directly in it, and what appears there later cannot be opened.

Files outside still answer to stat, chdir and readlink. No process outside is signalled, looked into or reached by an
abstract socket; no setuid program gets rights. Descriptors that are open already and pipes are as before. What Landlock
does not cover (chmod, chown, extended attributes, times of files, sockets that have a path, UDP) a filter of system
calls refuses; `not_held` says what an older kernel lacks.
"""

import ctypes
import gc
import os
import platform
import shutil
import stat
import struct
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TypeVar

from harness.sandbox.profile import Access, Profile, SandboxError
from harness.sandbox.system_calls import seccomp_filter

T = TypeVar("T")

_MACHINES = ("x86_64", "aarch64", "armv7l", "armv8l", "i686", "loongarch64", "ppc64le", "riscv64", "s390x")
"""Where the system calls have the numbers below; a few old machines count otherwise."""
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_ASK_VERSION = 1
_PATH_BENEATH = 1
_SET_NO_NEW_PRIVS, _DROP_CAPABILITY, _SET_SECCOMP = 38, 24, 22
_FILTER, _STEP = 2, 8
"""The mode of seccomp with a filter, and the bytes of a step of one."""
_KEPT_CAPABILITIES = (0, 1, 3, 4, 5, 6, 7, 10)
"""What root keeps: the rights over files and processes that it can reach, as in bubblewrap. Not the clock, the network,
modules, devices, or the memory of others."""
_MOST_CAPABILITIES = 64

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = (1 << bit for bit in range(4))
_REMOVE_AND_MAKE = sum(1 << bit for bit in range(4, 13))
_REFER, _TRUNCATE, _IOCTL_DEV = (1 << bit for bit in range(13, 16))
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV
"""The others are rights to a folder; the kernel takes no rule that gives them to a file."""
_READ = _EXECUTE | _READ_FILE | _READ_DIR
_RIGHTS = {Access.READ: _READ, Access.WRITE: _READ | _WRITE_FILE | _REMOVE_AND_MAKE | _REFER | _TRUNCATE | _IOCTL_DEV}
_SINCE = {_REFER: 2, _TRUNCATE: 3, _IOCTL_DEV: 5}
"""The version of Landlock that knows a right first, where that is not 1. Without _REFER nothing is linked or renamed
into another folder."""
_BIND_AND_CONNECT, _TCP_SINCE = 0b11, 4
_SCOPES, _SCOPES_SINCE = 0b11, 6
"""Abstract sockets and signals."""
_MISSING = (
    (_SINCE[_TRUNCATE], "emptying a file by its name"),
    (_TCP_SINCE, "TCP"),
    (_SINCE[_IOCTL_DEV], "settings of devices"),
    (_SCOPES_SINCE, "signals and abstract sockets"),
)
_OF_EVERY_COMMAND = {
    **dict.fromkeys(("/dev/null", "/dev/zero", "/dev/full"), _OF_FILES),  # writing them changes nothing
    **dict.fromkeys(("/dev/random", "/dev/urandom"), _READ_FILE),
    "/dev": _READ_DIR,
    "/proc": _READ,  # of processes outside, the kernel shows only what is no secret
}


@cache
def landlock_version() -> int:
    """The version of Landlock that the kernel offers; 0: none, or it is switched off."""
    if sys.platform != "linux" or hasattr(sys, "getandroidapilevel") or platform.machine() not in _MACHINES:
        return 0  # Android kills a program for a system call that it does not know
    return max(0, _system_call(_CREATE_RULESET, None, 0, _ASK_VERSION))


def not_held(version: int) -> tuple[str, ...]:
    """What a profile forbids and Landlock of this version lets through, in a few words each."""
    filtered = (_TCP_SINCE,) if seccomp_filter(changes=True) else ()
    return tuple(what for since, what in _MISSING if version < since and since not in filtered)


class LandlockSandbox:
    """The sandbox of one command."""

    def __init__(self, profile: Profile, version: int | None = None) -> None:
        """Make a private folder for temporary files. Without one, on a full disk, the command has none.

        Args:
            profile: what the command is held to. It gets no TCP at all.
            version: of Landlock, at most that of the kernel; None: that.
        """
        self._profile = profile
        self._version = landlock_version() if version is None else version
        self._folder: Path | None = None
        with suppress(OSError):
            self._folder = Path(tempfile.mkdtemp(prefix="harness-")).resolve()

    @property
    def environment(self) -> dict[str, str]:
        """What the command needs in its environment: bash puts a long here-document, sort a long file in there."""
        return {"TMPDIR": str(self._folder)} if self._folder else {}

    def start(self, begin: Callable[[], T]) -> T:
        """Call `begin` in a thread that is held to the profile; what it starts is, too.

        No garbage is collected meanwhile: a finalizer of something else would run in the sandbox. Raises SandboxError
        where the kernel refuses to hold it; `begin` is not called then.
        """
        collects = gc.isenabled()
        gc.disable()
        try:
            with ThreadPoolExecutor(1, "start in a sandbox") as thread:
                return thread.submit(self._start, begin).result()
        finally:
            if collects:
                gc.enable()

    def close(self) -> None:
        """Remove the private folder."""
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _start(self, begin: Callable[[], T]) -> T:
        self._restrict_thread()
        return begin()

    def _restrict_thread(self) -> None:
        handled = sum(right for right in _bits(_RIGHTS[Access.WRITE]) if _SINCE.get(right, 1) <= self._version)
        tcp = _BIND_AND_CONNECT if self._version >= _TCP_SINCE else 0
        made = struct.pack("=QQQ", handled, tcp, _SCOPES if self._version >= _SCOPES_SINCE else 0)
        ruleset = _done(_system_call(_CREATE_RULESET, made, len(made), 0))
        try:
            for path, rights in (*_OF_EVERY_COMMAND.items(), *_granted(self._profile)):
                _allow(ruleset, path, rights & handled)
            if self._folder:
                _allow(ruleset, str(self._folder), _RIGHTS[Access.WRITE] & handled)
            for capability in {*range(_MOST_CAPABILITIES)}.difference(_KEPT_CAPABILITIES):
                _libc().prctl(_DROP_CAPABILITY, ctypes.c_ulong(capability))  # fails for all but root, who have none
            _done(_libc().prctl(_SET_NO_NEW_PRIVS, *map(ctypes.c_ulong, (1, 0, 0, 0))))
            _done(_system_call(_RESTRICT_SELF, ruleset, 0))
            self._filter_system_calls()
        finally:
            os.close(ruleset)

    def _filter_system_calls(self) -> None:
        steps = seccomp_filter(changes=bool(self._profile.writable))
        if steps:
            held = ctypes.create_string_buffer(steps)
            program = struct.pack("@HP", len(steps) // _STEP, ctypes.addressof(held))
            _done(_libc().prctl(_SET_SECCOMP, ctypes.c_ulong(_FILTER), program, ctypes.c_ulong(0), ctypes.c_ulong(0)))


def _granted(profile: Profile) -> Iterator[tuple[str, int]]:
    """Paths, and the rights at each of them and beneath it, that allow no more than the profile."""
    places = profile.places
    for path, access in places.items():
        if access is not Access.NONE:
            yield from _granted_below(path, access, places)


def _granted_below(path: str, access: Access, places: Mapping[str, Access]) -> Iterator[tuple[str, int]]:
    below = path.rstrip("/") + "/"
    if not any(less < access and other.startswith(below) for other, less in places.items()):
        yield path, _RIGHTS[access]
        return
    yield path, _READ_DIR
    with suppress(OSError), os.scandir(path) as entries:
        for entry in entries:
            if entry.path not in places and not entry.is_symlink():
                yield from _granted_below(entry.path, access, places)


def _allow(ruleset: int, path: str, rights: int) -> None:
    """Allow `rights` at a path and beneath it; where that fails they stay denied."""
    with suppress(OSError):
        place = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            if not stat.S_ISDIR(os.fstat(place).st_mode):
                rights &= _OF_FILES
            _system_call(_ADD_RULE, ruleset, _PATH_BENEATH, struct.pack("=Qi", rights, place), 0)
        finally:
            os.close(place)


def _bits(rights: int) -> Iterator[int]:
    return (1 << bit for bit in range(rights.bit_length()) if rights >> bit & 1)


def _done(result: int) -> int:
    """The result of a call that worked."""
    if result < 0:
        number = ctypes.get_errno()
        raise SandboxError(number, f"the kernel refuses to make its sandbox (Landlock): {os.strerror(number)}")
    return result


def _system_call(number: int, *arguments: int | bytes | None) -> int:
    """Its result; negative where it failed."""
    wide = [ctypes.c_long(value) if isinstance(value, int) else value for value in arguments]
    return int(_libc().syscall(ctypes.c_long(number), *wide))


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
