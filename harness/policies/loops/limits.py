"""All numbers of the loop policy in one frozen, checked, versioned object (docs/design/loops.md#limits)."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from difflib import get_close_matches
from types import MappingProxyType

from harness.events import LoopPolicySet, Rung


@dataclass(frozen=True, slots=True)
class LoopThresholds:
    """The numbers of the detectors (docs/design/loops.md#thresholds). Anything shorter is work.

    Lengths are in steps, or in visits for places and states. The matched length of a loop is the time for which its
    tail has equalled the copy before: (copies - 1) x period if it is whole.

    Raises ValueError, with one sentence, for a number that is out of range.
    """

    longest_period: int = 64
    """Steps of the longest cycle that is found."""
    copies: int = 4
    """Copies of one interaction in a row."""
    copies_failing: int = 3
    """Copies of one failing interaction in a row."""
    copies_cycle: int = 3
    """Copies of a cycle of two or more steps, in every projection."""
    copies_error: int = 4
    """Failures in a row of one tool with one error, whatever the arguments."""
    walk_length: int = 8
    """Least matched length for places and states, because random walks return, too."""
    action_length: int = 100
    """Least matched length if only the calls are equal and not their results."""
    stagnation_copies: int = 8
    """Copies of one interaction among others, while nothing is changed."""
    stagnation_window: int = 24
    """Number of last steps for these."""
    poll_copies: int = 4
    """Times in a row that a declared poll may not come too early."""

    def __post_init__(self) -> None:
        for one in fields(self):
            least, most = THRESHOLD_RANGES[one.name]
            value: int = getattr(self, one.name)
            if not least <= value <= most:
                raise ValueError(f"{one.name} must be from {least} to {most}, not {value}")
        if self.stagnation_copies > self.stagnation_window:
            raise ValueError(
                f"stagnation_copies must be at most stagnation_window, which is {self.stagnation_window}, "
                f"not {self.stagnation_copies}"
            )


THRESHOLD_RANGES: Mapping[str, tuple[int, int]] = MappingProxyType(
    {
        "longest_period": (1, 256),
        "copies": (2, 100),
        "copies_failing": (2, 100),
        "copies_cycle": (2, 100),
        "copies_error": (2, 100),
        "walk_length": (1, 10_000),
        "action_length": (1, 10_000),
        "stagnation_copies": (2, 1_000),
        "stagnation_window": (2, 1_000),
        "poll_copies": (1, 100),
    }
)


Value = bool | int | float

REMOVED = frozenset({"history"})
"""Settings of earlier versions without a meaning today; files and journals may still name them."""

QUOTAS: Mapping[Rung, str] = MappingProxyType(
    {
        Rung.RETRY: "retries",
        Rung.NUDGE: "nudges",
        Rung.EXPLORE: "explorations",
        Rung.SUBSTITUTE: "substitutions",
        Rung.ROLLBACK: "rollbacks",
        Rung.BREAKER: "breakers",
        Rung.HUMAN: "humans",
    }
)
"""The setting for the quota of each rung. The stop has none: it ends everything."""

RANGES: Mapping[str, tuple[float, float]] = MappingProxyType(
    {
        **THRESHOLD_RANGES,
        **dict.fromkeys(QUOTAS.values(), (0, 20)),
        "retry_base_s": (0.001, 60.0),
        "retry_cap_s": (0.001, 3600.0),
        "poll_every_s": (0.0, 3600.0),
        "poll_total_s": (0.0, 86_400.0),
        "wait_spaced_s": (0.0, 3600.0),
        "wait_pause_s": (0.0, 3600.0),
        "wait_total_s": (0.0, 86_400.0),
    }
)
"""Range of each number."""


@dataclass(frozen=True, slots=True)
class LoopLimits:
    """What counts as a loop, and the interventions against one.

    Raises ValueError, with one sentence, for a number that is out of range.
    """

    enabled: bool = True
    """False: loops are found and reported, without interventions."""
    thresholds: LoopThresholds = field(default_factory=LoopThresholds)
    retries: int = 3
    """Times that the program retries a failing call for one loop; 0 in this and the next six: never."""
    nudges: int = 1
    explorations: int = 2
    substitutions: int = 1
    rollbacks: int = 1
    breakers: int = 1
    humans: int = 1
    retry_base_s: float = 0.1
    """Most seconds before the first retry; doubled for each further one."""
    retry_cap_s: float = 60.0
    """Most seconds before any retry."""
    poll_every_s: float = 1.0
    """Least seconds between two calls of a declared poll, if its tool declares no other value."""
    poll_total_s: float = 600.0
    """Seconds for which it may return the same result, if its tool declares no other value."""
    wait_spaced_s: float = 10.0
    """Seconds between two reads with the same answer that make them a wait."""
    wait_pause_s: float = 60.0
    """Longest distance, in seconds, that is enforced between two questions of a wait."""
    wait_total_s: float = 3_600.0
    """Seconds for which a wait may return the same answer before the turn ends."""
    version: int = 1
    """Rises with every change."""

    def __post_init__(self) -> None:
        for name, value in _own(self).items():
            _check(name, value)
        if self.retry_cap_s < self.retry_base_s:
            raise ValueError(
                f"retry_cap_s must be at least retry_base_s, which is {self.retry_base_s:g}, not {self.retry_cap_s:g}"
            )

    def quota(self, rung: Rung) -> int:
        """Uses of this rung for one loop."""
        return int(getattr(self, QUOTAS[rung])) if rung in QUOTAS else 1

    def settings(self) -> dict[str, Value]:
        """Every setting by name, thresholds included, without the version."""
        flat = _own(self)
        flat.update((one.name, getattr(self.thresholds, one.name)) for one in fields(LoopThresholds))
        return flat

    def with_changes(self, **changes: object) -> "LoopLimits":
        """The limits of the next version.

        Raises ValueError, with one sentence, for an unknown name or an invalid value.
        """
        known = self.settings()
        changes = {name: value for name, value in changes.items() if name not in REMOVED}
        for name, value in changes.items():
            if name not in known:
                near = get_close_matches(name, known, n=1, cutoff=0.6)
                raise ValueError(f"there is no setting {name}" + (f", perhaps {near[0]} was meant" if near else ""))
            _check(name, value)
        detection = {name: value for name, value in changes.items() if name in THRESHOLD_RANGES}
        rest = {name: value for name, value in changes.items() if name not in THRESHOLD_RANGES}
        thresholds = replace(self.thresholds, **detection)  # type: ignore[arg-type]
        return replace(self, thresholds=thresholds, version=self.version + 1, **rest)  # type: ignore[arg-type]

    def differences(self) -> tuple[str, ...]:
        """Settings that differ from the default, as "name=value", apart from `enabled`."""
        shipped = LoopLimits().settings()
        mine = self.settings()
        return tuple(
            f"{name}={json.dumps(value)}"
            for name, value in mine.items()
            if name != "enabled" and value != shipped[name]
        )

    def announced(self) -> LoopPolicySet:
        """The event that announces these limits."""
        return LoopPolicySet(self.enabled, self.version, self.differences())


def announced_limits(event: LoopPolicySet) -> LoopLimits:
    """The limits that an event of a journal announces; settings that this version does not have are ignored."""
    changed = dict(_changes(event.changed))
    known = LoopLimits().settings()
    policy = LoopLimits().with_changes(**{name: value for name, value in changed.items() if name in known})
    return replace(policy, enabled=event.enabled, version=event.version)


def _changes(lines: Iterable[str]) -> Iterable[tuple[str, object]]:
    for line in lines:
        name, _, value = line.partition("=")
        yield name, json.loads(value)


def _own(policy: LoopLimits) -> dict[str, Value]:
    return {one.name: getattr(policy, one.name) for one in fields(policy) if one.name not in ("thresholds", "version")}


def _check(name: str, value: object) -> None:
    if name == "enabled":
        if not isinstance(value, bool):
            raise ValueError(f"enabled must be true or false, not {value!r}")
        return
    least, most = RANGES[name]
    whole = isinstance(least, int)
    if isinstance(value, bool) or not isinstance(value, int if whole else (int, float)):
        raise ValueError(f"{name} must be a {'whole ' if whole else ''}number, not {value!r}")
    if not least <= value <= most:
        raise ValueError(f"{name} must be from {least:g} to {most:g}, not {value:g}")
