"""What the checkpoints take and answer with."""

from dataclasses import dataclass
from enum import Enum
from typing import Literal

from harness.base.errors import HarnessError

How = Literal["git", "copies"]
"""Where the contents lie: in a git repository of the session's own, or as plain copies."""


class CheckpointError(HarnessError):
    """The files could not be kept, compared or restored. Its text is one sentence for the person."""


@dataclass(frozen=True, slots=True)
class CheckpointLimits:
    """How much is kept; what is beyond is left out, and said so."""

    file_bytes: int = 10_000_000
    """Of one file."""
    total_bytes: int = 200_000_000
    """Of all files of one checkpoint."""
    files: int = 20_000
    """Files and links of one checkpoint."""
    stored_bytes: int = 1_000_000_000
    """Of all different contents that a session keeps, before compression. When reached, nothing more is kept."""
    time_s: float = 30.0
    """For one keep or comparison; a restore that has begun to write is not cut off."""
    listing_s: float = 5.0
    """For each question to git about the person's repository; after that the workspace counts as one without."""

    def __post_init__(self) -> None:
        if min(self.file_bytes, self.total_bytes, self.files, self.stored_bytes, self.time_s, self.listing_s) <= 0:
            raise ValueError("Every limit of the checkpoints has to be above 0.")


@dataclass(frozen=True, slots=True)
class Kept:
    """A checkpoint."""

    id: str
    """Of what is kept and what is left out: the same state has the same id."""
    how: How
    files: int
    left_out: tuple[str, ...] = ()
    """What is not in it and why, in a few lines."""


class ChangeKind(Enum):
    """What became of a file since a checkpoint."""

    ADDED = "added"
    CHANGED = "changed"
    """Another content, other permissions, or a link in place of a file."""
    REMOVED = "removed"


@dataclass(frozen=True, slots=True)
class Change:
    """A path whose state differs from a checkpoint. A restore takes an added file away and writes back the others."""

    path: str
    """From the workspace, with forward slashes; bytes that are not UTF-8 as backslash escapes."""
    kind: ChangeKind


@dataclass(frozen=True, slots=True)
class Restored:
    """What a restore did."""

    undo: str
    """Id of the state that stood before it: restoring that undoes the restore."""
    written: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    not_undone: tuple[str, ...] = ()
    """What stays different or was never kept, and why, in one line each."""
