"""Facts from the disk: the questions before a decision, and the answers that come with the request."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class FileTree:
    """Files below a folder that a command reads."""

    folder: str
    """Absolute, dots still in it."""
    pattern: bool = False
    """The folder is a file pattern that may match several folders and files."""
    names: tuple[str, ...] = ()
    """Patterns for the last part of a path (`*.py`); none: every file."""
    without: tuple[str, ...] = ()
    """Patterns for the last part of excluded paths."""
    links: bool = False
    """Links inside it are followed."""
    entered: bool = False
    """Folders that links lead to are searched, whatever the names of the links."""
    tracked: bool = False
    """Only files that git tracks."""
    changes: bool = False
    """They are read in part, or perhaps not at all, so rules apply but protected places do not."""
    hidden: bool = True
    """Files and folders whose names begin with a dot count, too."""


@dataclass(frozen=True, slots=True)
class TreeContents:
    """The contents of a `FileTree`."""

    files: tuple[str, ...] = ()
    """Absolute paths of relevant files: places for keys, files named by rules, and targets of followed links."""
    complete: bool = True
    """False: there were too many files to search."""


@dataclass(frozen=True, slots=True)
class DiskQuestions:
    """Facts needed before a call can be decided."""

    paths: frozenset[str] = frozenset()
    patterns: frozenset[str] = frozenset()
    """Paths with wildcards, as bash reads them."""
    trees: frozenset[FileTree] = frozenset()
    programs: frozenset[str] = frozenset()
    """Files that would run instead of a program of the system, if they exist."""
    repositories: frozenset[str] = frozenset()
    """Folders where git would run."""
    addresses: frozenset[str] = frozenset()
    """Folders where git would show the addresses in the repository's configuration."""


@dataclass(frozen=True, slots=True)
class Disk:
    """The answers. Missing entries are unknown."""

    places: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Path to resolved path; for a pattern, the resolved paths of all matches."""
    matches: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Pattern to matching paths, as the shell would pass them on."""
    trees: Mapping[FileTree, TreeContents] = field(default_factory=dict)
    programs: frozenset[str] = frozenset()
    """Those that exist."""
    repositories: Mapping[str, str] = field(default_factory=dict)
    """Folder to the reason why git needs permission there; empty: none."""
    addresses: Mapping[str, str] = field(default_factory=dict)
    """Folder to the repository setting that holds a password; empty: none."""


UNKNOWN = Disk()
"""No facts."""
