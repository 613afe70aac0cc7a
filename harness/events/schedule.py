"""Events of scheduled prompts."""

from dataclasses import dataclass

from harness.events.catalogue import Event

__all__ = ["NOTHING_TO_REPORT", "JobChanged", "JobFired", "JobMissed"]

NOTHING_TO_REPORT = "Nothing to report."
"""The whole answer to a scheduled prompt that has no news."""


@dataclass(frozen=True, slots=True)
class JobChanged(Event):
    """A job of the schedule was changed by this session."""

    job: str
    """Its id, such as "c3"."""
    what: str
    """created, deleted, paused, resumed, skipped, over."""
    text: str = ""
    """When it fires next, why it is paused, or how many times were skipped."""


@dataclass(frozen=True, slots=True)
class JobFired(Event):
    """A scheduled prompt is delivered to the model as soon as no turn runs. Nobody typed it."""

    job: str
    fire: str
    """Id of this fire; the same when it is delivered a second time."""
    prompt: str
    due: float
    """Unix time at which it was to fire."""
    missed: int = 0
    """Earlier times that it replaces."""
    last: bool = False
    """The job has expired and does not fire again."""
    due_local: str = ""
    """`due` as the model reads it: "2026-11-24 09:30 CET". Empty in older journals."""
    late_s: float = 0.0
    """Seconds from `due` to the fire."""


@dataclass(frozen=True, slots=True)
class JobMissed(Event):
    """The one time of a job passed while no session ran. The user can run or delete it."""

    job: str
    prompt: str
    due: float
    """Unix time."""
