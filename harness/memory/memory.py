"""What a memory is."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from harness.base.errors import HarnessError

LONGEST_DESCRIPTION = 200
"""Characters; it stands in the system prompt of every session."""
MOST_BYTES = 4_096
"""Of a memory with its front matter, as it lies on the disk (facts/lessons.md, s09)."""
MOST_MEMORIES = 200
"""Kept in one place."""
MOST_FORGOTTEN = 50
"""Kept of what was forgotten or written over in one place; the oldest goes first."""


class Place(StrEnum):
    """Whose memory it is."""

    PERSON = "person"
    """It goes with the person into every project."""
    PROJECT = "project"
    """It stays with the folder that is worked in. It is kept beside its sessions, and not in the folder itself."""


class MemoryType(StrEnum):
    """What a memory is about (facts/lessons.md, s09)."""

    USER = "user"
    """Who the person is and what they prefer."""
    FEEDBACK = "feedback"
    """What they said about how work is done."""
    PROJECT = "project"
    """What is so in this project, and cannot be read from its files."""
    REFERENCE = "reference"
    """Where something is found."""


USUAL_PLACE = {
    MemoryType.USER: Place.PERSON,
    MemoryType.FEEDBACK: Place.PERSON,
    MemoryType.PROJECT: Place.PROJECT,
    MemoryType.REFERENCE: Place.PROJECT,
}
"""Where a memory of that type is kept if nothing else is said."""
USUAL_TYPE = {Place.PERSON: MemoryType.USER, Place.PROJECT: MemoryType.PROJECT}
"""What a file is taken for that does not say it."""


@dataclass(frozen=True, slots=True)
class Draft:
    """What is to be remembered."""

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
    place: Place
    file: Path
    size: int
    """Bytes."""
    created: float
    """Unix time in whole seconds, as `updated`."""
    updated: float
    session: str
    """Id of the session that wrote it last; empty: not known."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong with a file."""

    file: Path
    text: str
    """A sentence without its beginning, which is the file, and without its full stop."""


class StoreError(HarnessError):
    """A memory cannot be kept, brought back or forgotten. Its text is one sentence that says why."""
