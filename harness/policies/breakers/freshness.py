"""Is a result as fresh as it looks? Labels where there is evidence that it may not be (seed 000, step 6; A22).

| evidence | label |
|---|---|
| the same call gave the same result before, and what it reads was changed in between | CACHED |
| the result shows what a newer look, or a change, has shown to be over | STALE |
| the tool says of when it is, and that lies before a newer look or a change | STALE |
| the tool says of when it is, and that is before the turn began | UNVERIFIED |
| the result may be of an earlier moment, and the tool cannot say of which | UNKNOWN |

A tool that reads what it shows at each call, such as read_file, shows the present state, whatever was there before: a
file that reads as it did two changes ago was changed back. Fresh results carry no label, and a doubt is no evidence:
after two changes to nobody knows what, or a command whose effects nobody knows, a file may well read as it did before.
Only changes, and results without a label, add to what is known (`versions`): a stale result must not make the true one
look stale. In strict mode every repeat is labelled, as the seed has it (S10).
"""

from dataclasses import dataclass
from math import inf

from harness.events import FreshnessLabel
from harness.policies.breakers.versions import SHARED, Resource, Sight, View, put

REMEMBERED = 300
"""Calls and resources that are remembered; the oldest are forgotten, and then there is no evidence."""


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
    live: bool = False
    """It was read where it is, during the call, so that it is the present state."""
    undated: bool = False
    """It may be of an earlier moment."""
    as_of: float | None = None
    """Unix time at which the result was true, where the tool says so."""
    version: str = ""
    """Digest of all that the resource held when it was read, or after the change; the same for every tool. Empty:
    results are compared with those of the same call only, and a change has changed the resource for certain."""

    @property
    def name(self) -> str:
        """Of the call: the same for the same one."""
        return f"{self.tool} {self.arguments}"

    @property
    def content(self) -> str:
        """The digest that is compared."""
        return self.version or self.result

    def sight(self, digest: str) -> Sight:
        """That its resource holds the content of this digest."""
        at = self.at if self.as_of is None else min(self.at, self.as_of)
        return Sight(digest, self.step, at, read=not self.changes)


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
        self._turn_began = -inf
        self._calls: dict[str, Sight] = {}
        self._resources: dict[str, Resource] = {}

    def begin_turn(self, at: float) -> None:
        """A turn begins at this Unix time: what is older has to be told."""
        self._turn_began = at

    def forget(self) -> None:
        """Something has run that may have changed anything."""
        for resource in self._resources.values():
            resource.forget()

    def see(self, seen: Observation) -> Label | None:
        """Take in a result, in the order in which calls end; the label it has to carry, or None."""
        if seen.changes:
            self._change(seen)
            return None
        resource = self._resource(seen.resource) if seen.resource is not None else Resource()
        view = resource.view(SHARED if seen.version else seen.name)
        before = self._calls.get(seen.name)
        repeated = before if before and before.digest == seen.result else None
        put(self._calls, seen.name, seen.sight(seen.result), REMEMBERED)
        label = None if seen.live else self._evidence(seen, resource, view, repeated)
        if label is None and _dated(seen, resource, view):
            view.becomes(seen.sight(seen.content))
            resource.view(seen.name).becomes(seen.sight(seen.result))
        if label is None and repeated and self._strict:
            evidence = f"the same as in step {repeated.step}; it may have changed since"
            return Label(FreshnessLabel.CACHED, evidence)
        return label

    def _change(self, seen: Observation) -> None:
        if seen.resource is None:
            self.forget()
        else:
            self._resource(seen.resource).change(seen.sight(seen.version))

    def _resource(self, name: str) -> Resource:
        resource = self._resources.get(name) or Resource()
        put(self._resources, name, resource, REMEMBERED)
        return resource

    def _evidence(self, seen: Observation, resource: Resource, view: View, repeated: Sight | None) -> Label | None:
        agrees = view.now is not None and view.now.digest == seen.content
        if agrees and view.now and view.now.at >= self._turn_began:
            return None
        if not agrees and (label := _outdated(seen, resource, view) or _contradiction(seen, resource, view, repeated)):
            return label
        if seen.as_of is not None and seen.as_of < self._turn_began:
            return Label(FreshnessLabel.UNVERIFIED, "it is older than this turn; nobody looked since", seen.as_of)
        if seen.as_of is None and seen.undated:
            return Label(FreshnessLabel.UNKNOWN, "the tool cannot say of when this is")
        return None


def _dated(seen: Observation, resource: Resource, view: View) -> bool:
    """Whether it is of now, as far as is known: otherwise it says nothing against what was seen before."""
    return not seen.undated if seen.as_of is None else seen.as_of >= resource.known_at(view)


def _outdated(seen: Observation, resource: Resource, view: View) -> Label | None:
    """By its own time it is of before something that is known."""
    if seen.as_of is None:
        return None
    for newer in (resource.changed, view.now):
        if newer and seen.as_of < newer.at:
            what = "a newer look at" if newer.read else "the change of"
            evidence = f"it is older than {what} {seen.resource} in step {newer.step}"
            return Label(FreshnessLabel.STALE, evidence, seen.as_of)
    return None


def _contradiction(seen: Observation, resource: Resource, view: View, repeated: Sight | None) -> Label | None:
    """The resource held this once, then something else, and nothing brought it back."""
    older, newer = view.former(seen.content), view.now or resource.changed
    if older is None or newer is None or (seen.as_of is not None and seen.as_of >= newer.at):
        return None
    if newer.read:
        evidence = f"{seen.resource} was already different in step {newer.step}; this is what it was in step "
        return Label(FreshnessLabel.STALE, f"{evidence}{older.step}", older.at)
    evidence = f"the same as in step {older.step}, although {seen.resource} was changed in step {newer.step}"
    if repeated:
        return Label(FreshnessLabel.CACHED, evidence)
    return Label(FreshnessLabel.STALE, evidence, older.at)
