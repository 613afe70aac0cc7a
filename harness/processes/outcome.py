"""What is known of a command and its end."""

from dataclasses import dataclass
from enum import StrEnum

MARK = "HARNESS_PROCESS"
"""Environment variable that says which commands a process belongs to: their marks, a space between two. There are
several where a command of ours is this program again."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How long a command and its end may take, in seconds."""

    time_s: float = 120.0
    term_grace_s: float = 3.0
    """Between TERM and KILL."""
    kill_grace_s: float = 1.0
    """Until a killed process must be gone."""
    pipe_grace_s: float = 0.3
    """How long to read on after the command exited, while a background child keeps its output open."""


@dataclass(frozen=True, slots=True)
class LeftOver:
    """A process of the command that lives on."""

    pid: int
    name: str


@dataclass(frozen=True, slots=True)
class Finished:
    """How a command ended."""

    exit_code: int | None
    """Negative: the number of the signal that killed it. None: it could not be ended."""
    timed_out: bool = False
    """We ended it, because its time was up."""
    left: tuple[LeftOver, ...] = ()
    """Background processes after a normal exit; after we ended it, what even KILL did not end."""
    forced: bool = False
    """TERM did not end all of it in time, so that it was killed."""


class End(StrEnum):
    """What it took until a command and all its children were gone."""

    EXITED = "exited"
    """Nothing: the command exited by itself."""
    TERMINATED = "terminated"
    """TERM."""
    KILLED = "killed"
    """KILL, for at least one of its processes."""
    SURVIVED = "survived"
    """Something lives on in spite of KILL: it waits in the kernel, or belongs to another user."""
    HANDED_OVER = "handed-over"
    """It is not ours any more."""


@dataclass(frozen=True, slots=True)
class ExitCounts:
    """How the commands of a program ended. What was started and is in no other count still runs."""

    started: int = 0
    exited: int = 0
    terminated: int = 0
    killed: int = 0
    survived: int = 0
    handed_over: int = 0
    slowest_end_s: float = 0.0
    """The longest that ending a command took, in seconds."""
