"""Which conversations are looked at in a scan, where there are more than places.

Most places go to the conversations with the newest activity; some are reserved for those of the others that were not
looked at for longest. Without them a quiet conversation is never seen again once enough others are busy. With them
none waits longer than ceil(N / reserved) scans: each scan takes as many out of the row before it, and whoever is new
or was looked at goes to its end.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from harness.events import GateEvent, WatchListFull


@dataclass(frozen=True, slots=True)
class _Watched:
    activity: float
    since: int
    """Number of the scan in which it was looked at last, or after which it came."""
    place: int
    """Order in which they came, where two have waited equally long."""


class WatchList:
    """The conversations there are, and when each was looked at.

    Args:
        cap: conversations looked at in one scan; 0: none.
        reserved: how many of these are kept for the longest unwatched; at least one where the cap is not 0.
        tell: hears when there are more conversations than places, once until there are fewer again.
    """

    def __init__(self, cap: int, reserved: int, tell: Callable[[GateEvent], None]) -> None:
        self._cap, self._reserved, self._tell = cap, reserved, tell
        self._watched: dict[str, _Watched] = {}
        self._scans = 0
        self._came = 0
        self._full = False

    def configure(self, cap: int, reserved: int) -> None:
        """Other numbers from the next scan on."""
        self._full = self._full and (cap, reserved) == (self._cap, self._reserved)
        self._cap, self._reserved = cap, reserved

    def add(self, key: str, at: float) -> None:
        """A conversation begins; one that is known already has been active."""
        if key in self._watched:
            self.active(key, at)
            return
        self._came += 1
        self._watched[key] = _Watched(at, self._scans, self._came)

    def active(self, key: str, at: float) -> None:
        """Something happened in a conversation at this moment; one that is not known stays so."""
        if (one := self._watched.get(key)) and at > one.activity:
            self._watched[key] = replace(one, activity=at)

    def remove(self, key: str) -> None:
        """A conversation is over."""
        self._watched.pop(key, None)

    def clear(self) -> None:
        """All of them are."""
        self._watched.clear()

    def scan(self) -> tuple[str, ...]:
        """The conversations to look at now, the newest activity first, the longest unwatched at the end."""
        self._scans += 1
        chosen = self._chosen()
        for key in chosen:
            self._watched[key] = replace(self._watched[key], since=self._scans)
        full = len(self._watched) > self._cap
        if full and not self._full:
            self._tell(WatchListFull(len(self._watched), self._cap, self._reserved))
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
    """The longest first."""
    return one.since, one.place
