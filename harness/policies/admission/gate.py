"""The gate: one pure answer to "may this work start now, wait, or be replaced?".

It puts together the slots and the queue (`admission`), the conversations with their breakers (`conversations`) and
the watch list (`watch_list`). It starts, kills and waits for nothing: whoever carries it out starts what a method
returns, gives every ticket back when the last process of its work is gone, and reads `news` after each call.

A conversation that rests takes no place from others: its work is dropped and told, it is marked, and `due_again`
names it when the pause is over. One that has ended takes its work, its failures and its marks with it; what runs for
it finishes, and until then it cannot be opened again.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace
from itertools import islice
from typing import Generic

from harness.events import (
    ConversationRemoved,
    DropReason,
    Ending,
    GateEvent,
    GateLimitsSet,
    GateName,
    RefusalReason,
    RemovalReason,
    WorkRefused,
)
from harness.policies.admission.admission import Admission
from harness.policies.admission.conversations import Conversations
from harness.policies.admission.decisions import Counts, Drop, Refuse, Start, Ticket, Wait, Work
from harness.policies.admission.limits import GateLimits
from harness.policies.admission.watch_list import WatchList
from harness.policies.breakers.breaker import Breaker


@dataclass(frozen=True, slots=True)
class Sizes:
    """Entries in every map of a gate. All are 0 once every conversation has ended and all work is over."""

    conversations: int
    troubled: int
    watched: int
    running: int
    queued: int
    dirty: int


class Gate(Generic[Work]):
    """The gate of one program. Moments are Unix time in seconds and never fall."""

    def __init__(self, limits: GateLimits | None = None, name: GateName = GateName.AGENTS) -> None:
        self._limits = limits or GateLimits()
        self._name = name
        self._told: list[GateEvent] = []
        told = self._tell
        self._admission: Admission[Work] = Admission(self._limits.max_concurrent, self._limits.max_queue_size, told)
        self._conversations = Conversations(self._limits.breaker, self._limits.sweep_every_s, told)
        self._watch_list = WatchList(self._limits.watch_cap, self._limits.reserved, told)
        told(_announced(self._limits))

    # ── work ────────────────────────────────────────────────────────────────────────────────────

    def ask(self, key: str, work: Work, now: float) -> Start[Work] | Wait | Drop | Refuse:
        """Work has come up for a conversation."""
        if key not in self._conversations and not self._admission.closed:
            self._tell(WorkRefused(key, RefusalReason.NOT_KNOWN))
            return Refuse(RefusalReason.NOT_KNOWN)
        self._watch_list.active(key, now)
        if self._conversations.rests(key, now):
            return self._admission.turn_away(key, DropReason.PAUSED)
        answer = self._admission.ask(key, work)
        if isinstance(answer, Start):
            self._conversations.started(key, now)
        return answer

    def release(self, ticket: Ticket, ending: Ending, now: float) -> tuple[Start[Work], ...]:
        """The work of a ticket is over and the last of its processes is gone; these start now.

        To be called however the work ended. A second time changes nothing.
        """
        if not self._admission.holds(ticket):
            return ()
        self._conversations.ended(ticket.key, ending, now)
        if self._conversations.rests(ticket.key, now):
            self._admission.withdraw(ticket.key, DropReason.PAUSED)
        return self._begun(self._admission.release(ticket, ending), now)

    def withdraw(self, key: str) -> None:
        """Whoever asked for work does not want it any more: it waits no longer, and its mark is gone."""
        self._admission.forget(key, DropReason.WITHDRAWN)

    def due_again(self, now: float) -> tuple[str, ...]:
        """The conversations whose work was dropped and can be asked for now, without another being dropped for it."""
        ready = (
            key
            for key in self._admission.dirty
            if not self._admission.runs(key) and not self._conversations.rests(key, now)
        )
        return tuple(islice(ready, self._admission.room))

    # ── conversations ───────────────────────────────────────────────────────────────────────────

    def open(self, key: str, now: float) -> bool:
        """A conversation begins, or has been active. False: not now; the gate is closed, or it ended and still runs."""
        if self._admission.closed or (key not in self._conversations and self._admission.runs(key)):
            return False
        self._conversations.add(key, now)
        self._watch_list.add(key, now)
        return True

    def end(self, key: str, why: RemovalReason = RemovalReason.ENDED) -> None:
        """A conversation is over; everything that was kept of it goes."""
        if self._conversations.remove(key):
            self._watch_list.remove(key)
            self._admission.forget(key, DropReason.ENDED)
            self._tell(ConversationRemoved(key, why, self._admission.runs(key)))

    def active(self, key: str, now: float) -> None:
        """Something happened in a conversation."""
        self._watch_list.active(key, now)

    def scan(self) -> tuple[str, ...]:
        """The conversations to look at now."""
        return self._watch_list.scan()

    def sweep(self, existing: Collection[str], now: float) -> tuple[str, ...]:
        """Remove the conversations that are known and do not exist any more; these were removed."""
        gone = self._conversations.gone(existing, now)
        for key in gone:
            self.end(key, RemovalReason.DISAPPEARED)
        return gone

    # ── the whole ───────────────────────────────────────────────────────────────────────────────

    def configure(self, limits: GateLimits, now: float) -> tuple[Start[Work], ...]:
        """Work with other numbers from now on; these start now. What runs is left alone."""
        self._limits = limits
        self._tell(_announced(limits))
        self._conversations.configure(limits.breaker, limits.sweep_every_s)
        self._watch_list.configure(limits.watch_cap, limits.reserved)
        return self._begun(self._admission.configure(limits.max_concurrent, limits.max_queue_size), now)

    def close(self) -> None:
        """Take nothing in any more and forget all that waits; what runs is released as always."""
        self._admission.close()
        self._conversations.clear()
        self._watch_list.clear()

    def next_due(self, now: float) -> float | None:
        """The moment from which on time alone has something to do: a sweep, or an attempt after a pause.

        None: nothing; no timer is needed. It may lie in the past.
        """
        rests, marked = self._conversations.rests_until, self._admission.is_dirty
        resting = (rests(key) for key in self._conversations.resting if marked(key))  # few, where many may be marked
        pauses = [until for until in resting if until is not None and until > now]
        sweep = self._conversations.sweep_at
        return min([*pauses, *([] if sweep is None else [sweep])], default=None)

    def news(self) -> tuple[GateEvent, ...]:
        """What happened since this was asked last. Nothing is left out, so that it has to be read."""
        told = tuple(self._told)
        self._told.clear()
        return told

    # ── what it says ────────────────────────────────────────────────────────────────────────────

    @property
    def name(self) -> GateName:
        """Which of the gates it is."""
        return self._name

    @property
    def limits(self) -> GateLimits:
        """The numbers it works with."""
        return self._limits

    @property
    def closed(self) -> bool:
        """Nothing is taken in any more."""
        return self._admission.closed

    @property
    def running(self) -> tuple[Ticket, ...]:
        """What is in flight, the longest running first."""
        return self._admission.running

    @property
    def queued(self) -> tuple[str, ...]:
        """The conversations whose work waits, oldest first."""
        return self._admission.queued

    @property
    def dirty(self) -> tuple[str, ...]:
        """The conversations whose work was dropped and that are to be asked for again."""
        return self._admission.dirty

    @property
    def resting(self) -> tuple[str, ...]:
        """The conversations that failed too often in a row and wait for their attempt."""
        return self._conversations.resting

    @property
    def counts(self) -> Counts:
        """What became of all the work."""
        return self._admission.counts

    def breaker(self, key: str) -> Breaker:
        """Where a conversation stands."""
        return self._conversations.breaker(key)

    def sizes(self) -> Sizes:
        """How much is kept."""
        admission = self._admission
        return Sizes(
            len(self._conversations),
            self._conversations.troubled,
            len(self._watch_list),
            len(admission.running),
            len(admission.queued),
            len(admission.dirty),
        )

    def _tell(self, event: GateEvent) -> None:
        self._told.append(event if self._name is event.gate else replace(event, gate=self._name))

    def _begun(self, starts: tuple[Start[Work], ...], now: float) -> tuple[Start[Work], ...]:
        for start in starts:
            self._conversations.started(start.ticket.key, now)
        return starts


def _announced(limits: GateLimits) -> GateLimitsSet:
    return GateLimitsSet(limits.max_concurrent, limits.max_queue_size, limits.watch_cap)
