"""Causes that every program meets, and the words in which systems, libraries and programs report them.

One errno has many wordings: "No space left on device", "[Errno 28]", "os error 28", "ENOSPC", "disk full". Two tools
that fail from one cause must be seen to do so whichever wording each of them uses, and whatever the category: a
library that wraps an error of the system hides of which kind it was.

`errno` of the standard library names the numbers of this system, WINDOWS those of Windows
(https://learn.microsoft.com/windows/win32/debug/system-error-codes).
"""

import errno
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class Cause:
    """One cause."""

    signature: str
    names: tuple[str, ...]
    """Symbolic names of its errors, as Node, Go, Java and Windows print them."""
    phrases: tuple[str, ...]
    """Whole words in lower case, as `signature.normalised` leaves them."""


CAUSES = (
    Cause(
        "transport: connection refused",
        ("ECONNREFUSED", "WSAECONNREFUSED"),
        (
            *("connection refused", "connectionrefusederror", "actively refused", "connect call failed"),
            *("connection attempts failed", "couldn t connect", "could not connect"),
        ),
    ),
    Cause(
        "transport: connection reset",
        ("ECONNRESET", "ECONNABORTED", "WSAECONNRESET", "WSAECONNABORTED"),
        (
            *("connection reset", "connectionreseterror", "connection aborted", "connectionabortederror"),
            "caused connection abort",
            *("forcibly closed by the remote host", "socket hang up"),
        ),
    ),
    Cause(
        "transport: no such host",
        ("EAI_AGAIN", "EAI_NONAME", "EAI_NODATA", "EAI_FAIL", "ENOTFOUND", "WSAHOST_NOT_FOUND", "UnknownHostException"),
        (
            *("name or service not known", "name resolution", "nodename nor servname", "getaddrinfo failed"),
            *(
                "gaierror",
                "could not resolve",
                "couldn t resolve",
                "no address associated",
                "no such host",
                "unknown host",
            ),
            *("unknownhostexception", "failed to lookup address", "name does not resolve"),
        ),
    ),
    Cause(
        "transport: network unreachable",
        ("ENETUNREACH", "EHOSTUNREACH", "ENETDOWN", "EHOSTDOWN", "WSAENETUNREACH", "WSAEHOSTUNREACH"),
        ("network is unreachable", "network unreachable", "no route to host", "host unreachable", "host is down"),
    ),
    Cause("transport: address in use", ("EADDRINUSE", "WSAEADDRINUSE"), ("address already in use", "address in use")),
    Cause(
        "timeout",
        ("ETIMEDOUT", "ESOCKETTIMEDOUT", "WSAETIMEDOUT"),
        ("timed out", "timeouterror", "connecttimeout", "readtimeout"),
    ),
    Cause(
        "system: no space left device",
        ("ENOSPC",),
        ("no space left", "disk full", "disk is full", "not enough space on the disk", "out of disk space"),
    ),
    Cause("system: disk quota exceeded", ("EDQUOT",), ("disk quota exceeded", "quota exceeded on disk")),
    Cause(
        "system: read only file system",
        ("EROFS",),
        ("read only file system", "readonly filesystem", "read only filesystem", "media is write protected"),
    ),
    Cause("system: input output", ("EIO",), ("input output error", "i o error", "i o device error")),
    Cause("system: stale file handle", ("ESTALE",), ("stale file handle", "stale nfs file handle")),
    Cause(
        "system: too many open files",
        ("EMFILE", "ENFILE", "WSAEMFILE"),
        ("too many open files", "too many files open"),
    ),
    Cause(
        "system: cannot allocate memory",
        ("ENOMEM",),
        ("cannot allocate memory", "can t allocate memory", "not enough memory resources"),
    ),
    Cause(
        "system: permission denied",
        ("EACCES", "EPERM"),
        ("permission denied", "permissionerror", "operation not permitted", "access is denied", "access denied"),
    ),
    Cause("cannot_start: exec format error", ("ENOEXEC",), ("exec format error",)),
)
"""The first that fits a text is its cause."""

WINDOWS: Mapping[int, str] = MappingProxyType(
    {
        5: "EACCES",
        4: "EMFILE",
        8: "ENOMEM",
        19: "EROFS",
        112: "ENOSPC",
        121: "ETIMEDOUT",
        193: "ENOEXEC",
        1117: "EIO",
        10013: "EACCES",
        10024: "EMFILE",
        10048: "EADDRINUSE",
        10051: "ENETUNREACH",
        10053: "ECONNABORTED",
        10054: "ECONNRESET",
        10060: "ETIMEDOUT",
        10061: "ECONNREFUSED",
        10065: "EHOSTUNREACH",
        11001: "ENOTFOUND",
    }
)
"""Error numbers of Windows, and the errno that means the same."""

_BY_NAME: Mapping[str, str] = MappingProxyType({name: cause.signature for cause in CAUSES for name in cause.names})
_NAME = re.compile(r"(?<![A-Za-z0-9_])(?:" + "|".join(sorted(_BY_NAME, key=len, reverse=True)) + r")(?![A-Za-z0-9_])")
_NUMBER = re.compile(
    r"\b(?:(?P<windows>winerror)[\s:=]{1,3}|errno[\s:=]{1,3}|os error\s{1,3}|(?:os|io|environment)error\()"
    r"(?P<number>\d{1,5})\b",
    re.IGNORECASE,
)


def known_cause(text: str, said: str) -> str:
    """The signature of the cause that a text names; empty: none that is known here.

    Args:
        text: what was said, at most some thousand characters.
        said: the same, normalised.
    """
    for cause in CAUSES:
        if _has(said, cause.phrases):
            return cause.signature
    if named := _NAME.search(text):
        return _BY_NAME[named[0]]
    for found in _NUMBER.finditer(text):
        if signature := _BY_NAME.get(_errno_name(int(found["number"]), windows=bool(found["windows"])), ""):
            return signature
    return ""


def _errno_name(number: int, *, windows: bool) -> str:
    if windows or number >= 10_000:
        return WINDOWS.get(number, "")
    return errno.errorcode.get(number, "")


def _has(words: str, phrases: Iterable[str]) -> bool:
    return any(f" {phrase} " in f" {words} " for phrase in phrases)
