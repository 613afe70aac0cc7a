"""The description of what a command may read, write and reach. Pure values: nothing here looks at the disk."""

from dataclasses import dataclass
from enum import IntEnum, StrEnum
from pathlib import PurePosixPath
from typing import Literal


class ProfileName(StrEnum):
    """The three degrees of freedom of a command."""

    LOOK = "look"
    """A line that only reads and runs without a question: workspace and system readable, nothing writable, no
    network."""
    WORK = "work"
    """A line that runs without a question because the system holds it: the workspace and a private temporary folder
    are writable, the network is an allow-list of hosts."""
    FREE = "free"
    """A line that the user, a rule or the mode has allowed: no sandbox."""


class Access(IntEnum):
    """What a command may do with a file; each includes the ones before."""

    NONE = 0
    """The file is not there, or seems empty."""
    READ = 1
    """Read and run it, list it."""
    WRITE = 2


@dataclass(frozen=True, slots=True)
class Profile:
    """What one command in the sandbox may read and write.

    Paths are absolute with links resolved, and cover everything below them. The longest path that covers a file
    decides about it; what no path covers does not exist for the command.
    """

    name: ProfileName
    readable: tuple[str, ...] = ()
    writable: tuple[str, ...] = ()
    """They are readable, too."""
    read_only: tuple[str, ...] = ()
    """Inside writable folders: readable, but not writable. Only such as exist."""
    hidden: tuple[str, ...] = ()
    """Inside readable folders: files that seem empty, and folders that seem to have nothing in them. Only such as
    exist."""
    private: tuple[str, ...] = ()
    """Folders that seem empty at first and keep what is written until the session ends. Nothing is read or written in
    those of the machine."""
    own_network: bool = True
    """It has a loopback interface of its own and nothing else; False: the network of the machine."""
    links: tuple[tuple[str, str], ...] = ()
    """Links outside all places, and their targets as they are written: they stay, so that a path means what it means
    outside (/bin and usr/bin)."""
    of_git: tuple[str, ...] = ()
    """Those of the read-only paths that git tracks, or in which it tracks something."""

    @property
    def places(self) -> dict[str, Access]:
        """What each path in the profile grants to all below it that no longer path covers; of two lists that name the
        same path the later one counts."""
        return {
            **dict.fromkeys(self.readable, Access.READ),
            **dict.fromkeys(self.writable, Access.WRITE),
            **dict.fromkeys(self.read_only, Access.READ),
            **dict.fromkeys(self.hidden, Access.NONE),
        }

    def access(self, path: str) -> Access:
        """What the profile grants to a path, which is absolute with links resolved."""
        places = self.places
        above = (str(one) for one in (PurePosixPath(path), *PurePosixPath(path).parents))
        return next((places[one] for one in above if one in places), Access.NONE)


@dataclass(frozen=True, slots=True)
class Allowance:
    """What the user has allowed one command beyond its profile."""

    paths: tuple[str, ...] = ()
    """Absolute paths that it may read and write, with everything below them."""
    hosts: tuple[str, ...] = ()
    """Hosts that it may reach, as `name` or `name:port`."""
    server: bool = False
    """It is a server that works for the user: it has the network of the machine and the environment it is given."""

    def with_more(self, other: "Allowance") -> "Allowance":
        """Both together."""
        paths, hosts = (tuple(dict.fromkeys(pair)) for pair in (self.paths + other.paths, self.hosts + other.hosts))
        return Allowance(paths, hosts, self.server or other.server)

    def beyond(self, other: "Allowance") -> "Allowance":
        """What of this the other does not allow."""
        return Allowance(
            tuple(path for path in self.paths if not any(map(PurePosixPath(path).is_relative_to, other.paths))),
            tuple(host for host in self.hosts if host not in other.hosts),
        )


NOTHING_MORE = Allowance()


@dataclass(frozen=True, slots=True)
class CommandTerms:
    """What goes with the profile of one command."""

    allowance: Allowance = NOTHING_MORE
    """What it may do beyond its profile."""
    granted: Profile | None = None
    """What the sandbox granted to the profile WORK just before: the command then starts by the same look at the disk.
    None: it is looked at again."""
    caller: object = None
    """Who is asked about the hosts that it wants to reach, as the sandbox understands it; None: no user can be."""


USUAL_TERMS = CommandTerms()


class SandboxLevel(StrEnum):
    """What of a profile this machine can enforce."""

    FULL = "full"
    """Files, processes and network."""
    FILES = "files only"
    """Files and signals of commands that only look, and their network; others are not held."""
    NONE = "none"
    """Nothing."""


@dataclass(frozen=True, slots=True)
class SandboxState:
    """The state of this machine, probed at the start of the program."""

    level: SandboxLevel
    by: Literal["bubblewrap", "landlock", "seatbelt", ""] = ""
    """Who enforces it; empty: nothing is enforced."""
    why: str = ""
    """Why the level is not full, in a few words; empty: it is."""
    repair: str = ""
    """The command, or the setting, that would make it full; empty: none is known."""

    @property
    def in_words(self) -> str:
        """One line, such as "files only, by Landlock: bubblewrap is not installed; to make it full: apt install …"."""
        why = f": {self.why}" if self.why else ""
        return f"{self.level_in_words}{why}" + (f"; to make it full: {self.repair}" if self.repair else "")

    @property
    def level_in_words(self) -> str:
        """The level and who enforces it, such as "full, by bubblewrap"."""
        return f"{self.level}, by {self.by.replace('landlock', 'Landlock')}" if self.by else str(self.level)


@dataclass(frozen=True, slots=True)
class SandboxDenial:
    """Something that a profile refused to a command."""

    kind: Literal["host", "path"]
    subject: str
    """`name:port` of a host, or an absolute path."""
    why: str = ""
    """Why, in a few words; empty: the profile does not allow it."""


class SandboxError(OSError):
    """The sandbox of a command cannot be made, so the command does not start. The text is one sentence that says what
    to do."""
