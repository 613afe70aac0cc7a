"""The endpoints of models, as all agents of a program know them, and with them all sessions of a person.

Within a program there is one value. Between programs there is one small text that every program writes its own moves
into, and reads before it decides about an overload: that an endpoint is overloaded was then found out once, and not by
everybody. Two programs that move the same breaker in the same millisecond may lose one of two counts.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Protocol

from harness.base.clock import Clock
from harness.base.errors import HarnessError
from harness.engine.model.endpoints_codec import read, written
from harness.policies.breakers.breaker import Breaker
from harness.policies.recovery.endpoints import Endpoints


class Cells(Protocol):
    """Small texts that all sessions of a person share."""

    async def change(self, name: str, change: Callable[[str | None], str | None]) -> str | None:
        """Replace the text of this name by what `change` makes of it, and return the new one. Raises HarnessError."""
        ...


class SharedEndpoints:
    """The breakers of the models, by model."""

    def __init__(
        self,
        cells: Cells | None = None,
        *,
        address: str = "",
        clock: Clock | None = None,
        log: logging.Logger | None = None,
    ) -> None:
        """
        Args:
            cells: what other sessions know; None: nobody else counts.
            address: of the server; another server has other endpoints, also for models of the same name.
            clock: tells how old it is, in the time of the machine; needed with `cells`.
            log: gets the reason why nothing is shared any more.
        """
        self._cells = cells if clock is not None else None
        self._name = f"endpoints {address}"
        self._clock = clock
        self._log = log or logging.getLogger("harness")
        self._writes: set[asyncio.Task[None]] = set()
        self.now = Endpoints()
        """As they are."""

    def put(self, own: Mapping[str, Breaker]) -> None:
        """These were moved here."""
        self.now = Endpoints(MappingProxyType({**self.now.breakers, **own}))
        if self._cells is not None and self._clock is not None:
            task = asyncio.create_task(self._write(self._cells, own, self._clock.now()))
            self._writes.add(task)
            task.add_done_callback(self._writes.discard)

    async def refresh(self) -> None:
        """Take in what other sessions have found out; what is moved here meanwhile is newer and stays."""
        await self._written()
        if (cells := self._cells) is None or self._clock is None:
            return
        before = self.now
        try:
            text = await cells.change(self._name, lambda text: text)
        except HarnessError as error:
            self._share_no_more(error)
            return
        told = read(text, self._clock.now())
        theirs = {model: one.breaker for model, one in told.items() if self.now.of(model) == before.of(model)}
        self.now = Endpoints(MappingProxyType({**self.now.breakers, **theirs}))

    async def aclose(self) -> None:
        """Let what was moved here be written to its end."""
        await self._written()

    async def _written(self) -> None:
        if self._writes:
            await asyncio.wait(self._writes)

    async def _write(self, cells: Cells, own: Mapping[str, Breaker], now: float) -> None:
        try:
            await cells.change(self._name, lambda text: written(text, own, now))
        except HarnessError as error:
            self._share_no_more(error)

    def _share_no_more(self, error: HarnessError) -> None:
        self._cells = None
        self._log.warning("the endpoints are not shared any more", exc_info=error)
