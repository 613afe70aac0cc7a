"""What is known of a resource: what it holds, and what it held before (A22)."""

from collections.abc import Hashable
from dataclasses import dataclass, field
from math import inf
from typing import TypeVar

MOST_VERSIONS = 20
MOST_VIEWS = 20
"""Former contents, and views, of one resource that are remembered; the oldest are forgotten."""
SHARED = ""
"""The view in which contents are compared between tools. The others are each of one call: what two calls show of
the same content may differ."""

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Sight:
    """When a content was there."""

    digest: str
    """Of the content; empty: not known."""
    step: int
    at: float
    """Unix time at which it was so."""
    read: bool
    """False: known because it was changed to this."""


@dataclass(slots=True)
class View:
    """The contents of a resource, as digests of one kind."""

    now: Sight | None = None
    """None: not known."""
    _past: dict[str, Sight] = field(default_factory=dict)
    _replaced: str | None = None
    """The content before a change to an unknown one: all that is known is that it is over."""

    def becomes(self, sight: Sight | None) -> None:
        """The resource holds this from now on; None: something else than before, and it is not known what."""
        before = self.now
        if before:
            put(self._past, before.digest, before, MOST_VERSIONS)
        self.now = sight
        self._replaced = before.digest if before and sight is None else None

    def forget(self) -> None:
        """It may hold anything."""
        self.now = self._replaced = None
        self._past.clear()

    def former(self, digest: str) -> Sight | None:
        """The last sight of a content that is certainly over; None: it is there now, may be, or was never seen."""
        over = self.now.digest != digest if self.now else self._replaced == digest
        return self._past.get(digest) if over else None


@dataclass(slots=True)
class Resource:
    """Something that tools read and change as a whole, such as a file."""

    changed: Sight | None = None
    """The last change; it stays known when the contents are forgotten."""
    views: dict[str, View] = field(default_factory=dict)

    def view(self, name: str) -> View:
        """The view of this name, made when first asked for."""
        view = self.views.get(name) or View()
        put(self.views, name, view, MOST_VIEWS)
        return view

    def change(self, sight: Sight) -> None:
        """A call has changed the resource. One that left a known content as it was is no change."""
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
        """Something has run that may have changed it."""
        for view in self.views.values():
            view.forget()

    def known_at(self, view: View) -> float:
        """Unix time of the newest that is known of it; minus infinity: nothing."""
        return max((sight.at for sight in (self.changed, view.now) if sight), default=-inf)


def put(mapping: dict[Key, Value], key: Key, value: Value, most: int) -> None:
    """Set an entry as the newest, and drop the oldest where there are more than `most`."""
    mapping.pop(key, None)
    mapping[key] = value
    if len(mapping) > most:
        del mapping[next(iter(mapping))]
