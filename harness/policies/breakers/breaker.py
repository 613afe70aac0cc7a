"""One breaker: what is known about one key, and what may happen to it next.

    CLOSED ──threshold──▶ OPEN ──probe given──▶ HALF_OPEN ──probe succeeded──▶ CLOSED
                           ▲                        │
                           └── probe failed, lost, released

The key may be anything that can fail: a tool, whose distances are steps, or the endpoint of a model or a
conversation, whose distances are seconds (Q5). A breaker knows no clock; whoever asks says what "now" is.

The generation rises with every change of state. A result belongs to the generation in which its call was let
through; once the breaker has moved on, the result is late and must not be given to it (A9).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from harness.events import BreakerState, ChangeReason

CLOSED, OPEN, HALF_OPEN = BreakerState.CLOSED, BreakerState.OPEN, BreakerState.HALF_OPEN

TRANSITIONS: Mapping[tuple[BreakerState, ChangeReason], BreakerState] = MappingProxyType(
    {
        (CLOSED, ChangeReason.FAILED): CLOSED,
        (CLOSED, ChangeReason.SUCCEEDED): CLOSED,
        (CLOSED, ChangeReason.THRESHOLD): OPEN,
        (OPEN, ChangeReason.PROBE_GIVEN): HALF_OPEN,
        (HALF_OPEN, ChangeReason.PROBE_SUCCEEDED): CLOSED,
        (HALF_OPEN, ChangeReason.PROBE_FAILED): OPEN,
        (HALF_OPEN, ChangeReason.PROBE_LOST): OPEN,
        (HALF_OPEN, ChangeReason.PROBE_RELEASED): OPEN,
        **{(state, ChangeReason.TRIPPED): OPEN for state in BreakerState},
        **{(state, ChangeReason.ISOLATED): OPEN for state in BreakerState},
        (OPEN, ChangeReason.RELEASED): OPEN,
        **{(state, ChangeReason.RESET): CLOSED for state in BreakerState},
    }
)
"""All that can happen, and where it leads (A3). What is not here cannot happen."""


@dataclass(frozen=True, slots=True)
class BreakerLimits:
    """The numbers of one kind of key. Distances are in the unit of the key: steps or seconds."""

    threshold: int = 3
    """Failures in a row that open it."""
    pauses: tuple[float, ...] = (3,)
    """From an opening to the probe: the first one, the one after a failed probe, …; the last one repeats."""
    lease: float = 3
    """After which a probe without an outcome is lost."""

    def pause(self, openings: int) -> float:
        """From the opening number `openings`, counted from 1 since the breaker was closed, to its probe."""
        return self.pauses[min(openings, len(self.pauses)) - 1]


@dataclass(frozen=True, slots=True)
class Breaker:
    """Where one key stands. Frozen: whatever happens to it makes another one."""

    state: BreakerState = CLOSED
    failures: int = 0
    """In a row."""
    generation: int = 0
    openings: int = 0
    """Since it was last closed."""
    opened: float = 0
    """Moment of the last opening."""
    due: float | None = None
    """Moment from which on a probe may be given; None: not open, or isolated."""
    lease_until: float = 0
    """Moment at which the probe that is out counts as lost."""
    why: ChangeReason = ChangeReason.RESET
    """The last change."""

    @property
    def isolated(self) -> bool:
        """Open until a person says otherwise."""
        return self.state is OPEN and self.due is None

    def probe_due(self, now: float) -> bool:
        """A probe may be given."""
        return self.state is OPEN and self.due is not None and now >= self.due

    def lease_over(self, now: float) -> bool:
        """The probe that is out has had its time (A8)."""
        return self.state is HALF_OPEN and now >= self.lease_until

    # ── what happens on its own ─────────────────────────────────────────────────────────────────

    def failed(self, now: float, limits: BreakerLimits) -> "Breaker":
        """The call of this generation failed (A5, A10)."""
        failures = self.failures + 1
        if self.state is CLOSED and failures < limits.threshold:
            return self._changed(ChangeReason.FAILED, failures=failures)
        why = ChangeReason.THRESHOLD if self.state is CLOSED else ChangeReason.PROBE_FAILED
        due = now + limits.pause(self.openings + 1)
        return self._changed(why, failures=failures, openings=self.openings + 1, opened=now, due=due)

    def succeeded(self) -> "Breaker":
        """The call of this generation succeeded: a probe closes the breaker (A6, A10)."""
        if self.state is HALF_OPEN:
            return self._changed(ChangeReason.PROBE_SUCCEEDED, failures=0, openings=0)
        return self._changed(ChangeReason.SUCCEEDED, failures=0) if self.failures else self

    def probing(self, now: float, limits: BreakerLimits) -> "Breaker":
        """A probe is given (A7). Raises KeyError for an isolated breaker, as for one that is not open."""
        if self.isolated:
            raise KeyError(ChangeReason.PROBE_GIVEN)
        return self._changed(ChangeReason.PROBE_GIVEN, due=None, lease_until=now + limits.lease)

    def lost(self, now: float) -> "Breaker":
        """The probe never came back. It said nothing, so that the next request is a probe again (A8)."""
        return self._changed(ChangeReason.PROBE_LOST, due=now)

    def released(self, now: float) -> "Breaker":
        """The probe was not run after all; the next request is one (A6)."""
        return self._changed(ChangeReason.PROBE_RELEASED, due=now)

    # ── what a person does ──────────────────────────────────────────────────────────────────────

    def tripped(self, now: float, limits: BreakerLimits) -> "Breaker":
        """Opened by hand; probes come as after a failure."""
        return self._changed(
            ChangeReason.TRIPPED, openings=self.openings + 1, opened=now, due=now + limits.pause(self.openings + 1)
        )

    def isolate(self, now: float) -> "Breaker":
        """Opened by hand, and never probed."""
        return self._changed(ChangeReason.ISOLATED, opened=now, due=None)

    def release(self, now: float) -> "Breaker":
        """No longer isolated: the next request is a probe."""
        return self._changed(ChangeReason.RELEASED, due=now) if self.isolated else self

    def reset(self) -> "Breaker":
        """Closed by hand, its failures forgotten."""
        return self._changed(ChangeReason.RESET, failures=0, openings=0, due=None)

    def _changed(self, why: ChangeReason, **values: object) -> "Breaker":
        """The breaker after `why`. Raises KeyError for what cannot happen in this state."""
        state = TRANSITIONS[self.state, why]
        moved = state is not self.state or why in _BY_HAND
        changed: Breaker = replace(self, state=state, why=why, generation=self.generation + moved, **values)  # type: ignore[arg-type]
        return changed if changed.state is OPEN else replace(changed, due=None)


_BY_HAND = frozenset({ChangeReason.TRIPPED, ChangeReason.ISOLATED, ChangeReason.RELEASED, ChangeReason.RESET})
