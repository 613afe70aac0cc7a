"""The slots of the machine that the work of one gate holds, for as long as they can be used."""

import asyncio
import logging
from collections.abc import Callable

from harness.events import Event, Notice
from harness.slots.shared import SharedSlots
from harness.slots.store import SlotsError


class Sharing:
    """Takes slots and gives them back. Once they cannot be used, that is said and everybody goes on without them."""

    def __init__(self, slots: SharedSlots | None, emit: Callable[[Event], None], log: logging.Logger) -> None:
        """
        Args:
            slots: those of all sessions; None: nothing is shared.
            emit: hears that sharing has ended.
            log: gets the reason.
        """
        self._slots, self._emit, self._log = slots, emit, log
        self._returns: set[asyncio.Task[None]] = set()

    def ask(self, key: str, limit: int) -> "asyncio.Task[str | None] | None":
        """Begin to wait for a slot. None, now or in the end: none is needed. To be cancelled by whoever gives up."""
        return None if self._slots is None else asyncio.create_task(self._claim(self._slots, key, limit))

    def give_back(self, asked: "asyncio.Task[str | None] | None") -> "asyncio.Task[None] | None":
        """Begin to give back what `ask` has led to; None: there is nothing.

        It is a task of its own, because a slot must come back even if whoever held it is cancelled twice.
        """
        if asked is None or self._slots is None or not asked.done() or asked.cancelled() or asked.exception():
            return None
        if (claim := asked.result()) is None:
            return None
        task = asyncio.create_task(self._release(self._slots, claim))
        self._returns.add(task)
        task.add_done_callback(self._returns.discard)
        return task

    async def settled(self) -> None:
        """Wait until nothing is on its way back."""
        if self._returns:
            await asyncio.wait(self._returns)

    async def _claim(self, slots: SharedSlots, key: str, limit: int) -> str | None:
        try:
            return await slots.acquire(key, limit)
        except SlotsError as error:
            self._end(error)
            return None

    async def _release(self, slots: SharedSlots, claim: str) -> None:
        try:
            await slots.release(claim)
        except SlotsError as error:
            self._end(error)

    def _end(self, error: SlotsError) -> None:
        if self._slots is not None:
            self._slots = None
            self._log.warning("the slots of the machine are not shared any more", exc_info=error)
            self._emit(Notice("warning", f"From now on the limit counts this session alone. {error}"))
