"""A breaker. Two functions are missing; TASK.md says what they have to do."""

from dataclasses import dataclass, replace

CLOSED, OPEN, HALF_OPEN = "closed", "open", "half-open"
THRESHOLD = 3
PAUSE = 3


@dataclass(frozen=True, slots=True)
class Breaker:
    """The state of one tool."""

    state: str = CLOSED
    failures: int = 0
    """In a row."""
    generation: int = 0
    due: int = 0
    """First step that may probe; means something only while it is open."""


def allow(breaker: Breaker, step: int) -> tuple[Breaker, bool]:
    """May a call run at this step? Gives the breaker from now on, and the answer."""
    # ── your part begins ─────────────────────────────────────────────
    return breaker, True
    # ── your part ends ───────────────────────────────────────────────


def record(breaker: Breaker, ok: bool, generation: int, step: int) -> Breaker:
    """A call that was let through in `generation` came back. Gives the breaker from now on."""
    # ── your part begins ─────────────────────────────────────────────
    return replace(breaker, failures=0 if ok else breaker.failures + 1)
    # ── your part ends ───────────────────────────────────────────────
