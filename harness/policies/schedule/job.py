"""A scheduled job, and what a look at it decides."""

from dataclasses import dataclass
from enum import StrEnum


class JobKind(StrEnum):
    """How often a job fires."""

    RECURRING = "recurring"
    ONCE = "once"


class MissedTimes(StrEnum):
    """What becomes of times that passed while nothing could fire."""

    SKIP = "skip"
    """Nothing."""
    ONCE = "once"
    """One fire stands for all of them, and says how many."""
    EACH = "each"
    """One fire after the other."""


@dataclass(frozen=True, slots=True)
class JobFire:
    """One fire of a job."""

    id: str
    """The same when it is delivered a second time: "c3@1795435629", with "!" at the end for one by hand."""
    due: float
    """Unix time at which it was to fire."""
    missed: int = 0
    """Earlier times that it replaces."""
    last: bool = False
    """The job has expired and does not fire again."""


def job_id_of(fire_id: str) -> str:
    """The id of the job of a fire, such as "c3"."""
    return fire_id.partition("@")[0]


@dataclass(frozen=True, slots=True)
class ScheduledJob:
    """A prompt that fires by itself. Moments are Unix time in seconds."""

    number: int
    when: str
    """A cron expression, or the local time of the one fire."""
    zone: str
    """Time zone of `when`: "Europe/Oslo"."""
    prompt: str
    kind: JobKind = JobKind.RECURRING
    missed: MissedTimes = MissedTimes.ONCE
    lasting: bool = False
    """Kept for later sessions; otherwise it ends with its session."""
    created_at: float = 0.0
    expires_at: float | None = None
    """None: never."""
    done_until: float = 0.0
    """Times up to here are dealt with."""
    waiting: JobFire | None = None
    """A fire that was begun and whose turn has not ended yet."""
    paused: str = ""
    """Why it does not fire; empty: it does."""
    failures: int = 0
    """In a row."""
    zone_given: bool = False
    """The zone was named; otherwise it is that of the machine when the job was made."""
    fires: int = 0
    cost_usd: float = 0.0

    @property
    def id(self) -> str:
        """As users and models name it: "c3"."""
        return f"c{self.number}"


@dataclass(frozen=True, slots=True)
class ScheduleLimits:
    """Limits of a schedule."""

    jobs: int = 50
    prompt: int = 10_000
    """Characters."""
    expires_s: float = 30 * 86_400.0
    """A recurring job ends this long after its creation."""
    on_time_s: float = 60.0
    """A time that passed longer ago was missed."""
    failures: int = 3
    """In a row, after which a job is paused."""
    jitter_share: float = 0.1
    """Of the distance between two fires: the longest delay."""
    jitter_s: float = 900.0
    """The longest delay, in seconds."""
