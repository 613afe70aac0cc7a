"""What agents share about the models: the breakers of endpoints, also with other sessions of the user.

Within a program there is one value. Between programs there is one small text, into which each writes its own moves and
which it reads before it decides about an overload. Two programs that move the same breaker in the same millisecond may
lose one of two counts.
"""

import asyncio
import json
import logging
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from types import MappingProxyType
from typing import Protocol

from pydantic import TypeAdapter, ValidationError

from harness.base.clock import Clock
from harness.base.errors import HarnessError
from harness.engine.conversation import Conversation
from harness.engine.store_pause import StorePause
from harness.events import (
    BreakerChanged,
    BreakerState,
    ChangeReason,
    Fault,
    FaultKind,
    Outcome,
)
from harness.policies.breakers.breaker import HALF_OPEN, OPEN, Breaker
from harness.policies.recovery import TurnState
from harness.policies.recovery.state import Endpoints


class SharedCells(Protocol):
    """Small texts that all sessions of the user share."""

    async def change(self, name: str, change: Callable[[str | None], str | None]) -> str | None:
        """Replace the text of this name by what `change` makes of it, and return the new one. Raises HarnessError."""
        ...


class SharedEndpoints:
    """The breakers of the models, by model."""

    def __init__(
        self,
        cells: SharedCells | None = None,
        *,
        address: str = "",
        clock: Clock | None = None,
        log: logging.Logger | None = None,
    ) -> None:
        """
        Args:
            cells: shared with other sessions; None: not shared.
            address: of the server; another server has other endpoints, also for models of the same name.
            clock: for the age of entries; needed with `cells`.
            log: receives the reason when sharing pauses.
        """
        self._cells = cells if clock is not None else None
        self._name = f"endpoints {address}"
        self._clock = clock
        self._log = log or logging.getLogger("harness")
        self._writes: set[asyncio.Task[None]] = set()
        self._unwritten: dict[str, EndpointRecord] = {}
        """Moves made here that no other session can read yet."""
        self._pause = StorePause()
        self.now = Endpoints()
        """As they are."""

    def put(self, own: Mapping[str, Breaker]) -> None:
        """These were moved here."""
        self.now = Endpoints(MappingProxyType({**self.now.breakers, **own}))
        if self._cells is not None and self._clock is not None:
            at = self._clock.now()
            self._unwritten.update({model: EndpointRecord(at, breaker) for model, breaker in own.items()})
            task = asyncio.create_task(self._write(self._cells, self._clock))
            self._writes.add(task)
            task.add_done_callback(self._writes.discard)

    async def refresh(self) -> None:
        """Read the moves of other sessions; moves made here meanwhile are newer and stay."""
        await self._written()
        if (cells := self._cells) is None or self._clock is None:
            return
        before = self.now
        text = await self._exchange(cells, self._clock)
        records = read(text, self._clock.now())
        theirs = {model: one.breaker for model, one in records.items() if self.now.of(model) == before.of(model)}
        self.now = Endpoints(MappingProxyType({**self.now.breakers, **theirs}))

    async def aclose(self) -> None:
        """Wait for pending writes."""
        await self._written()

    async def _written(self) -> None:
        if self._writes:
            await asyncio.wait(self._writes)

    async def _write(self, cells: SharedCells, clock: Clock) -> None:
        if self._unwritten:  # a write before this one may have taken its moves along
            await self._exchange(cells, clock)

    async def _exchange(self, cells: SharedCells, clock: Clock) -> str | None:
        """Write the moves that are due and return the text; None: the store is away, which is logged once."""
        if self._pause.lasts(clock.now()):
            return None
        own, now = dict(self._unwritten), clock.now()
        try:
            text = await cells.change(self._name, lambda text: merged(text, own, now) if own else text)
        except HarnessError as error:
            if self._pause.failed(clock.now()):
                self._log.warning("endpoints are not shared until the store is back", exc_info=error)
            return None
        self._unwritten = {model: one for model, one in self._unwritten.items() if one is not own.get(model)}
        if self._pause.answered():
            self._log.info("endpoints are shared again")
        return text


BELIEVED_S = 600.0
"""What a session wrote longer ago than this says nothing about the endpoint now."""


@dataclass(frozen=True, slots=True)
class EndpointRecord:
    """One breaker, and the Unix time at which it was moved."""

    at: float
    breaker: Breaker


_TEXT = TypeAdapter(dict[str, EndpointRecord])


def read(text: str | None, now: float) -> dict[str, EndpointRecord]:
    """The entries that are recent enough, by model; none for a text in another format."""
    try:
        records = _TEXT.validate_json(text or "{}")
    except ValidationError:
        return {}
    return {model: one for model, one in records.items() if abs(now - one.at) <= BELIEVED_S and _possible(one.breaker)}


def written(text: str | None, own: Mapping[str, Breaker], now: float) -> str:
    """The text with these breakers, moved now, and without entries that are too old."""
    return merged(text, {model: EndpointRecord(now, breaker) for model, breaker in own.items()}, now)


def merged(text: str | None, own: Mapping[str, EndpointRecord], now: float) -> str:
    """The text with these entries unless it has newer ones, and without those that are too old."""
    records = read(text, now)
    records |= {model: one for model, one in own.items() if model not in records or one.at >= records[model].at}
    return json.dumps({model: asdict(one) for model, one in records.items()})


def _possible(breaker: Breaker) -> bool:
    """A model is never isolated, so that every open breaker says when it may be tried."""
    counted = min(breaker.failures, breaker.generation, breaker.openings) >= 0
    timed = math.isfinite(breaker.opened) and math.isfinite(breaker.due or 0.0) and not math.isnan(breaker.lease_until)
    return counted and timed and (breaker.due is not None) == (breaker.state is OPEN)


class ModelEndpoints:
    """The breakers of the models, and the moves that one conversation has reported.

    What other agents have found out is known here as well; a session that is resumed begins with closed ones.
    """

    def __init__(self, conversation: Conversation, shared: SharedEndpoints | None = None) -> None:
        self._conversation = conversation
        self._shared = shared or SharedEndpoints()
        self._base = self._published = self.now

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
        self._base = state.endpoints
        if own:
            self._shared.put(own)
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
