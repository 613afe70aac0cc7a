"""Labels for results that are older than they look, where there is evidence (docs/design/breakers.md#freshness).

| evidence | label |
|---|---|
| the same call gave the same result before, and what it reads was changed in between | CACHED |
| a newer read, or a change, has shown something else | STALE |
| the result has a time, and that is before a newer read or a change | STALE |
| the result has a time, and that is before the turn | UNVERIFIED |
| the result may be of an earlier moment, and the tool cannot say which | UNKNOWN |

A tool that reads at each call, such as read_file, shows the present state: a file that reads as it did two changes ago
was changed back. Fresh results carry no label, and a doubt is no evidence. Only changes and results without a label add
to the known versions: a stale result must not make a true one look stale. Strict mode labels every repeat.
"""

from collections.abc import Hashable
from dataclasses import dataclass, field
from math import inf
from typing import TypeVar

from harness.events import FreshnessLabel

MOST_VERSIONS = 20
MOST_VIEWS = 20
"""Former contents, and histories, of one resource that are kept; the oldest are dropped."""
SHARED = ""
"""Name of the history in which contents are compared between tools. The others belong to one call each, because two
calls may show the same content differently."""

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class ContentVersion:
    """A content of a resource at one moment."""

    digest: str
    """Of the content; empty: unknown."""
    step: int
    at: float
    """Unix time at which it was so."""
    read: bool
    """False: known from a change to this content."""


@dataclass(slots=True)
class ContentHistory:
    """The contents of a resource, as digests of one kind."""

    now: ContentVersion | None = None
    """None: unknown."""
    _past: dict[str, ContentVersion] = field(default_factory=dict)
    _replaced: str | None = None
    """The content before a change to an unknown one."""

    def becomes(self, sight: ContentVersion | None) -> None:
        """Record the content of a resource from now on; None: it changed, and its content is unknown."""
        before = self.now
        if before:
            put(self._past, before.digest, before, MOST_VERSIONS)
        self.now = sight
        self._replaced = before.digest if before and sight is None else None

    def forget(self) -> None:
        """It may hold anything."""
        self.now = self._replaced = None
        self._past.clear()

    def former(self, digest: str) -> ContentVersion | None:
        """The last version with this digest if it is certainly over; None: current, possible or never seen."""
        over = self.now.digest != digest if self.now else self._replaced == digest
        return self._past.get(digest) if over else None


@dataclass(slots=True)
class TrackedResource:
    """Something that tools read and change as a whole, such as a file."""

    changed: ContentVersion | None = None
    """The last change; kept when the contents are forgotten."""
    views: dict[str, ContentHistory] = field(default_factory=dict)

    def view(self, name: str) -> ContentHistory:
        """The history of this name, created on first use."""
        view = self.views.get(name) or ContentHistory()
        put(self.views, name, view, MOST_VIEWS)
        return view

    def change(self, sight: ContentVersion) -> None:
        """A call has changed the resource. A change to the content it had is no change."""
        shared = self.view(SHARED)
        before = shared.now
        if before and before.digest == sight.digest:
            return
        self.changed = sight
        for view in self.views.values():
            if view is shared and sight.digest:
                view.becomes(sight)
            elif before or not sight.digest:
                view.becomes(None)
            else:  # perhaps the content was the same before
                view.forget()

    def forget(self) -> None:
        """Something ran that may have changed it."""
        for view in self.views.values():
            view.forget()

    def known_at(self, view: ContentHistory) -> float:
        """Unix time of the newest version that is known; minus infinity: none."""
        return max((sight.at for sight in (self.changed, view.now) if sight), default=-inf)


def put(mapping: dict[Key, Value], key: Key, value: Value, most: int) -> None:
    """Set an entry as the newest, and drop the oldest if there are more than `most`."""
    mapping.pop(key, None)
    mapping[key] = value
    if len(mapping) > most:
        del mapping[next(iter(mapping))]


REMEMBERED = 300
"""Calls and resources that are remembered; older ones are forgotten."""


@dataclass(frozen=True, slots=True)
class Observation:
    """One successful call."""

    tool: str
    arguments: str
    """In canonical form, or a digest of it."""
    result: str
    """A digest."""
    step: int
    at: float
    """Unix time."""
    resource: str | None = None
    """What it read or changed as a whole, such as a path."""
    changes: bool = False
    """It changed its resource, or something unknown if it names none."""
    live: bool = False
    """It read the present state during the call."""
    undated: bool = False
    """It may be of an earlier moment."""
    as_of: float | None = None
    """Unix time at which the result was true, if the tool says so."""
    version: str = ""
    """Digest of the whole resource when it was read, or after the change; the same for every tool. Empty: results are
    compared only with those of the same call, and a change certainly changed the resource."""

    @property
    def name(self) -> str:
        """Identifies the call: equal for equal calls."""
        return f"{self.tool} {self.arguments}"

    @property
    def content(self) -> str:
        """The digest that is compared."""
        return self.version or self.result

    def sight(self, digest: str) -> ContentVersion:
        """The version that this call shows."""
        at = self.at if self.as_of is None else min(self.at, self.as_of)
        return ContentVersion(digest, self.step, at, read=not self.changes)


@dataclass(frozen=True, slots=True)
class FreshnessFinding:
    """What may be wrong with a result, and the evidence."""

    label: FreshnessLabel
    evidence: str
    as_of: float | None = None
    """Unix time of the result, if known."""


class Freshness:
    """The observations of a session, and what they imply for the next result."""

    def __init__(self, *, strict: bool = False) -> None:
        self._strict = strict
        self._turn_began = -inf
        self._calls: dict[str, ContentVersion] = {}
        self._resources: dict[str, TrackedResource] = {}

    def begin_turn(self, at: float) -> None:
        """A turn begins at this Unix time; older results are labelled."""
        self._turn_began = at

    def forget(self) -> None:
        """Something ran that may have changed anything."""
        for resource in self._resources.values():
            resource.forget()

    def observe(self, seen: Observation) -> FreshnessFinding | None:
        """Add a result, in the order in which calls end. Returns the finding for it, if any."""
        if seen.changes:
            self._change(seen)
            return None
        resource = self._resource(seen.resource) if seen.resource is not None else TrackedResource()
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
            return FreshnessFinding(FreshnessLabel.CACHED, evidence)
        return label

    def _change(self, seen: Observation) -> None:
        if seen.resource is None:
            self.forget()
        else:
            self._resource(seen.resource).change(seen.sight(seen.version))

    def _resource(self, name: str) -> TrackedResource:
        resource = self._resources.get(name) or TrackedResource()
        put(self._resources, name, resource, REMEMBERED)
        return resource

    def _evidence(
        self, seen: Observation, resource: TrackedResource, view: ContentHistory, repeated: ContentVersion | None
    ) -> FreshnessFinding | None:
        agrees = view.now is not None and view.now.digest == seen.content
        if agrees and view.now and view.now.at >= self._turn_began:
            return None
        if not agrees and (label := _outdated(seen, resource, view) or _contradiction(seen, resource, view, repeated)):
            return label
        if seen.as_of is not None and seen.as_of < self._turn_began:
            return FreshnessFinding(
                FreshnessLabel.UNVERIFIED, "it is older than this turn and was not read again since", seen.as_of
            )
        if seen.as_of is None and seen.undated:
            return FreshnessFinding(FreshnessLabel.UNKNOWN, "the tool cannot say of when this is")
        return None


def _dated(seen: Observation, resource: TrackedResource, view: ContentHistory) -> bool:
    """Whether it is current as far as is known; otherwise it is no evidence against earlier results."""
    return not seen.undated if seen.as_of is None else seen.as_of >= resource.known_at(view)


def _outdated(seen: Observation, resource: TrackedResource, view: ContentHistory) -> FreshnessFinding | None:
    """Its own time is before something that is known."""
    if seen.as_of is None:
        return None
    for newer in (resource.changed, view.now):
        if newer and seen.as_of < newer.at:
            what = "a newer look at" if newer.read else "the change of"
            evidence = f"it is older than {what} {seen.resource} in step {newer.step}"
            return FreshnessFinding(FreshnessLabel.STALE, evidence, seen.as_of)
    return None


def _contradiction(
    seen: Observation, resource: TrackedResource, view: ContentHistory, repeated: ContentVersion | None
) -> FreshnessFinding | None:
    """The resource held this once, then something else, and nothing brought it back."""
    older, newer = view.former(seen.content), view.now or resource.changed
    if older is None or newer is None or (seen.as_of is not None and seen.as_of >= newer.at):
        return None
    if newer.read:
        evidence = f"{seen.resource} was already different in step {newer.step}; this is what it was in step "
        return FreshnessFinding(FreshnessLabel.STALE, f"{evidence}{older.step}", older.at)
    evidence = f"the same as in step {older.step}, although {seen.resource} was changed in step {newer.step}"
    if repeated:
        return FreshnessFinding(FreshnessLabel.CACHED, evidence)
    return FreshnessFinding(FreshnessLabel.STALE, evidence, older.at)
