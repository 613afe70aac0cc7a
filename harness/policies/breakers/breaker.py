"""One circuit breaker: its state and the changes that are possible.

    CLOSED ──threshold──▶ OPEN ──probe given──▶ HALF_OPEN ──probe succeeded──▶ CLOSED
                           ▲                        │
                           └── probe failed, lost, released

The key is anything that can fail: a tool (distances in steps), a model endpoint or a conversation (distances in
seconds). A breaker has no clock; the caller passes the current moment.

The generation rises with every change of state. A result whose call was let through in an older generation is late and
must not be recorded here. See docs/design/breakers.md#states.
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
"""Every possible change and the state it leads to. All others raise KeyError."""


@dataclass(frozen=True, slots=True)
class BreakerLimits:
    """The numbers for one kind of key. Distances are in the unit of the key: steps or seconds."""

    threshold: int = 3
    """Consecutive failures that open it."""
    pauses: tuple[float, ...] = (3,)
    """Distance from an opening to the probe: after the first opening, after the first failed probe, …; the last one
    repeats."""
    lease: float = 3
    """Distance after which a probe without an outcome is lost."""

    def pause(self, openings: int) -> float:
        """Distance from opening number `openings`, counted from 1 since the breaker was closed, to its probe."""
        return self.pauses[min(openings, len(self.pauses)) - 1]


@dataclass(frozen=True, slots=True)
class Breaker:
    """State of one key. Immutable: each change returns a new breaker."""

    state: BreakerState = CLOSED
    failures: int = 0
    """Consecutive failures."""
    generation: int = 0
    openings: int = 0
    """Openings since it was last closed."""
    opened: float = 0
    """Moment of the last opening."""
    due: float | None = None
    """Moment of the next probe; None: not open, or isolated."""
    lease_until: float = 0
    """Moment at which the current probe counts as lost."""
    why: ChangeReason = ChangeReason.RESET
    """The last change."""

    @property
    def isolated(self) -> bool:
        """Open until a user releases it."""
        return self.state is OPEN and self.due is None

    def probe_due(self, now: float) -> bool:
        return self.state is OPEN and self.due is not None and now >= self.due

    def lease_over(self, now: float) -> bool:
        return self.state is HALF_OPEN and now >= self.lease_until

    # ── what happens on its own ─────────────────────────────────────────────────────────────────

    def failed(self, now: float, limits: BreakerLimits) -> "Breaker":
        """The call of this generation failed."""
        failures = self.failures + 1
        if self.state is CLOSED and failures < limits.threshold:
            return self._changed(ChangeReason.FAILED, failures=failures)
        why = ChangeReason.THRESHOLD if self.state is CLOSED else ChangeReason.PROBE_FAILED
        due = now + limits.pause(self.openings + 1)
        return self._changed(why, failures=failures, openings=self.openings + 1, opened=now, due=due)

    def succeeded(self) -> "Breaker":
        """The call of this generation succeeded. A successful probe closes the breaker."""
        if self.state is HALF_OPEN:
            return self._changed(ChangeReason.PROBE_SUCCEEDED, failures=0, openings=0)
        return self._changed(ChangeReason.SUCCEEDED, failures=0) if self.failures else self

    def probing(self, now: float, limits: BreakerLimits) -> "Breaker":
        """A probe starts. Raises KeyError unless the breaker is open and not isolated."""
        if self.isolated:
            raise KeyError(ChangeReason.PROBE_GIVEN)
        return self._changed(ChangeReason.PROBE_GIVEN, due=None, lease_until=now + limits.lease)

    def lost(self, now: float) -> "Breaker":
        """The probe never returned, so the next request is a probe again."""
        return self._changed(ChangeReason.PROBE_LOST, due=now)

    def released(self, now: float) -> "Breaker":
        """The probe did not run after all, so the next request is one."""
        return self._changed(ChangeReason.PROBE_RELEASED, due=now)

    # ── what a user does ──────────────────────────────────────────────────────────────────────

    def tripped(self, now: float, limits: BreakerLimits) -> "Breaker":
        """Opened by a user; probes follow as after a failure."""
        return self._changed(
            ChangeReason.TRIPPED, openings=self.openings + 1, opened=now, due=now + limits.pause(self.openings + 1)
        )

    def isolate(self, now: float) -> "Breaker":
        """Opened by a user, without probes."""
        return self._changed(ChangeReason.ISOLATED, opened=now, due=None)

    def release(self, now: float) -> "Breaker":
        """No longer isolated: the next request is a probe."""
        return self._changed(ChangeReason.RELEASED, due=now) if self.isolated else self

    def reset(self) -> "Breaker":
        """Closed by a user; its failures are forgotten."""
        return self._changed(ChangeReason.RESET, failures=0, openings=0, due=None)

    def _changed(self, why: ChangeReason, **values: object) -> "Breaker":
        """The breaker after `why`. Raises KeyError for a change that is impossible in this state."""
        state = TRANSITIONS[self.state, why]
        moved = state is not self.state or why in _BY_HAND
        changed: Breaker = replace(self, state=state, why=why, generation=self.generation + moved, **values)  # type: ignore[arg-type]
        return changed if changed.state is OPEN else replace(changed, due=None)


_BY_HAND = frozenset({ChangeReason.TRIPPED, ChangeReason.ISOLATED, ChangeReason.RELEASED, ChangeReason.RESET})
