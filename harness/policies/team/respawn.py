"""What follows a failure of a member at work: it goes on, another generation of it begins, or neither.

A fault of the model passes; the member goes on with its task and its history, each time after a longer wait. Any other
end without an answer may have its reason in the history, so a new generation with the same name and role begins. A
breaker counts these in a window, for the member and for the team, because a member that fails right after each start
would start without end.
"""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RespawnLimits:
    """Limits of the breaker."""

    member: int = 3
    """New generations of one name within the window."""
    team: int = 10
    """Of all names within the window."""
    window_s: float = 600.0
    """Length of the window, in seconds."""
    first_wait_s: float = 15.0
    """Seconds before a member goes on after a fault of the model; each further one in a row doubles them."""
    longest_wait_s: float = 1_800.0


@dataclass(frozen=True, slots=True)
class GoOn:
    """The same member goes on with its task."""

    after_s: float


@dataclass(frozen=True, slots=True)
class Respawn:
    """A new generation begins."""


@dataclass(frozen=True, slots=True)
class NoRespawn:
    """It stays ended, and why."""

    why: str


def after_failure(
    name: str,
    begun: Sequence[tuple[float, str]],
    *,
    transient: bool,
    in_a_row: int,
    now: float,
    limits: RespawnLimits | None = None,
) -> GoOn | Respawn | NoRespawn:
    """What follows a failure.

    Args:
        begun: the new generations so far, as Unix time and name.
        transient: it was a fault of the model.
        in_a_row: such faults of this member since its last turn without one, with this one.
        now: Unix time.
    """
    limits = limits or RespawnLimits()
    if transient:
        doubled = limits.first_wait_s * 2.0 ** min(in_a_row - 1, 30)
        return GoOn(min(doubled, limits.longest_wait_s))
    recent = [one for at, one in begun if 0 <= now - at < limits.window_s]
    minutes = f"within {limits.window_s / 60:.0f} minutes"
    if (own := recent.count(name)) >= limits.member:
        return NoRespawn(f"{name} was started again {own} times {minutes}, and no more is allowed")
    if len(recent) >= limits.team:
        return NoRespawn(f"members were started again {len(recent)} times {minutes}, and no more is allowed")
    return Respawn()
