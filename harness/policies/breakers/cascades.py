"""Cascades: several breakers that open for one cause (docs/design/breakers.md#cascades).

Two openings with the same signature within the window are suspected to have one cause; the third makes it systemic.
From then on the tools are one group. It waits 3, 6, 12, 20, 20, … steps and probes one member, the canary. When the
canary succeeds, the others are probed one per step. When one of them fails with the same signature, the group waits for
the next interval.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from harness.events import CascadePhase, DispatchReason

INTERVALS = (3, 6, 12, 20)
"""Steps until each canary; the last one repeats."""
LONGEST = INTERVALS[-1]
"""Most steps that any chain of waits may last."""
SYSTEMIC_AT = 3
SUSPECTED_AT = 2


@dataclass(frozen=True, slots=True)
class BreakerOpening:
    """When and why a tool opened that has not been closed since."""

    signature: str
    step: int


@dataclass(frozen=True, slots=True)
class CascadeGroup:
    """Tools that failed from one cause and have not all recovered."""

    signature: str
    members: frozenset[str]
    """Those that are not closed yet."""
    due: int
    """First step at which the canary may be probed."""
    canaries: int = 0
    """Failed canaries."""
    phase: CascadePhase = CascadePhase.SYSTEMIC
    confirmed: bool = False
    """A user confirmed that the cause is gone; holds until the canary fails."""
    probed: int = 0
    """Step of the last probe."""

    def waiting(self, step: int, *, confirm: bool, probe_out: bool) -> DispatchReason | None:
        """Why no member may be probed in this step; None: one may."""
        if self.phase is CascadePhase.RECOVERING:
            return DispatchReason.RECOVERING if probe_out or self.probed == step else None
        if confirm and not self.confirmed:
            return DispatchReason.UNCONFIRMED
        return DispatchReason.SYSTEMIC if probe_out or step < self.due else None

    def relapsed(self, step: int) -> "CascadeGroup":
        """The cause is still there: wait for the next interval."""
        canaries = self.canaries + 1
        due = step + INTERVALS[min(canaries, len(INTERVALS) - 1)]
        return replace(self, canaries=canaries, due=due, phase=CascadePhase.SYSTEMIC, confirmed=False)


@dataclass(frozen=True, slots=True)
class Cascades:
    """Openings that may have a common cause, and the groups that do."""

    openings: Mapping[str, BreakerOpening] = field(default_factory=lambda: MappingProxyType({}))
    """By tool; only those with a known signature."""
    groups: tuple[CascadeGroup, ...] = ()
    suspected: frozenset[str] = frozenset()
    """Signatures with which two tools have opened."""

    def group_of(self, tool: str) -> CascadeGroup | None:
        return next((group for group in self.groups if tool in group.members), None)

    def group_for(self, signature: str) -> CascadeGroup | None:
        """The group with this signature."""
        return next((group for group in self.groups if group.signature == signature), None)

    @property
    def systemic(self) -> bool:
        """Whether some group waits for its canary."""
        return any(group.phase is CascadePhase.SYSTEMIC for group in self.groups)

    def opened(self, tool: str, signature: str, step: int, window: int) -> "Cascades":
        """A breaker opened because of its threshold or a failed probe."""
        mine = self.group_of(tool)
        if mine and (mine.phase is CascadePhase.SYSTEMIC or mine.signature == signature):
            # Whatever the canary met: the group has not recovered, and the tool stays in it.
            openings = {**self.openings, tool: BreakerOpening(mine.signature, step)}
            return replace(self, openings=openings)._put(mine.relapsed(step))
        alone = self.left(tool)
        if not signature:
            return alone
        noted = replace(alone, openings={**alone.openings, tool: BreakerOpening(signature, step)})
        group = noted.group_for(signature)
        if group:
            joined = replace(group, members=group.members | {tool})
            relapse = group.phase is CascadePhase.RECOVERING
            return noted._put(joined.relapsed(step) if relapse else joined)
        return noted._correlated(signature, step, window)

    def closed(self, tool: str) -> "Cascades":
        """A tool recovered. If it was the canary, the others are probed next."""
        group = self.group_of(tool)
        without = self._without_opening(tool)
        if not group:
            return without
        rest = replace(group, members=group.members - {tool}, phase=CascadePhase.RECOVERING)
        return without._put(rest)

    def left(self, tool: str) -> "Cascades":
        """A tool leaves its group: a user changed it, or it fails from another cause."""
        group = self.group_of(tool)
        without = self._without_opening(tool)
        return without._put(replace(group, members=group.members - {tool})) if group else without

    def probing(self, tool: str, step: int) -> "Cascades":
        """A member of a group is probed."""
        group = self.group_of(tool)
        return self._put(replace(group, probed=step)) if group else self

    def confirmed(self, step: int) -> "Cascades":
        """Let the next request be the canary; the user has confirmed that the cause is gone."""
        return replace(
            self,
            groups=tuple(
                replace(group, due=step, confirmed=True) if group.phase is CascadePhase.SYSTEMIC else group
                for group in self.groups
            ),
        )

    def _correlated(self, signature: str, step: int, window: int) -> "Cascades":
        tools = frozenset(
            tool
            for tool, opening in self.openings.items()
            if opening.signature == signature and step - opening.step <= window
        )
        if len(tools) >= SYSTEMIC_AT:
            group = CascadeGroup(signature, tools, step + INTERVALS[0])
            return replace(self, groups=(*self.groups, group), suspected=self.suspected - {signature})
        if len(tools) >= SUSPECTED_AT:
            return replace(self, suspected=self.suspected | {signature})
        return self

    def _without_opening(self, tool: str) -> "Cascades":
        if tool not in self.openings:
            return self
        openings = {name: opening for name, opening in self.openings.items() if name != tool}
        left = [opening.signature for opening in openings.values()]
        suspected = frozenset(signature for signature in self.suspected if left.count(signature) >= SUSPECTED_AT)
        return replace(self, openings=openings, suspected=suspected)

    def _put(self, changed: CascadeGroup) -> "Cascades":
        """The group as it is now; without members it is removed."""
        others: Iterable[CascadeGroup] = (
            changed if group.signature == changed.signature else group for group in self.groups
        )
        return replace(self, groups=tuple(group for group in others if group.members))
