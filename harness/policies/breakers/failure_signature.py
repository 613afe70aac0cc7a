"""What failures of one cause have in common (A14).

A signature is the category of a failure and its text, without all that differs from one case to the next: numbers,
identifiers, paths, quoted names, times, and the name of the tool. Two tools whose failures have the same signature are
suspected to fail from one cause. A text that says nothing, such as a bare "error", gives no signature: an unknown
cause is never the same as another.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType

from harness.events import FailureCategory
from harness.policies.breakers.failure_causes import known_cause

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
"""Words by which no cause is known. A text of these alone is unknown."""
_SAYS_LITTLE = _each("no not any output message details")
"""Words that say something only together with others: "no output" is unknown, "no space left" is not."""
_TELLING = frozenset({FailureCategory.TIMEOUT, FailureCategory.TRANSPORT})
"""Categories that say enough without a word of text."""


def normalised(text: str) -> str:
    """The words of a text that stay the same from case to case, in lower case, with single spaces.

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
    """The signature of a failure; empty where its cause is unknown.

    Args:
        text: what the failure said.
        tool: the name of the tool, which is no part of the cause.
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
    told = [word for word in words if not word.endswith(("error", "exception"))]
    return f"{category.value}: {' '.join(told or words)}"


NO_GUESS = "a cause in common"
"""What can be said of a signature that suggests nothing more."""
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
"""The cause that whole words of a signature suggest; the first that fits."""


def suspected_root(signature: str) -> str:
    """The cause that a signature suggests, in words for a sentence: "the network"."""
    category, _, words = signature.partition(": ")
    for root, hints in ROOTS.items():
        if _has(words, hints):
            return root
    if category == FailureCategory.TIMEOUT:
        return "something that does not answer"
    return "the network" if category == FailureCategory.TRANSPORT else NO_GUESS


def _has(words: str, phrases: Iterable[str]) -> bool:
    return any(f" {phrase} " in f" {words} " for phrase in phrases)


def _without(tool: str, text: str) -> str:
    return re.sub(rf"(?<!\w){re.escape(tool)}(?!\w)", " ", text, flags=re.IGNORECASE) if tool else text


def _words(text: str) -> Iterator[str]:
    for part in _PARTS.finditer(text):
        words = part["token"].replace("_", " ").split() if part["token"] else []
        # A digit or a dot in a token says that all of it varies: "worker3", "main.py", "20ms".
        if all(map(str.isalpha, words)):
            yield from (word for word in words if word not in _TIMES and not _HEXADECIMAL.fullmatch(word))
