"""A memory: its fields, valid names, and the check for secrets."""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from harness.base.errors import HarnessError
from harness.base.secrets import Secret

LONGEST_DESCRIPTION = 200
"""Characters; it is part of the system prompt of every session."""
MOST_BYTES = 4_096
"""Bytes of a memory file, front matter included."""
MOST_MEMORIES = 200
"""Kept in one place."""
MOST_FORGOTTEN = 50
"""Forgotten or overwritten memories kept per owner; the oldest is removed first."""


class MemoryOwner(StrEnum):
    """The owner of a memory."""

    PERSON = "person"
    """Belongs to the user, in every project."""
    PROJECT = "project"
    """Belongs to the workspace. Stored beside its sessions, not in the workspace itself."""


class MemoryType(StrEnum):
    """The subject of a memory."""

    USER = "user"
    """Who the user is and what they prefer."""
    FEEDBACK = "feedback"
    """How the user wants work done."""
    PROJECT = "project"
    """Facts about this project that its files do not show."""
    REFERENCE = "reference"
    """Where something is found."""


USUAL_PLACE = {
    MemoryType.USER: MemoryOwner.PERSON,
    MemoryType.FEEDBACK: MemoryOwner.PERSON,
    MemoryType.PROJECT: MemoryOwner.PROJECT,
    MemoryType.REFERENCE: MemoryOwner.PROJECT,
}
"""Where a memory of that type is kept if nothing else is said."""
USUAL_TYPE = {MemoryOwner.PERSON: MemoryType.USER, MemoryOwner.PROJECT: MemoryType.PROJECT}
"""The default type of a file without one."""


@dataclass(frozen=True, slots=True)
class MemoryDraft:
    """A memory to be stored."""

    name: str
    """As it was given; the memory is kept under `slug(name)`."""
    description: str
    type: MemoryType
    text: str


@dataclass(frozen=True, slots=True)
class Memory:
    """One memory as it was read."""

    name: str
    """That of its file."""
    description: str
    """One line."""
    type: MemoryType
    text: str
    place: MemoryOwner
    file: Path
    size: int
    """Bytes."""
    created: float
    """Unix time in whole seconds, as `updated`."""
    updated: float
    session: str
    """Id of the session that wrote it last; empty: not known."""


@dataclass(frozen=True, slots=True)
class MemoryProblem:
    """A problem with a file."""

    file: Path
    text: str
    """A sentence without its beginning, which is the file, and without its full stop."""


class StoreError(HarnessError):
    """A memory cannot be kept, brought back or forgotten. Its text is one sentence that says why."""


LONGEST_NAME = 60
"""Characters."""
MOST_NAME_BYTES = 150
"""In UTF-8: with an ending and a number before it, it has to fit into the 255 bytes that file systems allow."""

COMMAND_WORDS = frozenset({"edit", "forget", "undo"})
"""What /memory takes for a command."""
DEVICES = frozenset(
    {"con", "prn", "aux", "nul"} | {f"{port}{number}" for port in ("com", "lpt") for number in range(10)}
)
"""Names that are no files on Windows, whatever their ending."""


def slug(name: str) -> str:
    """Letters and digits of any writing in small letters, with single hyphens between; "" where nothing is left.

    `slug(slug(name)) == slug(name)`, and names that differ only in case, spaces or signs are one.
    """
    # Making letters small can bring new compositions, so that both are done until nothing changes any more.
    plain = name
    for _ in range(4):
        plain = unicodedata.normalize("NFKC", plain).casefold()
    kept = "".join(one if one.isalnum() or unicodedata.category(one)[0] == "M" else "-" for one in plain)
    words = re.sub("-+", "-", kept).strip("-")[:LONGEST_NAME]
    while len(words.encode("utf-8", "replace")) > MOST_NAME_BYTES:
        words = words[:-1]
    return words.strip("-")


def refusal(name: str) -> str:
    """Why nothing can be kept under this slug, as a whole sentence; "" where it can."""
    if not name:
        return "A name needs a letter or a digit."
    if name in COMMAND_WORDS or name in DEVICES:
        return f"The name {name} is reserved; choose another one."
    return ""


_NAMED = (
    # a word for a secret, a sign that its value follows, and a value with more in it than letters
    r"(?:pass(?:word|wd|phrase)|secret|token|api[ _-]?key|credentials?|パスワード|暗証番号)[\"'`]?\s*"
    r"(?:\b(?:of|for|to|on)\b[^:=\n]{1,60}?)?(?:[:=：＝]|\bis\b|は)\s*[\"'「`]?"
    r"(?=[!-~]*[0-9!#$%^&*+~])[^\s\"'「」`<>{}()\[\]$]{6,}"
)
_KINDS = tuple(
    (what, re.compile(pattern, re.IGNORECASE))
    for what, pattern in (
        ("a private key", r"-----BEGIN [A-Z ]*PRIVATE KEY"),
        ("a key of an API", r"\b(?:sk|pk|rk)[-_](?:[a-z0-9]+[-_])*[a-z0-9_-]{16,}"),
        ("a token of GitHub or GitLab", r"\b(?:gh[oprsu]_[a-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{16,})"),
        ("a token of Slack", r"\bxox[abeoprs]-[\w-]{10,}"),
        ("a key of AWS", r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
        ("a key of Google", r"\bAIza[\w-]{30,}"),
        ("a signed token", r"\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*"),
        ("a password in an address", r"\b[a-z][a-z0-9+.-]*://[^\s/:@]*:[^\s/@]{3,}@"),
        ("a header with a token", r"\bauthorization\b\W{1,4}(?:bearer|basic)\s+[\w.~+/-]{8,}"),
        ("a password or token", _NAMED),
    )
)
"""What it is called, and how it looks. A text that only says where a password is kept is none."""


def secret_in(text: str, known: Iterable[Secret | None] = ()) -> str:
    """What kind of secret the text holds, in a few words; "" where none is found. `known` are those of this session."""
    if any(one and one.reveal() in text for one in known):
        return "the key of this session"
    return next((what for what, pattern in _KINDS if pattern.search(text)), "")
