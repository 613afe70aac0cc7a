"""Signatures: what failures of one cause have in common (docs/design/breakers.md#failure-signatures).

A signature is the category of a failure and its text without numbers, ids, paths, quoted names, times and the name of
the tool. Two tools with the same signature are suspected to fail from one cause. A text that says nothing, such as a
bare "error", has no signature.

System errors have one signature for all their wordings: "No space left on device", "[Errno 28]", "os error 28", ENOSPC,
"disk full". `errno` names the numbers of this system, `WINDOWS` those of Windows
(https://learn.microsoft.com/windows/win32/debug/system-error-codes).
"""

import errno
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from harness.events import FailureCategory


@dataclass(frozen=True, slots=True)
class KnownCause:
    """One cause."""

    signature: str
    names: tuple[str, ...]
    """Symbolic names of its errors, as Node, Go, Java and Windows print them."""
    phrases: tuple[str, ...]
    """Whole words in lower case, as `signature.normalised` leaves them."""


CAUSES = (
    KnownCause(
        "transport: connection refused",
        ("ECONNREFUSED", "WSAECONNREFUSED"),
        (
            *("connection refused", "connectionrefusederror", "actively refused", "connect call failed"),
            *("connection attempts failed", "couldn t connect", "could not connect"),
        ),
    ),
    KnownCause(
        "transport: connection reset",
        ("ECONNRESET", "ECONNABORTED", "WSAECONNRESET", "WSAECONNABORTED"),
        (
            *("connection reset", "connectionreseterror", "connection aborted", "connectionabortederror"),
            "caused connection abort",
            *("forcibly closed by the remote host", "socket hang up"),
        ),
    ),
    KnownCause(
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
    KnownCause(
        "transport: network unreachable",
        ("ENETUNREACH", "EHOSTUNREACH", "ENETDOWN", "EHOSTDOWN", "WSAENETUNREACH", "WSAEHOSTUNREACH"),
        ("network is unreachable", "network unreachable", "no route to host", "host unreachable", "host is down"),
    ),
    KnownCause(
        "transport: address in use", ("EADDRINUSE", "WSAEADDRINUSE"), ("address already in use", "address in use")
    ),
    KnownCause(
        "timeout",
        ("ETIMEDOUT", "ESOCKETTIMEDOUT", "WSAETIMEDOUT"),
        ("timed out", "timeouterror", "connecttimeout", "readtimeout"),
    ),
    KnownCause(
        "system: no space left device",
        ("ENOSPC",),
        ("no space left", "disk full", "disk is full", "not enough space on the disk", "out of disk space"),
    ),
    KnownCause("system: disk quota exceeded", ("EDQUOT",), ("disk quota exceeded", "quota exceeded on disk")),
    KnownCause(
        "system: read only file system",
        ("EROFS",),
        ("read only file system", "readonly filesystem", "read only filesystem", "media is write protected"),
    ),
    KnownCause("system: input output", ("EIO",), ("input output error", "i o error", "i o device error")),
    KnownCause("system: stale file handle", ("ESTALE",), ("stale file handle", "stale nfs file handle")),
    KnownCause(
        "system: too many open files",
        ("EMFILE", "ENFILE", "WSAEMFILE"),
        ("too many open files", "too many files open"),
    ),
    KnownCause(
        "system: cannot allocate memory",
        ("ENOMEM",),
        ("cannot allocate memory", "can t allocate memory", "not enough memory resources"),
    ),
    KnownCause(
        "system: permission denied",
        ("EACCES", "EPERM"),
        ("permission denied", "permissionerror", "operation not permitted", "access is denied", "access denied"),
    ),
    KnownCause("cannot_start: exec format error", ("ENOEXEC",), ("exec format error",)),
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
        text: the message, at most some thousand characters.
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


LONGEST = 200
"""Most characters of a normalised text: a cause is named early."""
MOST_READ = 10_000
"""Most characters of a text that are read."""

# Each part matches in time that does not depend on the length of the text, or takes what it has looked at (the
# possessive `++`). A relative path needs two slashes or a file name: "input/output" is none.
_PARTS = re.compile(
    r"""
      (?<!\w)(?: "[^"\n]{1,200}" | '[^'\n]{1,200}' | `[^`\n]{1,200}` | “[^”\n]{1,200}” | ‘[^’\n]{1,200}’ )(?!\w)
    | \b[a-z][a-z0-9+.-]{1,20}://\S++                                               # addresses
    | (?:\b[a-z]:|\\)\\\S++                                                         # paths of Windows
    | (?<!\w)[~.]{0,2}(?:/[^\s:;,()\[\]'"`/]++)++/?                                 # paths
    | (?<![\w.@+-])[\w.@+-]++(?: (?:/[^\s:;,()\[\]'"`/]++){2,}+/? | /[\w@+-]++(?:\.\w++)++ )
    | \b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b                               # UUIDs
    | \b[0-9a-f]{1,4}(?:::?[0-9a-f]{1,4}){3,7}\b                                    # hardware and IPv6 addresses
    | (?<![\w:])::[0-9a-f]{1,4}(?::[0-9a-f]{1,4}){0,6}\b
    | (?P<token>\w++(?:\.\w++)*+)                                                   # a word, a number, a dotted name
    """,
    re.VERBOSE,
)


def _each(*lines: str) -> frozenset[str]:
    return frozenset(" ".join(lines).split())


_TIMES = _each(
    "ns us ms s sec secs second seconds m min mins minute minutes h hour hours d day days utc gmt am pm",
    "mon tue wed thu fri sat sun monday tuesday wednesday thursday friday saturday sunday",
    "jan feb mar apr may jun jul aug sep sept oct nov dec",
    "january february march april june july august september october november december",
)
_HEXADECIMAL = re.compile(r"[a-f]{8,}")
_SAYS_NOTHING = _each(
    "a an and are as at be been by did do does for from had has have in inside is it of on or that the there this to",
    "was were while with",
    "call command error errors exception exit exited code fail failed fails failure internal oops problem reason",
    "result runtime something status task tool traceback unexpected unknown unspecified went wrong none null nothing",
    "undefined errno oserror ioerror environmenterror runtimeerror systemerror valueerror typeerror keyerror",
    "indexerror lookuperror attributeerror nameerror assertionerror arithmeticerror exceptiongroup calledprocesserror",
)
"""Words that name no cause. A text of these alone is unknown."""
_SAYS_LITTLE = _each("no not any output message details")
"""Words that mean something only with others: "no output" is unknown, "no space left" is not."""
_TELLING = frozenset({FailureCategory.TIMEOUT, FailureCategory.TRANSPORT})
"""Categories that are a cause without any text."""


def normalised(text: str) -> str:
    """The words of a text that are the same in every case, in lower case, separated by single spaces.

    Idempotent, at most `LONGEST` characters, from the first `MOST_READ` of the text.
    """
    words: list[str] = []
    length = -1
    for word in _words(text[:MOST_READ].lower()):
        length += 1 + len(word)
        if length > LONGEST:
            break
        words.append(word)
    return " ".join(words)


def signature_of(category: FailureCategory, text: str, tool: str = "") -> str:
    """The signature of a failure; empty if its cause is unknown.

    Args:
        text: the message of the failure.
        tool: the name of the tool, which is removed from the text.
    """
    if category is FailureCategory.TIMEOUT:
        return category.value  # the text of a time-out says how long it took, not why
    text = _without(tool, text[:MOST_READ])
    said = normalised(text)
    if cause := known_cause(text, said):
        return cause
    words = [word for word in said.split() if word not in _SAYS_NOTHING]
    if _SAYS_LITTLE.issuperset(words):
        return category.value if category in _TELLING else ""
    # "ConnectionRefusedError: Connection refused" is the same as "Connection refused".
    specific = [word for word in words if not word.endswith(("error", "exception"))]
    return f"{category.value}: {' '.join(specific or words)}"


NO_GUESS = "a cause in common"
"""The guess for a signature that suggests nothing."""
ROOTS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "permissions": ("permission", "permissionerror", "permitted", "access denied", "forbidden", "unauthorized"),
        "the disk is full": ("no space", "disk quota", "quota exceeded", "disk full"),
        "the file system": ("input output", "read only file", "stale file", "filesystem", "structure needs cleaning"),
        "too many open files": ("too many open",),
        "memory": ("memory", "memoryerror", "oom", "sigkill"),
        "the network": (
            *("connection", "connect", "connecterror", "network", "host", "hostname", "unreachable", "socket"),
            *("resolve", "resolution", "dns", "proxy", "tls", "ssl", "certificate"),
        ),
        "a program that is missing": ("not found", "no such file"),
        "a program that cannot be run": ("cannot executed", "exec format"),
    }
)
"""The cause that whole words of a signature suggest; the first match counts."""


def suspected_root(signature: str) -> str:
    """The cause that a signature suggests, for use in a sentence: "the network"."""
    category, _, words = signature.partition(": ")
    for root, hints in ROOTS.items():
        if _has(words, hints):
            return root
    if category == FailureCategory.TIMEOUT:
        return "something that does not answer"
    return "the network" if category == FailureCategory.TRANSPORT else NO_GUESS


def _without(tool: str, text: str) -> str:
    return re.sub(rf"(?<!\w){re.escape(tool)}(?!\w)", " ", text, flags=re.IGNORECASE) if tool else text


def _words(text: str) -> Iterator[str]:
    for part in _PARTS.finditer(text):
        words = part["token"].replace("_", " ").split() if part["token"] else []
        # A digit or a dot in a token says that all of it varies: "worker3", "main.py", "20ms".
        if all(map(str.isalpha, words)):
            yield from (word for word in words if word not in _TIMES and not _HEXADECIMAL.fullmatch(word))
