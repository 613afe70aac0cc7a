"""Cascades: several breakers that open for one cause (seed 000, step 9).

Two openings with the same signature within the window are suspected to have a cause in common; the third makes it
systemic. From then on the tools are one group. It waits 3, 6, 12, 20, 20, … steps and sends one of its members
ahead, the canary. When the canary comes back well, the others are probed one per step; when one of them meets
the old cause again, the group waits for the next interval.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from harness.events import CascadePhase, DispatchReason

INTERVALS = (3, 6, 12, 20)
"""Steps until each canary; the last one repeats (S5)."""
LONGEST = INTERVALS[-1]
"""No chain of waits is longer than this many steps (A18)."""
SYSTEMIC_AT = 3
SUSPECTED_AT = 2


@dataclass(frozen=True, slots=True)
class Opening:
    """When and why a tool opened that has not been closed since."""

    signature: str
    step: int


@dataclass(frozen=True, slots=True)
class Group:
    """Tools that failed from one cause and are not all well again."""

    signature: str
    members: frozenset[str]
    """Those that are not closed yet."""
    due: int
    """Step from which on the canary may go."""
    canaries: int = 0
    """Canaries that failed."""
    phase: CascadePhase = CascadePhase.SYSTEMIC
    confirmed: bool = False
    """A person said that the cause is gone; holds until the canary fails."""
    probed: int = 0
    """Step in which a probe was given last."""

    def waiting(self, step: int, *, confirm: bool, probe_out: bool) -> DispatchReason | None:
        """Why no probe may be given to a member in this step; None when one may (A16, A17)."""
        if self.phase is CascadePhase.RECOVERING:
            return DispatchReason.RECOVERING if probe_out or self.probed == step else None
        if confirm and not self.confirmed:
            return DispatchReason.UNCONFIRMED
        return DispatchReason.SYSTEMIC if probe_out or step < self.due else None

    def relapsed(self, step: int) -> "Group":
        """The cause is still there: the next interval (A16)."""
        canaries = self.canaries + 1
        due = step + INTERVALS[min(canaries, len(INTERVALS) - 1)]
        return replace(self, canaries=canaries, due=due, phase=CascadePhase.SYSTEMIC, confirmed=False)


@dataclass(frozen=True, slots=True)
class Cascades:
    """Openings that may have a cause in common, and the groups that do."""

    openings: Mapping[str, Opening] = field(default_factory=lambda: MappingProxyType({}))
    """By tool; only of those with a known signature."""
    groups: tuple[Group, ...] = ()
    suspected: frozenset[str] = frozenset()
    """Signatures of which two tools have opened."""

    def group_of(self, tool: str) -> Group | None:
        """The group of which the tool is a member."""
        return next((group for group in self.groups if tool in group.members), None)

    def group_for(self, signature: str) -> Group | None:
        """The group that has this cause."""
        return next((group for group in self.groups if group.signature == signature), None)

    @property
    def systemic(self) -> bool:
        """Some group waits for its canary."""
        return any(group.phase is CascadePhase.SYSTEMIC for group in self.groups)

    def opened(self, tool: str, signature: str, step: int, window: int) -> "Cascades":
        """A breaker opened by a failure, of its threshold or of a probe (A15, A17)."""
        mine = self.group_of(tool)
        if mine and (mine.phase is CascadePhase.SYSTEMIC or mine.signature == signature):
            # Whatever the canary met: the group has not recovered, and the tool stays in it.
            openings = {**self.openings, tool: Opening(mine.signature, step)}
            return replace(self, openings=openings)._put(mine.relapsed(step))
        alone = self.left(tool)
        if not signature:
            return alone
        noted = replace(alone, openings={**alone.openings, tool: Opening(signature, step)})
        group = noted.group_for(signature)
        if group:
            joined = replace(group, members=group.members | {tool})
            relapse = group.phase is CascadePhase.RECOVERING
            return noted._put(joined.relapsed(step) if relapse else joined)
        return noted._correlated(signature, step, window)

    def closed(self, tool: str) -> "Cascades":
        """A tool is well again; that of a canary tells that the others may be, too."""
        group = self.group_of(tool)
        without = self._without_opening(tool)
        if not group:
            return without
        rest = replace(group, members=group.members - {tool}, phase=CascadePhase.RECOVERING)
        return without._put(rest)

    def left(self, tool: str) -> "Cascades":
        """A tool goes its own way: a person moved it, or it fails from another cause."""
        group = self.group_of(tool)
        without = self._without_opening(tool)
        return without._put(replace(group, members=group.members - {tool})) if group else without

    def probing(self, tool: str, step: int) -> "Cascades":
        """A member of a group is given a probe."""
        group = self.group_of(tool)
        return self._put(replace(group, probed=step)) if group else self

    def confirmed(self, step: int) -> "Cascades":
        """A person says that the cause is gone: the next request is the canary."""
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
            group = Group(signature, tools, step + INTERVALS[0])
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

    def _put(self, changed: Group) -> "Cascades":
        """The group as it is now; without members it is over."""
        others: Iterable[Group] = (changed if group.signature == changed.signature else group for group in self.groups)
        return replace(self, groups=tuple(group for group in others if group.members))
