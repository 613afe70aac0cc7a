"""What only the disk knows about a call: questions before a decision, and the answers that come with the request."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Tree:
    """Files below a folder that a command reads, or whose names it passes on."""

    folder: str
    """Absolute, dots still in it."""
    pattern: bool = False
    """The folder is a file pattern: every folder and file that fits it counts."""
    names: tuple[str, ...] = ()
    """Patterns for the last part of a path (`*.py`); none: every file."""
    without: tuple[str, ...] = ()
    """Patterns for the last part of paths that are left out."""
    links: bool = False
    """Links inside it are followed."""
    entered: bool = False
    """Folders that links lead to are searched, whatever the names of the links."""
    tracked: bool = False
    """Only files that git tracks."""
    from_top: bool = False
    """With `tracked`: the names that git gives them from the top of the repository, taken from this folder."""
    changes: bool = False
    """What git shows of them is their history, so that places for keys do not count, only rules."""
    hidden: bool = True
    """Files and folders whose names begin with a dot count, too."""


@dataclass(frozen=True, slots=True)
class Contents:
    """What was found in a `Tree`."""

    files: tuple[str, ...] = ()
    """Absolute paths of what matters: places for keys, what a rule is about, and where followed links lead."""
    complete: bool = True
    """False: there was more than could be looked through."""
    odd: str = ""
    """A name that a shell or xargs would not pass on as one word; empty where there is none."""


@dataclass(frozen=True, slots=True)
class Questions:
    """What has to be looked up before a call can be judged."""

    paths: frozenset[str] = frozenset()
    patterns: frozenset[str] = frozenset()
    """Paths with wildcards, as bash reads them."""
    trees: frozenset[Tree] = frozenset()
    programs: frozenset[str] = frozenset()
    """Files that would run instead of a program of the system, if they exist."""
    repositories: frozenset[str] = frozenset()
    """Folders in which git would run."""
    addresses: frozenset[str] = frozenset()
    """Those in which it would show the addresses of the repository's configuration."""


@dataclass(frozen=True, slots=True)
class Disk:
    """The answers. What was not looked up is missing, and counts as not known."""

    places: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """For a path, where it leads with every link resolved; for a pattern, the same of all that fits it."""
    matches: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """For a pattern, the paths that fit it, as the shell would pass them on."""
    trees: Mapping[Tree, Contents] = field(default_factory=dict)
    programs: frozenset[str] = frozenset()
    """Those that exist."""
    repositories: Mapping[str, str] = field(default_factory=dict)
    """For a folder, why git must not run there unasked; empty where nothing is the matter."""
    addresses: Mapping[str, str] = field(default_factory=dict)
    """For a folder, the setting of the repository that holds a password; empty where none does."""


UNKNOWN = Disk()
"""Nothing was looked up."""
