"""What is kept of slots that are shared, and what every place that keeps it promises.

A store may be a table in memory, a file, or a server. Each method is one atomic step, so that of all callers in all
processes one is always first. Nothing here waits for a slot: who waits asks again.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from harness.base.errors import HarnessError
from harness.slots.owners import Owner


class SlotsError(HarnessError):
    """The slots that are shared cannot be used now. Whoever asked may go on without sharing."""


@dataclass(frozen=True, slots=True)
class Claim:
    """Somebody wants a slot, or has one."""

    id: str
    """Of this claim, and of no other on this machine."""
    owner: Owner
    label: str
    """What the slot is for, to show to a person."""
    lease_s: float = 10.0
    """Seconds after which it counts as given up unless it is renewed."""


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a claim stands."""

    started: bool
    """It holds a slot."""
    before: int
    """Live claims that wait and came before it."""
    running: int
    """Live claims that hold a slot, this one among them if it does."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A claim as a person may see it. Moments are Unix seconds."""

    claim: Claim
    limit: int
    """The limit its session goes by."""
    since: float
    """When it began to wait."""
    started: float | None
    """When it got its slot; None: it waits."""
    expires: float
    """When it counts as given up, unless it is renewed before."""


class Store(Protocol):
    """Keeps who holds a slot, and who waits in which order.

    Every method may block for a short while, is one atomic step for all processes, and raises SlotsError when it
    cannot be done. `now` is Unix time in seconds.

    A claim is gone when it was released, when its lease is over, or when its owner's process is. One whose lease is
    over may still be renewed for as long as nobody has asked since: a machine that slept finds everything in place.
    """

    def ask(self, claim: Claim, limit: int, now: float) -> Standing:
        """Enter the queue with the first call; each further one renews the claim and says where it stands.

        It starts when fewer than `limit` live claims hold a slot or came before it: nobody is overtaken, and of
        several free slots each goes to one in the line without waiting for those before to look.
        """
        ...

    def renew(self, claim_ids: Sequence[str], now: float) -> tuple[str, ...]:
        """Begin the leases anew. Returns those that are still there; the others are lost."""
        ...

    def release(self, claim_id: str) -> None:
        """Give the slot back, or leave the queue. Nothing happens when the claim is gone."""
        ...

    def entries(self, now: float) -> tuple[Entry, ...]:
        """All live claims in the order in which they came."""
        ...

    def change(self, name: str, change: Callable[[str | None], str | None]) -> str | None:
        """Replace one small text by what `change` makes of it; None is no text. Returns the new one.

        `change` may be called on another thread and must not use the store. What it raises is raised here, and the
        text stays.
        """
        ...

    def cells(self) -> dict[str, str]:
        """All the small texts by name."""
        ...

    def close(self) -> None:
        """Let go of what the store holds open. Claims stay."""
        ...
