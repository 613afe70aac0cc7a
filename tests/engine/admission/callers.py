"""Callers of admission whose work lasts until the test ends it."""

import asyncio
from collections.abc import Callable, Collection

from harness.engine.admission.runner import AdmissionEntry, AdmissionRunner, NotAdmitted
from harness.events import Event, WorkEnd
from harness.policies.admission.controller import AdmissionController, AdmissionLimits, AdmissionSizes
from harness.slots.client import SharedSlots
from tests.engine.hand_clock import HandClock, quiet

NOTHING = AdmissionSizes(0, 0, 0, 0, 0, 0)


class Failed(Exception):  # noqa: N818 (what it says of the work)
    """The error of a caller's work."""


class Callers:
    """The callers of one controller, each with a number from 1."""

    def __init__(
        self,
        limits: AdmissionLimits | None = None,
        *,
        shared: SharedSlots | None = None,
        existing: Callable[[], Collection[str]] | None = None,
    ) -> None:
        self.clock, self.events = HandClock(), list[Event]()
        self.controller: AdmissionController[AdmissionEntry] = AdmissionController(limits or AdmissionLimits())
        self.runner = AdmissionRunner(self.controller, self._hear, self.clock, shared=shared, existing=existing)
        self.when = dict[Event, Callable[[], object]]()
        """Actions to take as soon as an event is reported."""
        self._others = asyncio.all_tasks()
        self.tasks: dict[int, asyncio.Task[WorkEnd]] = {}
        self.ends: dict[int, asyncio.Future[WorkEnd]] = {}
        """For each started caller: the event that ends its work."""
        self.begun: list[int] = []
        """Ordered by the start of their work."""
        self.inside = self.most = self._asked = 0

    def ask(self, *keys: str) -> None:
        """One more caller for each key."""
        for key in keys:
            number = self._asked = self._asked + 1
            self.tasks[number] = asyncio.ensure_future(self._run(number, key))

    async def asks(self, *keys: str) -> None:
        """The same, and everybody has come as far as he can."""
        self.ask(*keys)
        await quiet()

    async def ends_with(self, ending: WorkEnd | Failed, *numbers: int) -> None:
        """The work of these callers is over."""
        for number in numbers:
            if isinstance(ending, Failed):
                self.ends[number].set_exception(ending)
            else:
                self.ends[number].set_result(ending)
        await quiet()

    async def cancels(self, number: int) -> None:
        """A caller is cancelled."""
        self.tasks[number].cancel()
        await quiet()

    def fate(self, number: int) -> str:
        """The state of a caller: waits, runs, done, failed, cancelled, or why he was not admitted."""
        task = self.tasks[number]
        if not task.done():
            return "runs" if number in self.ends else "waits"
        if task.cancelled():
            return "cancelled"
        match task.exception():
            case NotAdmitted() as error:
                return str(error.reason)
            case Failed():
                return "failed"
            case None:
                return "done"
            case error:
                raise error

    def answer(self, number: int) -> NotAdmitted:
        """The answer to a caller that was not admitted."""
        error = self.tasks[number].exception()
        assert isinstance(error, NotAdmitted)
        return error

    def tasks_left(self) -> int:
        """Running tasks that were not running before."""
        return len(asyncio.all_tasks() - self._others)

    def _hear(self, event: Event) -> None:
        self.events.append(event)
        self.when.get(event, lambda: None)()

    async def _run(self, number: int, key: str) -> WorkEnd:
        return await self.runner.run(key, lambda: self._work(number), lambda ending: ending)

    async def _work(self, number: int) -> WorkEnd:
        self.begun.append(number)
        self.ends[number] = asyncio.get_running_loop().create_future()
        self.inside += 1
        self.most = max(self.most, self.inside)
        try:
            return await self.ends[number]
        finally:
            self.inside -= 1
