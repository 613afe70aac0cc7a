"""Is a result as fresh as it looks? Labels where there is evidence that it may not be (seed 000, step 6; A22).

| evidence | label |
|---|---|
| the same call gave the same result before, and what it reads was changed in between | CACHED |
| the result is an older one of the same resource, although a newer one was seen and nothing changed it back | STALE |
| the tool says of when it is, and the resource was changed after that | STALE |
| the tool says of when it is, and that is before the turn began | UNVERIFIED |
| the tool is documented to answer from a cache, and does not say of when the result is | UNKNOWN |

Fresh results carry no label, and a doubt is no evidence: after two changes, or a command whose effects nobody knows,
a file may well read as it did before. In strict mode every repeat is labelled, as the seed has it (S10).
"""

from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

from harness.events import FreshnessLabel

REMEMBERED = 300
"""Calls and resources that are remembered; the oldest are forgotten."""

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Observation:
    """One call that came back well."""

    tool: str
    arguments: str
    """In a canonical form, or a digest of it."""
    result: str
    """A digest."""
    step: int
    at: float
    """Unix time."""
    resource: str | None = None
    """What it read or changed as a whole, such as a path."""
    changes: bool = False
    """It changed its resource, or something unknown where it names none."""
    caches: bool = False
    as_of: float | None = None
    """Unix time at which the result was true, where the tool says so."""


@dataclass(frozen=True, slots=True)
class Label:
    """What may be wrong, and why we think so."""

    label: FreshnessLabel
    evidence: str
    """In one line."""
    as_of: float | None = None
    """Unix time of the result, where it is known."""


class Freshness:
    """What was seen in a session, and what that says about the next result."""

    def __init__(self, *, strict: bool = False) -> None:
        self._strict = strict
        self._turn_began = 0.0
        self._calls: _Recent[tuple[str, str], tuple[int, Observation]] = _Recent()
        self._reads: _Recent[tuple[str, str], list[tuple[int, Observation]]] = _Recent()
        """By tool and resource: the last read of each different content, oldest first."""
        self._changes: _Recent[str, list[tuple[int, Observation]]] = _Recent()
        self._unknown = 0
        """When something was changed last of which nobody knows what."""
        self._now = 0
        """Counts observations."""

    def begin_turn(self, at: float) -> None:
        """A turn begins at this Unix time: what is older has to be told."""
        self._turn_began = at

    def see(self, seen: Observation) -> Label | None:
        """Take in a result; the label it has to carry, or None."""
        self._now += 1
        if seen.changes:
            self._change(seen)
            return None
        label = self._label(seen)
        self._calls.put((seen.tool, seen.arguments), (self._now, seen))
        if seen.resource is not None and label is None:
            key = seen.tool, seen.resource
            others = [one for one in self._reads.get(key) or [] if one[1].result != seen.result]
            self._reads.put(key, [*others[-9:], (self._now, seen)])
        return label

    def _change(self, seen: Observation) -> None:
        if seen.resource is None:
            self._unknown = self._now
        else:
            before = self._changes.get(seen.resource) or []
            self._changes.put(seen.resource, [*before[-9:], (self._now, seen)])

    def _label(self, seen: Observation) -> Label | None:
        if seen.as_of is not None:
            return self._by_time(seen, seen.as_of)
        label = self._contradiction(seen) or self._repeat(seen)
        if label is None and seen.caches:
            return Label(FreshnessLabel.UNKNOWN, "the tool may answer from a cache and does not say of when this is")
        return label

    def _by_time(self, seen: Observation, as_of: float) -> Label | None:
        later = [change for _, change in self._changes_of(seen) if change.at > as_of]
        if later:
            evidence = f"it is older than the change of {seen.resource} in step {later[-1].step}"
            return Label(FreshnessLabel.STALE, evidence, as_of)
        if as_of < self._turn_began:
            return Label(FreshnessLabel.UNVERIFIED, "it is older than this turn; nobody looked since", as_of)
        return None

    def _contradiction(self, seen: Observation) -> Label | None:
        """The content was replaced by another one, and is here again though nothing brought it back."""
        reads = self._reads.get((seen.tool, seen.resource)) or [] if seen.resource is not None else []
        older = next((one for one in reads if one[1].result == seen.result), None)
        if older is None or older is reads[-1]:
            return None
        newest, newer = reads[-1]
        if self._unknown > newest or any(when > newest for when, _ in self._changes_of(seen)):
            return None
        evidence = f"{seen.resource} was already different in step {newer.step}; this is what it was in step {{}}"
        return Label(FreshnessLabel.STALE, evidence.format(older[1].step), older[1].at)

    def _repeat(self, seen: Observation) -> Label | None:
        before = self._calls.get((seen.tool, seen.arguments))
        if before is None or before[1].result != seen.result:
            return None
        when, earlier = before
        since = [change for changed, change in self._changes_of(seen) if changed > when]
        if len(since) == 1 and self._unknown < when:
            evidence = (
                f"the same as in step {earlier.step}, although {seen.resource} was changed in step {since[0].step}"
            )
            return Label(FreshnessLabel.CACHED, evidence)
        if self._strict:
            return Label(FreshnessLabel.CACHED, f"the same as in step {earlier.step}; it may have changed since")
        return None

    def _changes_of(self, seen: Observation) -> list[tuple[int, Observation]]:
        return self._changes.get(seen.resource) or [] if seen.resource is not None else []


class _Recent(Generic[Key, Value]):
    """A mapping that forgets what was put into it longest ago."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Key, Value] = OrderedDict()

    def get(self, key: Key) -> Value | None:
        return self._kept.get(key)

    def put(self, key: Key, value: Value) -> None:
        self._kept[key] = value
        self._kept.move_to_end(key)
        if len(self._kept) > REMEMBERED:
            self._kept.popitem(last=False)
