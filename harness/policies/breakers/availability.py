"""Whether a tool may be called now. The checks in their order are in `judge`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Protocol

from harness.events import BreakerState, CascadeMode, CascadePhase, DispatchLimits, DispatchReason, Score
from harness.policies.breakers.breaker import Breaker
from harness.policies.breakers.capabilities import CapabilityMap
from harness.policies.breakers.cascades import LONGEST, CascadeGroup


@dataclass(frozen=True, slots=True)
class ScoreEntry:
    """The result of a check before a call, and how long it holds."""

    score: Score
    until: int
    """First step in which it no longer holds."""


@dataclass(frozen=True, slots=True)
class Scores:
    """Scores of checks before a call, by tool. They expire (docs/design/breakers.md#checks-before-a-call)."""

    given: Mapping[str, ScoreEntry] = field(default_factory=lambda: MappingProxyType({}))

    def of(self, tool: str, step: int) -> Score | None:
        """The score that holds in this step; None: unchecked, or expired."""
        scored = self.given.get(tool)
        return scored.score if scored and step < scored.until else None

    def with_score(self, tool: str, score: Score, until: int) -> "Scores":
        return Scores({**self.given, tool: ScoreEntry(score, until)})


@dataclass(frozen=True, slots=True)
class LastResults:
    """The last results of a tool, for the table."""

    last_failure: float | None = None
    last_success: float | None = None
    """Unix time; None: none yet."""
    message: str = ""
    """Of the last failure."""
    calls: int = 0
    """Calls that succeeded or failed."""
    failed: int = 0


class RegistryView(Protocol):
    """The part of the registry that the checks and the table read."""

    @property
    def step(self) -> int: ...

    @property
    def limits(self) -> DispatchLimits: ...

    @property
    def tools(self) -> tuple[str, ...]: ...

    @property
    def capabilities(self) -> CapabilityMap: ...

    def breaker(self, tool: str) -> Breaker: ...

    def scored(self, tool: str) -> Score | None: ...

    def seen(self, tool: str) -> LastResults: ...

    def group_of(self, tool: str) -> CascadeGroup | None: ...

    def unconfirmed(self, group: CascadeGroup) -> bool: ...


def judge(registry: RegistryView, tool: str) -> tuple[bool, DispatchReason]:
    """Whether a call of the tool may run, and the reason. One that may run on an open breaker is a probe."""
    breaker, score = registry.breaker(tool), registry.scored(tool)
    if breaker.isolated:
        return False, DispatchReason.ISOLATED
    if score is Score.UNAVAILABLE:
        return False, DispatchReason.UNAVAILABLE
    if breaker.state is BreakerState.CLOSED:
        return True, DispatchReason.DEGRADED if score is Score.DEGRADED else DispatchReason.HEALTHY
    if breaker.state is BreakerState.HALF_OPEN:
        return False, DispatchReason.PROBE_OUT
    group = registry.group_of(tool)
    if group is not None:
        return _judge_member(registry, group)
    if registry.step >= due(registry, tool):
        return True, DispatchReason.PROBE_DUE
    return False, DispatchReason.DEPENDENCY if breaker.probe_due(registry.step) else DispatchReason.OPEN


def _judge_member(registry: RegistryView, group: CascadeGroup) -> tuple[bool, DispatchReason]:
    probe_out = any(registry.breaker(member).state is BreakerState.HALF_OPEN for member in group.members)
    waiting = group.waiting(registry.step, confirm=registry.limits.cascade is CascadeMode.CONFIRM, probe_out=probe_out)
    if waiting is not None:
        return False, waiting
    recovering = group.phase is CascadePhase.RECOVERING
    return True, DispatchReason.RECOVERING if recovering else DispatchReason.CANARY


def due(registry: RegistryView, tool: str) -> int:
    """First step at which an open tool outside a group may be probed.

    Not before the tools it depends on are probed, but at most 20 steps after it opened
    (docs/design/breakers.md#dependencies).
    """
    breaker = registry.breaker(tool)
    own = breaker.due or 0
    dues = [registry.breaker(name).due or 0 for name in _dependencies(registry, tool)]
    return int(min(max([own, *dues]), breaker.opened + LONGEST))


def _dependencies(registry: RegistryView, tool: str) -> set[str]:
    """Open tools that the tool depends on, directly or indirectly."""
    found: set[str] = set()
    left = [tool]
    while left:
        capability = registry.capabilities.get(left.pop())
        for name in capability.depends_on if capability else ():
            if name in registry.tools and name not in found and name != tool:
                found.add(name)
                left.append(name)
    return {name for name in found if registry.breaker(name).state is BreakerState.OPEN}
