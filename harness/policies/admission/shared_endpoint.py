"""One model endpoint as all sessions share it: may this request go out now?

    breaker CLOSED, nothing refused lately    yes, and it is not counted
    CLOSED after a 429 or 529                 while fewer than `most` are in flight
    OPEN, its pause not over                  only for the session that opened it, if it has no fallback: it retries
    OPEN, its pause over                      yes: it is the probe, and the breaker becomes HALF_OPEN
    HALF_OPEN                                 no, until the probe has ended or its lease is over
    before the end of a Retry-After           no

`most` is lowered once for each burst of refusals and raised slowly by replies (AIMD). A record is kept in a store, and
each function is one transaction there. Moments are Unix seconds by the clock of the store. See
docs/design/admission.md#request-limit.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Literal

from harness.events import HoldReason
from harness.policies.breakers.breaker import CLOSED, HALF_OPEN, OPEN, Breaker, BreakerLimits

BELIEVED_S = 600.0
"""What a session wrote longer ago than this says nothing about the endpoint now."""
LEASE_S = 10.0
"""Lease of a request, in flight or waiting; its session renews it."""
DRAIN_S = 5.0
"""A refusal so soon after a lowering belongs to the same burst while nothing was answered since: requests of before may
still be in flight."""
RAISE_AFTER = 4
"""Replies for each request of the limit that raise it by one."""
LONGEST_RETRY_AFTER_S = 86_400.0

RequestEnd = Literal["served", "refused", "other"]


@dataclass(frozen=True, slots=True)
class SharedRequest:
    """A request in flight, or one that waits."""

    id: str
    machine: str
    expires: float
    burst: int | None = None
    """Lowerings of the limit before it went out; None: it waits."""
    probe: bool = False


@dataclass(frozen=True, slots=True)
class SharedEndpoint:
    """An endpoint: its breaker, the limit, and the requests that are counted."""

    at: float = 0.0
    """Moment of the last move of the breaker."""
    breaker: Breaker = field(default_factory=Breaker)
    holder: str = ""
    """The session that moved it."""
    most: int | None = None
    """Requests that may be in flight; None: nothing was refused lately."""
    refused_at: float = 0.0
    burst: int = 0
    """Lowerings of the limit so far."""
    lowered_at: float = 0.0
    """Moment of the last of them."""
    served: int = 0
    """Replies since the limit was changed."""
    risen: bool = False
    """It was raised since it was lowered."""
    wait_until: float = 0.0
    """End of the longest Retry-After."""
    requests: tuple[SharedRequest, ...] = ()
    """In the order of arrival."""

    @property
    def in_flight(self) -> int:
        """Requests that are counted and have gone out."""
        return sum(one.burst is not None for one in self.requests)


@dataclass(frozen=True, slots=True)
class RequestAsk:
    """A request that would go out."""

    id: str
    session: str
    machine: str
    limit: int
    """The configured limit of its session, at least 1."""
    early: bool = False
    """The user wants it now: neither a pause nor a Retry-After holds it."""
    fallback: bool = False
    """Its turn has another model to ask meanwhile."""


@dataclass(frozen=True, slots=True)
class Hold:
    """A request waits."""

    why: HoldReason
    until: float | None = None
    """The moment to ask again at the latest; None: unknown."""
    before: int = 0
    """Requests whose turn comes earlier."""


def believed(record: SharedEndpoint, now: float) -> SharedEndpoint:
    """The record without old parts; those of a clock that was set back are old, too."""
    if abs(now - record.at) > BELIEVED_S:
        record = replace(record, at=0.0, breaker=Breaker(), holder="")
    if record.most is not None and abs(now - record.refused_at) > BELIEVED_S:
        record = replace(record, most=None, served=0, risen=False)
    requests = tuple(
        one if one.expires <= now + LEASE_S else replace(one, expires=now + LEASE_S)
        for one in record.requests
        if one.expires > now
    )
    wait_until = record.wait_until if now < record.wait_until <= now + LONGEST_RETRY_AFTER_S else 0.0
    return replace(record, requests=requests, wait_until=wait_until)


def asked(
    record: SharedEndpoint, ask: RequestAsk, now: float, limits: BreakerLimits
) -> tuple[SharedEndpoint, Hold | None]:
    """The record after a request asked to go out, and why it has to wait; None: it goes out.

    The first call joins the queue, each further one renews the lease. A request whose record has no entry of it
    afterwards went out and is not counted.
    """
    own = next((one for one in record.requests if one.id == ask.id), None)
    if record.breaker.state is CLOSED and record.most is None and not record.wait_until:
        return without(record, ask.id), None
    entry = SharedRequest(ask.id, ask.machine, now + LEASE_S) if own is None else replace(own, expires=now + LEASE_S)
    others = tuple(one for one in record.requests if one is not own)
    position = len(others) if own is None else record.requests.index(own)
    joined = replace(record, requests=(*others[:position], entry, *others[position:]))
    if entry.burst is not None:
        return joined, None
    if now < record.wait_until and not ask.early:
        return joined, Hold(HoldReason.RETRY_AFTER, record.wait_until)
    gone = replace(entry, burst=record.burst)
    breaker = record.breaker
    if breaker.state is CLOSED:
        before = turns(joined.requests).index(ask.id)
        if joined.in_flight + before >= (record.most or ask.limit):
            return joined, Hold(HoldReason.LIMIT, None, before)
        return _with(joined, gone), None
    if breaker.state is HALF_OPEN and any(one.probe for one in others):
        return joined, Hold(HoldReason.PROBE)
    retries = record.holder == ask.session and not ask.fallback
    if breaker.state is OPEN and not (breaker.probe_due(now) or ask.early or retries):
        return joined, Hold(HoldReason.OPEN, breaker.due)
    claimed = (breaker.lost(now) if breaker.state is HALF_OPEN else breaker).probing(now, limits)
    return replace(_with(joined, replace(gone, probe=True)), at=now, breaker=claimed, holder=ask.session), None


def turns(requests: Iterable[SharedRequest]) -> list[str]:
    """The ids of the waiting requests, the next one first.

    A free place goes to the machine with the fewest in flight, and there to the request that came first; among machines
    with as many, to the one whose request came first.
    """
    requests = list(requests)
    in_flight = Counter(one.machine for one in requests if one.burst is not None)
    waiting, order = [one for one in requests if one.burst is None], list[str]()
    while waiting:
        first = min(waiting, key=lambda one: in_flight[one.machine])
        waiting.remove(first)
        in_flight[first.machine] += 1
        order.append(first.id)
    return order


def renewed(record: SharedEndpoint, ids: Iterable[str], now: float) -> SharedEndpoint:
    """The record with new leases for these requests, as far as they are still counted."""
    known = frozenset(ids)
    leased = (replace(one, expires=now + LEASE_S) if one.id in known else one for one in record.requests)
    return replace(record, requests=tuple(leased))


def ended(
    record: SharedEndpoint, ask: RequestAsk, end: RequestEnd, now: float, retry_after_s: float = 0.0
) -> SharedEndpoint:
    """The record after a request has ended, or is no longer wanted."""
    own = next((one for one in record.requests if one.id == ask.id), None)
    if end == "refused":
        wait_until = max(record.wait_until, now + min(retry_after_s, LONGEST_RETRY_AFTER_S) if retry_after_s else 0.0)
        record = replace(_lowered(record, own, ask.limit, now), refused_at=now, wait_until=wait_until)
    elif end == "served" and own is not None and record.most is not None and record.most < ask.limit:
        record = replace(record, served=record.served + 1)
        if record.most is not None and record.served >= RAISE_AFTER * record.most:
            record = replace(record, most=record.most + 1, served=0, risen=True)
    return without(record, ask.id)


def _lowered(record: SharedEndpoint, own: SharedRequest | None, limit: int, now: float) -> SharedEndpoint:
    """The limit after a refusal: by half, or by a fifth if it has served as many as it allows since it was lowered. A
    request that went out before the last lowering belongs to the same burst."""
    answered = record.risen or record.served
    if record.most is None:
        most = limit // 2
    elif own is None or own.burst != record.burst or not (answered or abs(now - record.lowered_at) >= DRAIN_S):
        return record
    else:
        most = min(record.most, record.in_flight)
        most = most * 4 // 5 if record.risen or record.served >= record.most else most // 2
    return replace(record, most=max(1, most), burst=record.burst + 1, lowered_at=now, served=0, risen=False)


def without(record: SharedEndpoint, id: str) -> SharedEndpoint:
    """The record without a request."""
    kept = tuple(one for one in record.requests if one.id != id)
    return record if len(kept) == len(record.requests) else replace(record, requests=kept)


def _with(record: SharedEndpoint, request: SharedRequest) -> SharedEndpoint:
    return replace(record, requests=tuple(request if one.id == request.id else one for one in record.requests))
