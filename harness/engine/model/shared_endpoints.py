"""What agents share about the models: the breakers of endpoints and the limit of requests, also with other sessions.

Within a program there is one value. Between programs there is one small text, which each reads and changes in one
transaction before a request goes out (`harness.policies.admission.shared_endpoint`) and after it has ended. Moments in
it are by the clock of the store.
"""

import asyncio
import json
import logging
import math
import secrets
from collections.abc import Callable, Coroutine, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from types import MappingProxyType
from typing import Any, Protocol

from pydantic import TypeAdapter, ValidationError

from harness.base.clock import Clock, SystemClock
from harness.base.errors import HarnessError
from harness.engine.conversation import Conversation
from harness.events import (
    BreakerChanged,
    BreakerState,
    ChangeReason,
    Event,
    Fault,
    FaultKind,
    Notice,
    Outcome,
    Reply,
    RequestLimitSet,
)
from harness.policies.admission.shared_endpoint import (
    LEASE_S,
    Hold,
    RequestAsk,
    RequestEnd,
    SharedEndpoint,
    asked,
    believed,
    ended,
    renewed,
)
from harness.policies.breakers.breaker import HALF_OPEN, OPEN, Breaker, BreakerLimits
from harness.policies.recovery import TurnState
from harness.policies.recovery.state import Endpoints
from harness.slots.store import this_process
from harness.slots.store_pause import ALONE, TOGETHER, StorePause

Records = Mapping[str, SharedEndpoint]
"""By model."""
BEATS = 0.3
"""Share of a lease after which requests in flight are renewed."""


@dataclass(frozen=True, slots=True)
class EndedRequest:
    """A request that is over, or no longer wanted."""

    model: str
    ask: RequestAsk
    end: RequestEnd = "other"
    retry_after_s: float = 0.0


class SharedCells(Protocol):
    """Small texts that all sessions of the user share."""

    pause: StorePause
    """Whether their store is away, for all who use it."""

    async def change(self, name: str, change: Callable[[str | None], str | None]) -> str | None:
        """Replace the text of this name by what `change` makes of it, and return the new one. Raises HarnessError."""
        ...


class SharedEndpoints:
    """The breakers of the models, by model, and the requests to them."""

    def __init__(
        self,
        cells: SharedCells | None = None,
        *,
        address: str = "",
        clock: Clock | None = None,
        limit: int = 1,
        emit: Callable[[Event], None] = lambda _: None,
        log: logging.Logger | None = None,
    ) -> None:
        """
        Args:
            cells: of the store that sessions share; None: they share none.
            address: of the server; another server has other endpoints, also for models of the same name.
            clock: of the store; None: requests and breakers are of this session alone.
            limit: most requests in flight after a refusal, at least 1.
            emit: receives a notice when sharing pauses, and when it is back.
            log: receives the reason when sharing pauses.
        """
        self._store, self._cells = cells, cells if clock is not None else None
        self._name = f"endpoints {address}"
        self.clock = clock
        self.limit = limit
        self._emit = emit
        self._log = log or logging.getLogger("harness")
        self._session, self._machine = secrets.token_hex(8), this_process("").host
        self._writes: set[asyncio.Task[None]] = set()
        self._unwritten: dict[str, EndpointMove] = {}
        """Moves made here that no other session can read yet."""
        self._ended: list[EndedRequest] = []
        """Requests that others still count."""
        self._in_flight: dict[str, str] = {}
        """The models of the requests that are counted, by id."""
        self._heartbeat: asyncio.Task[None] | None = None
        self.now = Endpoints()
        """As they are."""
        self.limits: Mapping[str, RequestLimitSet] = {}
        """The limits that hold now."""

    @property
    def shared(self) -> bool:
        """Other sessions decide together with this one, as far as is known."""
        return self._cells is not None and self.clock is not None and not self._cells.pause.lasts(self.clock.now())

    def time(self, clock: Clock | None = None) -> float:
        """The moment for decisions about them: that of their store, else that of `clock`."""
        return (self.clock or clock or SystemClock()).now()

    def put(self, own: Mapping[str, Breaker]) -> None:
        """These were moved here."""
        self.now = Endpoints(MappingProxyType({**self.now.breakers, **own}))
        if self._cells is not None and self.clock is not None and (own or self._ended):
            at = self.clock.now()
            self._unwritten.update({model: EndpointMove(at, breaker) for model, breaker in own.items()})
            self._begin(self._write())

    async def refresh(self) -> None:
        """Read the moves of other sessions; moves made here meanwhile are newer and stay."""
        await self._written()
        await self._exchange()

    def look(self) -> None:
        """Begin to read them, so that a store that is away is reported before a request needs it."""
        self._begin(self._look())

    # ── requests ────────────────────────────────────────────────────────────────────────────────

    def new_ask(self) -> RequestAsk:
        """A request of this session."""
        return RequestAsk(secrets.token_hex(6), self._session, self._machine, self.limit)

    async def ask(self, model: str, ask: RequestAsk, limits: BreakerLimits) -> Hold | None:
        """Why the request has to wait; None: it goes out, also where nothing is shared. The caller asks again at least
        once in `LEASE_S`, and calls `leave` in the end."""
        await self._written()
        answer: Hold | None = None

        def step(records: Records, now: float) -> Records:
            nonlocal answer
            record, answer = asked(records.get(model, SharedEndpoint()), ask, now, limits)
            return {**records, model: record}

        records = await self._exchange(step)
        if records is None or answer is not None:
            return answer if records is not None else None
        if (record := records.get(model)) is not None:
            self.now = Endpoints(MappingProxyType({**self.now.breakers, model: record.breaker}))
            if any(one.id == ask.id for one in record.requests):
                self._in_flight[ask.id] = model
                self._keep_renewing()
        return None

    def leave(self, model: str, ask: RequestAsk, outcome: Outcome | None, *, waited: bool = False) -> None:
        """The request is over; None: without an outcome. Others read it together with the next `put`, so that no second
        probe begins before the result of the first is known; without an outcome at once."""
        end: RequestEnd = "served" if isinstance(outcome, Reply) else "other"
        retry_after_s = 0.0
        if isinstance(outcome, Fault) and outcome.kind in (FaultKind.OVERLOADED, FaultKind.RATE_LIMIT):
            end, retry_after_s = "refused", outcome.retry_after_s or 0.0
        counted = self._in_flight.pop(ask.id, None) is not None
        if self.shared and (counted or waited or end == "refused"):
            self._ended.append(EndedRequest(model, ask, end, retry_after_s))
            if outcome is None:
                self.put({})

    def _keep_renewing(self) -> None:
        if self._heartbeat is None or self._heartbeat.done():
            self._heartbeat = asyncio.create_task(self._renew(), name="requests heartbeat")

    async def _renew(self) -> None:
        while self._in_flight and self.clock is not None:
            await self.clock.sleep(BEATS * LEASE_S)
            held = dict(self._in_flight)
            await self._exchange(
                lambda records, now: {model: renewed(record, held, now) for model, record in records.items()}  # noqa: B023 (awaited)
            )

    async def aclose(self) -> None:
        """Give every request back, and wait for pending writes."""
        if self._heartbeat is not None:
            self._heartbeat.cancel()
            await asyncio.wait([self._heartbeat])
        await self._written()

    # ── the text ────────────────────────────────────────────────────────────────────────────────

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._writes.add(task)
        task.add_done_callback(self._writes.discard)

    async def _written(self) -> None:
        if self._writes:
            await asyncio.wait(self._writes)

    async def _write(self) -> None:
        if self._unwritten or self._ended:  # a write before this one may have taken its moves along
            await self._exchange(ends=True)

    async def _look(self) -> None:
        if self._store is not None:
            try:
                await self._store.change(self._name, lambda text: text)
            except HarnessError as error:
                self._away(self._store, error)

    def _away(self, cells: SharedCells, error: HarnessError) -> None:
        if cells.pause.failed(self.time()):
            self._log.warning("nothing is shared until the store is back", exc_info=error)
            self._emit(Notice("warning", f"{ALONE} {error}"))

    async def _exchange(
        self, step: Callable[[Records, float], Records] | None = None, *, ends: bool = False
    ) -> Records | None:
        """Write the moves that are due, take `step`, and return what all sessions know now; None: nothing is shared, or
        the store is away, which is said once.

        Args:
            ends: write the ends of requests, too. Nobody may read the end of a probe before its result.
        """
        cells, clock = self._cells, self.clock
        if cells is None or clock is None or cells.pause.lasts(clock.now()):
            return None
        own, over, before = dict(self._unwritten), tuple(self._ended if ends else ()), self.now
        known: Records = {}

        def change(text: str | None) -> str | None:
            nonlocal known
            now = clock.now()  # within the transaction, so that it is the time of the store
            there = read(text, now)
            known = after_requests(merged(there, own, self._session), over, now)
            known = known if step is None else step(known, now)
            known = {model: one for model, one in known.items() if one != SharedEndpoint()}
            return text if known == there else written(known)

        try:
            await cells.change(self._name, change)
        except HarnessError as error:
            self._away(cells, error)
            return None
        self._unwritten = {model: one for model, one in self._unwritten.items() if one is not own.get(model)}
        self._ended = [one for one in self._ended if one not in over]
        if cells.pause.answered():
            self._log.info("endpoints are shared again")
            self._emit(Notice("info", TOGETHER))
        self._take(known, before, clock.now())
        return known

    def _take(self, records: Records, before: Endpoints, now: float) -> None:
        """Know what others know; moves made here meanwhile are newer and stay."""
        theirs = {model: one.breaker for model, one in records.items() if self.now.of(model) == before.of(model)}
        self.now = Endpoints(MappingProxyType({**self.now.breakers, **theirs}))
        self.limits = limits_of(records, self.limit, now)


def limits_of(records: Records, limit: int, now: float) -> Mapping[str, RequestLimitSet]:
    """The limits that hold, by model, with moments of this machine's clock; `limit` is the configured one."""
    ahead = now - SystemClock().now()
    return {
        model: RequestLimitSet(
            *(model, one.most, limit),
            refused_at=one.refused_at - ahead,
            wait_until=one.wait_until - ahead if one.wait_until > now else 0.0,
        )
        for model, one in records.items()
        if one.most is not None or one.wait_until > now
    }


@dataclass(frozen=True, slots=True)
class EndpointMove:
    """A breaker, and the moment at which it was moved here."""

    at: float
    breaker: Breaker


_TEXT = TypeAdapter(dict[str, SharedEndpoint])


def read(text: str | None, now: float) -> dict[str, SharedEndpoint]:
    """The entries that are recent enough, by model; none for a text in another format."""
    try:
        records = _TEXT.validate_json(text or "{}")
    except ValidationError:
        return {}
    kept = {model: believed(one, now) for model, one in records.items() if _possible(one)}
    return {model: one for model, one in kept.items() if one != SharedEndpoint()}


def written(records: Records) -> str:
    """The text with these entries."""
    return json.dumps({model: asdict(one) for model, one in records.items()})


def merged(records: Records, own: Mapping[str, EndpointMove], session: str) -> Records:
    """The entries with these moves of a session, unless they have newer ones. While the probe of another session is
    out, only its result counts."""
    after = dict(records)
    for model, move in own.items():
        record = after.get(model, SharedEndpoint())
        probed = record.breaker.state is HALF_OPEN and any(one.probe for one in record.requests)
        newer = record.holder == session or (move.at >= record.at and not probed)
        if newer:
            after[model] = replace(record, at=move.at, breaker=move.breaker, holder=session)
    return after


def after_requests(records: Records, over: tuple[EndedRequest, ...], now: float) -> Records:
    """The entries after these requests have ended."""
    after = dict(records)
    for one in over:
        record = after.get(one.model, SharedEndpoint())
        after[one.model] = ended(record, one.ask, one.end, now, one.retry_after_s)
    return after


def _possible(record: SharedEndpoint) -> bool:
    """A model is never isolated, so that every open breaker says when it may be tried."""
    breaker = record.breaker
    counts = (breaker.failures, breaker.generation, breaker.openings, record.burst, record.served)
    moments = (breaker.opened, breaker.due or 0.0, record.at, record.refused_at, record.lowered_at, record.wait_until)
    timed = all(map(math.isfinite, (*moments, *(one.expires for one in record.requests))))
    limited = record.most is None or record.most >= 1
    right = min(counts) >= 0 and timed and limited and not math.isnan(breaker.lease_until)
    return right and (breaker.due is not None) == (breaker.state is OPEN)


class ModelEndpoints:
    """The breakers of the models, and the moves that one conversation has reported.

    What other agents have found out is known here as well; a session that is resumed begins with closed ones.
    """

    def __init__(self, conversation: Conversation, shared: SharedEndpoints | None = None) -> None:
        self._conversation = conversation
        self._shared = shared or SharedEndpoints()
        self._base = self._published = self.now
        self._reported: Mapping[str, RequestLimitSet] = {}

    @property
    def now(self) -> Endpoints:
        """As they are."""
        return self._shared.now

    def begin(self) -> Endpoints:
        """As they are, for a state that begins with them."""
        self._base = self.now
        return self._base

    async def latest(self, state: TurnState, outcome: Outcome) -> TurnState:
        """`state` with what others have found out meanwhile, for a decision about `outcome`; about an overload, other
        sessions are asked as well."""
        if isinstance(outcome, Fault) and outcome.kind is FaultKind.OVERLOADED:
            await self._shared.refresh()
        self._base = self.now
        return replace(state, endpoints=self._base)

    def keep(self, state: TurnState) -> None:
        """Save the breakers that `state` has moved, and emit each move since the last call. Moves of others stay."""
        breakers = state.endpoints.breakers
        own = {model: breaker for model, breaker in breakers.items() if breaker != self._base.of(model)}
        if self._shared.shared:  # who probes is decided in the store, when the request asks
            own = {model: breaker for model, breaker in own.items() if breaker.why is not ChangeReason.PROBE_GIVEN}
        self._base = state.endpoints
        self._shared.put(own)
        self.report_limits()
        before, self._published = self._published, self.now
        for model, breaker in self.now.breakers.items():
            for since, after, why, generation in _moves(before.of(model), breaker):
                self._conversation.emit(
                    BreakerChanged(
                        f"model:{model}",
                        since,
                        after,
                        why,
                        breaker.failures,
                        generation,
                        self._conversation.step,
                        detail="overloaded" if why in OVERLOADED else "",
                    )
                )

    def report_limits(self) -> None:
        """Emit each limit that is another one than at the last call."""
        before, self._reported = self._reported, self._shared.limits
        for model in {**before, **self._reported}:
            old, new = before.get(model), self._reported.get(model)
            new = new or RequestLimitSet(model, None, self._shared.limit)
            if old is None or (old.limit, old.wait_until > 0) != (new.limit, new.wait_until > 0):
                self._conversation.emit(replace(new, before=None if old is None else old.limit))


OVERLOADED = frozenset({ChangeReason.THRESHOLD, ChangeReason.PROBE_FAILED})

Move = tuple[BreakerState, BreakerState, ChangeReason, int]
"""The states before and after, why, and the generation that it led to."""


def _moves(before: Breaker, after: Breaker) -> Iterator[Move]:
    """The moves in between. An attempt that only its outcome reveals makes two moves at once; moves of other agents are
    reported as one, and not at all when the breaker is as before."""
    if after.generation == before.generation and after.state is before.state:
        return  # others may have moved it as often to somewhere else
    since = before.state
    if after.generation - before.generation > 1 and since is OPEN and after.state is not HALF_OPEN:
        yield since, HALF_OPEN, ChangeReason.PROBE_GIVEN, after.generation - 1
        since = HALF_OPEN
    if since is not after.state:
        yield since, after.state, after.why, after.generation
