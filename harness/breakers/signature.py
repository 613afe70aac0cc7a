"""What failures of one cause have in common (A14).

A signature is the category of a failure and its text, without all that differs from one case to the next: numbers,
identifiers, paths, quoted names, times, and the name of the tool. Two tools whose failures have the same signature are
suspected to fail from one cause. A text that says nothing, such as a bare "error", gives no signature: an unknown
cause is never the same as another.
"""

import re
from collections.abc import Mapping
from types import MappingProxyType

from harness.events import FailureCategory

LONGEST = 200
"""Characters of a normalised text."""
READ = 4_000
"""Characters of a text that are looked at: a cause is named early."""

_VARYING = re.compile(
    r"""
      "[^"\n]{0,200}" | '[^'\n]{0,200}' | `[^`\n]{0,200}`   # quoted names
    | \b[a-z][a-z0-9+.-]{1,20}://\S+                        # addresses
    | (?<![\w.])(?:~|\.{1,2})?(?:/[^\s:;,()'"/]+)+/?        # paths
    | \b[a-z]:\\\S+
    | \b0x[0-9a-f]+\b
    | \b[0-9a-f]*[0-9][0-9a-f]*(?:-[0-9a-f]+)*\b            # hexadecimal runs, identifiers
    | \b\d[\d.,:_]*                                         # numbers and times
    """,
    re.VERBOSE,
)
_UNITS = re.compile(r"\b(?:ms|s|secs?|seconds?|min|mins|minutes?|h|hours?|kb|mb|gb|bytes)\b")
_WORD = re.compile(r"[^\W\d_]+")
_EMPTY = frozenset(
    normal
    for line in (
        "a an and at after by for from in inside is it of on or the to was went with",
        "call code command error errors exception exit fail failed fails failure internal something status task tool",
        "traceback unexpected unknown wrong errno oserror runtimeerror valueerror",
    )
    for normal in line.split()
)
"""Words that say nothing about a cause."""
_TELLING = frozenset({FailureCategory.TIMEOUT, FailureCategory.TRANSPORT})
"""Categories that say enough without a word of text."""


def normalised(text: str) -> str:
    """The words of a text that stay the same from case to case, in lower case.

    Idempotent, and linear in the length of the text.
    """
    plain = _UNITS.sub(" ", _VARYING.sub(" ", text[:READ].lower()))
    words = " ".join(_WORD.findall(plain))
    return words if len(words) <= LONGEST else words[:LONGEST].rpartition(" ")[0]


def signature_of(category: FailureCategory, text: str, tool: str = "") -> str:
    """The signature of a failure; empty where its cause is unknown.

    Args:
        text: what the failure said.
        tool: the name of the tool, which is no part of the cause.
    """
    without = _EMPTY.union(normalised(tool).split())
    words = [word for word in normalised(text).split() if word not in without]
    if category is FailureCategory.TIMEOUT:
        return category.value  # what a time-out says is how long it took
    if not words:
        return category.value if category in _TELLING else ""
    return f"{category.value}: {' '.join(words)}"


ROOTS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "the network": ("connection", "network", "host", "resolve", "dns", "unreachable", "socket", "proxy", "tls"),
        "permissions": (
            "permission denied",
            "not permitted",
            "access denied",
            "forbidden",
            "unauthorized",
            "read-only",
        ),
        "the disk is full": ("no space left", "disk quota", "disk full"),
        "the file system": (
            "input output",
            "stale file",
            "i o",
            "filesystem",
            "file system",
            "structure needs cleaning",
        ),
        "memory": ("memory", "sigkill", "oom"),
        "too many open files": ("too many open",),
        "a program that is missing": ("not found", "no such file", "cannot be executed"),
    }
)
"""Words of a signature, and the cause that they suggest."""


def suspected_root(signature: str) -> str:
    """The suspected cause in words, for a sentence: "the network"."""
    category, _, words = signature.partition(": ")
    for root, hints in ROOTS.items():
        if any(hint in words for hint in hints):
            return root
    if category == FailureCategory.TIMEOUT:
        return "something that does not answer"
    return "the network" if category == FailureCategory.TRANSPORT else "a cause in common"
