"""The filter of system calls, run by a machine of its own; `test_landlock` tries it in the kernel."""

import errno
import struct

import pytest

from harness.sandbox.system_calls import namespace_filter, seccomp_filter

ALLOWED, X86_64, AARCH64, I386 = 0, 0xC000003E, 0xC00000B7, 0x40000003
UNIX, INET, NETLINK = 1, 2, 16


def answer(steps: bytes, token: int, number: int, argument: int = 0) -> int:
    """The error that a system call gets; 0: it is made."""
    data = struct.pack("=IIQ6Q", number, token, 0, argument, 0, 0, 0, 0, 0)
    value, place = 0, 0
    while True:
        code, if_true, if_false, known = struct.unpack_from("=HBBI", steps, 8 * place)
        place += 1
        assert (if_true, if_false) == (0, 0) or code in (0x15, 0x35)
        match code:
            case 0x20:
                (value,) = struct.unpack_from("=I", data, known)
            case 0x15:
                place += if_true if value == known else if_false
            case 0x35:
                place += if_true if value >= known else if_false
            case 0x06:
                assert known == 0x7FFF0000 or known >> 16 == 5
                return 0 if known == 0x7FFF0000 else known & 0xFFFF
            case _:
                raise AssertionError(hex(code))


@pytest.mark.parametrize(
    ("machine", "token", "reading", "chmods", "socket"),
    [
        ("x86_64", X86_64, (0, 2, 42, 53, 257), (90, 91, 92, 93, 94, 132, 188, 190, 199, 260, 268, 280), 41),
        ("aarch64", AARCH64, (56, 63, 199, 203), (5, 7, 14, 16, 52, 53, 54, 55, 88), 198),
    ],
)
def test_it_refuses_what_it_names_and_nothing_else(
    machine: str, token: int, reading: tuple[int, ...], chmods: tuple[int, ...], socket: int
) -> None:
    held = seccomp_filter(changes=False, machine=machine)
    writes = seccomp_filter(changes=True, machine=machine)
    for number in reading:
        assert {answer(steps, token, number, UNIX) for steps in (held, writes)} == {ALLOWED}
    for number in chmods:
        assert [answer(steps, token, number) for steps in (held, writes)] == [errno.EPERM, ALLOWED], number
    for number in (425, 452, 463, 466, 469):
        assert answer(held, token, number) == errno.EPERM
    for family, error in ((UNIX, errno.EACCES), (INET, errno.EACCES), (NETLINK, ALLOWED)):
        assert [answer(steps, token, socket, family) for steps in (held, writes)] == [error, error]
    for other, number in ((I386, 15), (token, 0x40000000 + 90), (token, 0x40000000)):
        assert answer(held, other, number) == errno.EPERM
    assert len(held) % 8 == 0


@pytest.mark.parametrize(
    ("machine", "token", "limits", "shares"),
    [("x86_64", X86_64, 302, (29, 30, 66, 69, 220, 240, 248)), ("aarch64", AARCH64, 261, (180, 186, 196, 197, 217))],
)
def test_what_processes_share_and_the_limits_of_others_are_refused(
    machine: str, token: int, limits: int, shares: tuple[int, ...]
) -> None:
    steps = seccomp_filter(changes=False, machine=machine)
    assert {answer(steps, token, number) for number in shares} == {errno.EPERM}
    assert [answer(steps, token, limits, process) for process in (0, 1, 4711)] == [ALLOWED, errno.EPERM, errno.EPERM]


def test_where_the_numbers_are_not_known_there_is_none() -> None:
    assert seccomp_filter(changes=False, machine="s390x") == b""


@pytest.mark.parametrize(
    ("machine", "token", "keys", "socket"), [("x86_64", X86_64, 248, 41), ("aarch64", AARCH64, 217, 198)]
)
def test_keyrings_and_sockets_past_the_network_are_refused(machine: str, token: int, keys: int, socket: int) -> None:
    steps = namespace_filter(machine)
    assert {answer(steps, token, number) for number in (keys, keys + 1, keys + 2, 425)} == {errno.EPERM}
    assert {answer(steps, token, number) for number in (0, keys - 1, keys + 3, socket + 1, 424, 452)} == {ALLOWED}
    made = [family for family in range(50) if answer(steps, token, socket, family) == ALLOWED]
    assert made == [UNIX, INET, 10, NETLINK]
    assert answer(steps, token, socket, 40) == errno.EAFNOSUPPORT
    assert namespace_filter("s390x") == b""
