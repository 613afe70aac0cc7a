"""A breaker. Two functions are missing; TASK.md says what they have to do."""

from dataclasses import dataclass, replace

CLOSED, OPEN, HALF_OPEN = "closed", "open", "half-open"
THRESHOLD = 3
PAUSE = 3


@dataclass(frozen=True, slots=True)
class Breaker:
    """Where one tool stands."""

    state: str = CLOSED
    failures: int = 0
    """In a row."""
    generation: int = 0
    due: int = 0
    """Step from which on a probe may be given; means something only while it is open."""


def allow(breaker: Breaker, step: int) -> tuple[Breaker, bool]:
    """May a call run at this step? Gives the breaker from now on, and the answer."""
    # ── your part begins ─────────────────────────────────────────────
    if breaker.state == OPEN and step >= breaker.due:
        return replace(breaker, state=HALF_OPEN, generation=breaker.generation + 1), True
    return breaker, breaker.state == CLOSED
    # ── your part ends ───────────────────────────────────────────────


def record(breaker: Breaker, ok: bool, generation: int, step: int) -> Breaker:
    """A call that was let through in `generation` came back. Gives the breaker from now on."""
    # ── your part begins ─────────────────────────────────────────────
    if generation != breaker.generation:
        return breaker
    if ok:
        moved = breaker.state == HALF_OPEN
        return replace(breaker, state=CLOSED, failures=0, generation=breaker.generation + moved)
    failures = breaker.failures + 1
    if breaker.state == CLOSED and failures < THRESHOLD:
        return replace(breaker, failures=failures)
    return replace(breaker, state=OPEN, failures=failures, generation=breaker.generation + 1, due=step + PAUSE)
    # ── your part ends ───────────────────────────────────────────────
