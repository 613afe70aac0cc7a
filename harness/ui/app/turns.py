"""One turn at a time: what emits events is run to its end, whatever the end is."""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass

from harness.errors import HarnessError
from harness.events import Event, PauseReport, PauseReported, TransitionCode, TurnEnded

STOPPED = (TransitionCode.ABORTED_STREAMING, TransitionCode.ABORTED_TOOLS)


@dataclass(frozen=True, slots=True)
class Played:
    """How a turn went, or something else that emits events."""

    ended: TurnEnded | None = None
    """None: it was no turn, or did not come to its end."""
    paused: PauseReport | None = None
    """It paused, with this report."""
    duration_s: float = 0.0
    at_once: bool = False
    """It was ended without being waited for."""

    @property
    def stopped(self) -> bool:
        """The person stopped it."""
        return self.at_once or (self.ended is not None and self.ended.code in STOPPED)


class Turns:
    """Lets turns run. Their events reach the views by themselves; here it matters how they end."""

    def __init__(self, after: Callable[[Played], None], trouble: Callable[[str], None], log: logging.Logger) -> None:
        """
        Args:
            after: called when one has ended, in the loop.
            trouble: tells the person what went wrong, in one sentence.
            log: gets the traceback of what should not have happened.
        """
        self._after = after
        self._trouble = trouble
        self._log = log
        self._task: asyncio.Task[None] | None = None
        self._closing = False

    @property
    def running(self) -> bool:
        """Something runs."""
        return self._task is not None

    def begin(self, events: AsyncGenerator[Event, None]) -> None:
        """Run this."""
        self._task = asyncio.create_task(self._play(events))

    def end_at_once(self) -> None:
        """Do not wait for what runs."""
        if self._task is not None:
            self._task.cancel()

    async def aclose(self) -> None:
        """End what runs, and tell nobody."""
        self._closing = True
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})

    async def _play(self, events: AsyncGenerator[Event, None]) -> None:
        began = time.monotonic()
        ended, paused, at_once = None, None, False
        try:
            async with aclosing(events):
                async for event in events:
                    match event:
                        case TurnEnded():
                            ended = event
                        case PauseReported(report=report):
                            paused = report
        except HarnessError as error:
            self._trouble(str(error))
        except asyncio.CancelledError:
            if self._closing:
                raise
            at_once = True
        except Exception as error:  # noqa: BLE001 (the border: a turn that fails must not end the app)
            self._log.exception("a turn failed")
            self._trouble(f"something in the program failed ({type(error).__name__}: {error})")
        self._task = None
        self._after(Played(ended, paused, time.monotonic() - began, at_once))
