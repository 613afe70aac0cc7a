"""The conversations of each scan, if there are more than places (docs/design/admission.md#watch-list).

Most places go to the most recently active conversations; some are reserved for the longest unwatched of the others.
With them none waits longer than ceil(N / reserved) scans.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from harness.events import AdmissionEvent, WatchListFull


@dataclass(frozen=True, slots=True)
class _Watched:
    activity: float
    since: int
    """Number of the scan that included it last, or after which it was added."""
    place: int
    """Order of arrival, if two have waited equally long."""


class WatchList:
    """The conversations and their last scans.

    Args:
        cap: conversations in one scan; 0: none.
        reserved: places for the longest unwatched; at least one unless the cap is 0.
        emit: receives an event when there are more conversations than places, once until there are fewer again.
    """

    def __init__(self, cap: int, reserved: int, emit: Callable[[AdmissionEvent], None]) -> None:
        self._cap, self._reserved, self._emit = cap, reserved, emit
        self._watched: dict[str, _Watched] = {}
        self._scans = 0
        self._came = 0
        self._full = False

    def configure(self, cap: int, reserved: int) -> None:
        """Use other numbers from the next scan on."""
        self._full = self._full and (cap, reserved) == (self._cap, self._reserved)
        self._cap, self._reserved = cap, reserved

    def add(self, key: str, at: float) -> None:
        """Add a conversation; a known one was active."""
        if key in self._watched:
            self.active(key, at)
            return
        self._came += 1
        self._watched[key] = _Watched(at, self._scans, self._came)

    def active(self, key: str, at: float) -> None:
        """A known conversation was active at this moment."""
        if (one := self._watched.get(key)) and at > one.activity:
            self._watched[key] = replace(one, activity=at)

    def remove(self, key: str) -> None:
        self._watched.pop(key, None)

    def clear(self) -> None:
        self._watched.clear()

    def scan(self) -> tuple[str, ...]:
        """The conversations to look at now, the most recently active first, the longest unwatched last."""
        self._scans += 1
        chosen = self._chosen()
        for key in chosen:
            self._watched[key] = replace(self._watched[key], since=self._scans)
        full = len(self._watched) > self._cap
        if full and not self._full:
            self._emit(WatchListFull(len(self._watched), self._cap, self._reserved))
        self._full = full
        return chosen

    def __len__(self) -> int:
        return len(self._watched)

    def _chosen(self) -> tuple[str, ...]:
        newest = sorted(self._watched.items(), key=lambda entry: (-entry[1].activity, *_waited(entry[1])))
        if len(newest) > self._cap:
            busy, others = newest[: self._cap - self._reserved], newest[self._cap - self._reserved :]
            newest = busy + sorted(others, key=lambda entry: _waited(entry[1]))[: self._reserved]
        return tuple(key for key, _ in newest)


def _waited(one: _Watched) -> tuple[int, int]:
    return one.since, one.place
