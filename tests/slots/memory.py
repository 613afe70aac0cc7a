"""A store in memory: the plainest form of the rules that every store follows."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from threading import Lock

from harness.slots.store import ClaimEntry, ProcessOwner, QueuePosition, SlotClaim, lives


class InMemorySlotStore:
    """Keeps claims in a list; any thread may use it."""

    def __init__(self, lives: Callable[[ProcessOwner], bool] = lives) -> None:
        """
        Args:
            lives: whether the process of an owner may still run.
        """
        self._lives = lives
        self._entries: list[ClaimEntry] = []
        self._cells: dict[str, str] = {}
        self._lock = Lock()

    def ask(self, claim: SlotClaim, limit: int, now: float) -> QueuePosition:
        with self._lock:
            self._entries = self._live(now)
            at = self._place(claim.id)
            if at is None:
                at = len(self._entries)
                self._entries.append(ClaimEntry(claim, limit, now, None, now))
            entry = replace(self._entries[at], limit=limit, expires=now + claim.lease_s)
            running = sum(other.started is not None for other in self._entries)
            before = sum(other.started is None for other in self._entries[:at])
            if entry.started is None and running + before < limit:
                entry, running = replace(entry, started=now), running + 1
            self._entries[at] = entry
            return QueuePosition(entry.started is not None, before, running)

    def renew(self, claim_ids: Sequence[str], now: float) -> tuple[str, ...]:
        with self._lock:
            self._entries = [
                replace(entry, expires=now + entry.claim.lease_s) if entry.claim.id in claim_ids else entry
                for entry in self._entries
            ]
            return tuple(entry.claim.id for entry in self._entries if entry.claim.id in claim_ids)

    def release(self, claim_id: str) -> None:
        with self._lock:
            self._entries = [entry for entry in self._entries if entry.claim.id != claim_id]

    def entries(self, now: float) -> tuple[ClaimEntry, ...]:
        with self._lock:
            return tuple(self._live(now))

    def change(self, name: str, change: Callable[[str | None], str | None]) -> str | None:
        with self._lock:
            text = change(self._cells.get(name))
            if text is None:
                self._cells.pop(name, None)
            else:
                self._cells[name] = text
            return text

    def cells(self) -> dict[str, str]:
        with self._lock:
            return dict(self._cells)

    def close(self) -> None:
        """Nothing to close."""

    def _live(self, now: float) -> list[ClaimEntry]:
        """The live claims. A clock that was set back makes no lease longer."""
        return [
            replace(entry, expires=min(entry.expires, now + entry.claim.lease_s))
            for entry in self._entries
            if entry.expires > now and self._lives(entry.claim.owner)
        ]

    def _place(self, claim_id: str) -> int | None:
        return next((at for at, entry in enumerate(self._entries) if entry.claim.id == claim_id), None)
