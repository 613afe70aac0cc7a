"""Limits and results of commands."""

from dataclasses import dataclass
from enum import StrEnum

from harness.sandbox import SandboxDenial

MARK = "HARNESS_PROCESS"
"""Environment variable with the marks of the commands that a process belongs to, separated by spaces; several if a
command is this program again."""

MOST_NAMED = 5
"""Hosts that a note about a command names."""


@dataclass(frozen=True, slots=True)
class ProcessLimits:
    """How long a command and its end may take, in seconds."""

    time_s: float = 120.0
    term_grace_s: float = 3.0
    """Between TERM and KILL."""
    kill_grace_s: float = 1.0
    """Until a killed process must be gone."""
    pipe_grace_s: float = 0.3
    """How long to read on after the command exited, while a background child keeps its output open."""


@dataclass(frozen=True, slots=True)
class SurvivingProcess:
    """A process that outlived its command."""

    pid: int
    name: str


@dataclass(frozen=True, slots=True)
class ProcessResult:
    """How a command ended."""

    exit_code: int | None
    """Negative: the number of the signal that killed it. None: it could not be ended."""
    timed_out: bool = False
    """It was ended at its time limit."""
    left: tuple[SurvivingProcess, ...] = ()
    """Background processes after a normal exit; after we ended it, what even KILL did not end."""
    forced: bool = False
    """TERM did not end all of it in time, so it was killed."""
    memory_kills: int = 0
    """Processes of it that the kernel killed at its memory limit."""
    memory_limit: int = 0
    """That limit in bytes; 0: there was none."""
    denials: tuple[SandboxDenial, ...] = ()
    """What the sandbox refused it."""
    not_begun: str = ""
    """Why the command did not begin although its sandbox was started, in one sentence; empty: it did."""

    @property
    def memory_note(self) -> str:
        """A clause about its memory limit; empty where the command stayed below it."""
        if not self.memory_kills:
            return ""
        processes = "1 process" if self.memory_kills == 1 else f"{self.memory_kills} processes"
        return f"the kernel killed {processes} of it at its memory limit of {self.memory_limit / 2**20:,.0f} MiB"

    @property
    def denials_note(self) -> str:
        """A clause about the hosts that the sandbox refused it; empty: none."""
        hosts = [denial for denial in self.denials if denial.kind == "host"]
        listed = "; ".join(f"{one.subject} ({one.why})" for one in hosts[:MOST_NAMED])
        more = f"; and {len(hosts) - MOST_NAMED} more" if len(hosts) > MOST_NAMED else ""
        return f"the sandbox refused a connection to {listed}{more}" if hosts else ""


class ProcessEnd(StrEnum):
    """What it took to end a command and all its children."""

    EXITED = "exited"
    """Nothing: the command exited."""
    TERMINATED = "terminated"
    """TERM."""
    KILLED = "killed"
    """KILL, for at least one of its processes."""
    SURVIVED = "survived"
    """A process survived KILL: it waits in the kernel, or belongs to another user."""
    HANDED_OVER = "handed-over"
    """It was handed over to the user."""


@dataclass(frozen=True, slots=True)
class ExitCounts:
    """How the commands of a program ended. Started commands in no other count are still running."""

    started: int = 0
    exited: int = 0
    terminated: int = 0
    killed: int = 0
    survived: int = 0
    handed_over: int = 0
    slowest_end_s: float = 0.0
    """The longest that ending a command took, in seconds."""
