"""Refuses to a command the system calls that Landlock, or a namespace, lets through (Linux: a seccomp filter).

For Landlock that is whatever changes rights, owner, times and attributes of a file, what processes share beside files
(keyrings, memory, queues), limits of other processes, and every socket but those that ask the kernel itself: they would
reach servers through a path, and by UDP. A filter belongs to a thread and to all that it starts. It reads numbers, so
it knows the machines below; on others nothing is refused.
https://docs.kernel.org/userspace-api/seccomp_filter.html
"""

import errno
import os
import platform
import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

_AF_UNIX, _AF_INET, _AF_INET6, _AF_NETLINK = 1, 2, 10, 16
_LOAD, _IS, _IS_AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_NUMBER, _MACHINE, _FIRST_ARGUMENT = 0, 4, 16
"""Where the kernel puts what a filter may look at, in bytes."""
_ALLOW, _FAIL = 0x7FFF0000, 0x00050000
_OTHER_ABI = 0x40000000
"""Numbers of x32, another way into the kernel of x86_64."""
_IO_URING_SETUP = 425
"""It makes system calls that no filter sees."""
_EVERYWHERE = (_IO_URING_SETUP, 452, 463, 466, 469)
"""And fchmodat2, setxattrat, removexattrat, file_setattr."""


@dataclass(frozen=True, slots=True)
class _Machine:
    token: int
    """AUDIT_ARCH_… of the kernel."""
    socket: int
    changes: tuple[int, ...]
    """The chmod, chown, utime, setxattr and removexattr families."""
    keys: tuple[int, ...]
    """add_key, request_key, keyctl."""
    shares: tuple[int, ...]
    """The shm, sem and msg families, mq_open and mq_unlink."""
    limits: int
    """prlimit64."""


_MACHINES: Mapping[str, _Machine] = {
    "x86_64": _Machine(
        0xC000003E,
        41,
        (90, 91, 92, 93, 94, 132, 188, 189, 190, 197, 198, 199, 235, 260, 261, 268, 280),
        (248, 249, 250),
        (29, 30, 31, *range(64, 72), 220, 240, 241),
        302,
    ),
    "aarch64": _Machine(
        *(0xC00000B7, 198, (5, 6, 7, 14, 15, 16, 52, 53, 54, 55, 88), (217, 218, 219)),
        *((180, 181, *range(186, 198)), 261),
    ),
}


def seccomp_filter(*, changes: bool, machine: str | None = None) -> bytes:
    """The filter as the kernel takes it, an array of `sock_filter`; empty: the machine is unknown.

    Args:
        changes: rights, owner, times and attributes of files may be changed.
        machine: its name; None: this one.
    """
    known = _MACHINES.get(platform.machine() if machine is None else machine)
    if known is None:
        return b""
    refused = (*(() if changes else known.changes), *known.keys, *known.shares, *_EVERYWHERE)
    return _filter(known, refused, (_AF_NETLINK,), errno.EACCES, _own_limits(known))


def namespace_filter(machine: str | None = None) -> bytes:
    """The same for what no namespace holds: the keyrings of the user, and sockets that reach other systems past the
    network, such as those of virtual machines (vsock) and Bluetooth."""
    known = _MACHINES.get(platform.machine() if machine is None else machine)
    families = (_AF_UNIX, _AF_INET, _AF_INET6, _AF_NETLINK)
    return _filter(known, (*known.keys, _IO_URING_SETUP), families, errno.EAFNOSUPPORT) if known else b""


def filter_for_bubblewrap() -> tuple[tuple[str, ...], tuple[int, ...]]:
    """The options with which bubblewrap sets the filter of `namespace_filter`, and the descriptors it reads it from:
    close them. None of either where the machine is unknown."""
    content = namespace_filter()
    if not content:
        return (), ()
    descriptor = os.memfd_create("harness")
    os.write(descriptor, content)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return ("--seccomp", str(descriptor)), (descriptor,)


_Step = tuple[int, int, int, int]


def _filter(
    known: _Machine, refused: Iterable[int], families: Sequence[int], why: int, more: Iterable[_Step] = ()
) -> bytes:
    """`families`: of the sockets that may be made, others fail with the number `why`; empty: all may."""
    steps = [
        *((_LOAD, 0, 0, _MACHINE), (_IS, 1, 0, known.token), (_RETURN, 0, 0, _FAIL | errno.EPERM)),
        *((_LOAD, 0, 0, _NUMBER), (_IS_AT_LEAST, 0, 1, _OTHER_ABI), (_RETURN, 0, 0, _FAIL | errno.EPERM)),
        *_failing(sorted(refused)),
        *more,
    ]
    if families:
        steps += [(_IS, 1, 0, known.socket), (_RETURN, 0, 0, _ALLOW), (_LOAD, 0, 0, _FIRST_ARGUMENT)]
        steps += [(_IS, len(families) - index, 0, family) for index, family in enumerate(families)]
        steps.append((_RETURN, 0, 0, _FAIL | why))
    steps.append((_RETURN, 0, 0, _ALLOW))
    return b"".join(struct.pack("=HBBI", *step) for step in steps)


def _own_limits(known: _Machine) -> Iterable[_Step]:
    """A process may set limits of itself, which it calls 0: one of the time of another would end that."""
    yield from ((_IS, 0, 4, known.limits), (_LOAD, 0, 0, _FIRST_ARGUMENT), (_IS, 1, 0, 0))
    yield from ((_RETURN, 0, 0, _FAIL | errno.EPERM), (_RETURN, 0, 0, _ALLOW))


def _failing(numbers: Iterable[int]) -> Iterable[_Step]:
    """The system calls of these numbers are not permitted."""
    for number in numbers:
        yield from ((_IS, 0, 1, number), (_RETURN, 0, 0, _FAIL | errno.EPERM))
