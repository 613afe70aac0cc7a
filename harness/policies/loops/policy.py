"""The policy of the escape room: every number in one frozen, checked, versioned object (B27).

A change makes another policy with the next version; whoever holds the old one keeps it. What a journal says of a
policy (`EscapeSet`) is enough to have it again.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from difflib import get_close_matches
from types import MappingProxyType

from harness.events import EscapeSet, Rung
from harness.policies.loops.thresholds import RANGES as OF_THRESHOLDS
from harness.policies.loops.thresholds import Thresholds
from harness.policies.loops.waits import WaitLimits

Value = bool | int | float
"""What a setting can be."""

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
"""The setting that says how many of a rung one loop is given. There is none for the stop: it ends everything."""

RANGES: Mapping[str, tuple[float, float]] = MappingProxyType(
    {
        **OF_THRESHOLDS,
        **dict.fromkeys(QUOTAS.values(), (0, 20)),
        "retry_base_s": (0.001, 60.0),
        "retry_cap_s": (0.001, 3600.0),
        "poll_every_s": (0.0, 3600.0),
        "poll_total_s": (0.0, 86_400.0),
        "wait_spaced_s": (0.0, 3600.0),
        "wait_pause_s": (0.0, 3600.0),
        "wait_total_s": (0.0, 86_400.0),
        "history": (1, 1_000_000),
    }
)
"""Least and most of each number."""


@dataclass(frozen=True, slots=True)
class EscapePolicy:
    """What counts as a loop, and what is done about one.

    Raises ValueError, with one sentence, for a number that is out of range.
    """

    enabled: bool = True
    """False: loops are found and reported, and nothing is done about them."""
    thresholds: Thresholds = field(default_factory=Thresholds)
    retries: int = 3
    """Times that the program itself makes a failing call again, for one loop; 0 in this and the next six: never."""
    nudges: int = 1
    explorations: int = 2
    substitutions: int = 1
    rollbacks: int = 1
    breakers: int = 1
    humans: int = 1
    retry_base_s: float = 0.1
    """Most seconds before the first retry; doubled for each further one (B21)."""
    retry_cap_s: float = 60.0
    """Most seconds before any retry."""
    poll_every_s: float = 1.0
    """Seconds from one call of a declared poll to the next at least, where its tool says no other (B10)."""
    poll_total_s: float = 600.0
    """Seconds for which it may get the same result, where its tool says no other."""
    wait_spaced_s: float = 10.0
    """Seconds between two looks with the same answer from which on the agent waits for something."""
    wait_pause_s: float = 60.0
    """Seconds to which the distance between two questions of a wait is stretched at most."""
    wait_total_s: float = 3_600.0
    """Seconds for which a wait may bring the same answer before the turn ends."""
    history: int = 100
    """Last observations that are kept to be shown. Loops are found whatever this is (B2)."""
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
        """How many of this rung one loop is given."""
        return int(getattr(self, QUOTAS[rung])) if rung in QUOTAS else 1

    @property
    def waits(self) -> WaitLimits:
        """The numbers of waits."""
        return WaitLimits(self.thresholds.poll_copies, self.wait_spaced_s, self.wait_pause_s, self.wait_total_s)

    def settings(self) -> dict[str, Value]:
        """Every setting by name, the thresholds among them, without the version."""
        flat = _own(self)
        flat.update((one.name, getattr(self.thresholds, one.name)) for one in fields(Thresholds))
        return flat

    def with_changes(self, **changes: object) -> "EscapePolicy":
        """The policy of the next version.

        Raises ValueError, with one sentence, for a name that is no setting and for a value that cannot be.
        """
        known = self.settings()
        for name, value in changes.items():
            if name not in known:
                near = get_close_matches(name, known, n=1, cutoff=0.6)
                raise ValueError(f"there is no setting {name}" + (f", perhaps {near[0]} was meant" if near else ""))
            _check(name, value)
        detection = {name: value for name, value in changes.items() if name in OF_THRESHOLDS}
        rest = {name: value for name, value in changes.items() if name not in OF_THRESHOLDS}
        thresholds = replace(self.thresholds, **detection)  # type: ignore[arg-type]
        return replace(self, thresholds=thresholds, version=self.version + 1, **rest)  # type: ignore[arg-type]

    def differences(self) -> tuple[str, ...]:
        """What is not as shipped, as "name=value", the switch aside."""
        shipped = EscapePolicy().settings()
        mine = self.settings()
        return tuple(
            f"{name}={json.dumps(value)}"
            for name, value in mine.items()
            if name != "enabled" and value != shipped[name]
        )

    def announced(self) -> EscapeSet:
        """The event that says which policy holds."""
        return EscapeSet(self.enabled, self.version, self.differences())


def announced_policy(event: EscapeSet) -> EscapePolicy:
    """The policy that an event of a journal speaks of; settings that this program does not have are left out."""
    told = dict(_told(event.changed))
    known = EscapePolicy().settings()
    policy = EscapePolicy().with_changes(**{name: value for name, value in told.items() if name in known})
    return replace(policy, enabled=event.enabled, version=event.version)


def _told(lines: Iterable[str]) -> Iterable[tuple[str, object]]:
    for line in lines:
        name, _, value = line.partition("=")
        yield name, json.loads(value)


def _own(policy: EscapePolicy) -> dict[str, Value]:
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
