"""A worker of a fleet: takes tasks as pgqueuer delivers them, and works on several at a time.

The work on a task is a task of this event loop, not of a connection: while the database is away it goes on to its next
record, and a new connection finds it under way.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import Any
from uuid import uuid4

from harness.base.concurrency import in_thread
from harness.base.errors import HarnessError
from harness.base.secrets import Masking
from harness.fleet.fence import PAUSES_S, Fence
from harness.fleet.schema import FleetError
from harness.fleet.tasks import FenceLost, FleetTaskRefused, FleetTasks, FleetWorker
from harness.policies.fleet.task import FleetState, FleetTask, TaskOutcome
from harness.worker.delivery import Delivery, DeliveryPlan, Settled
from harness.worker.events import Kind, Report, WorkerEvent

REPORT_S = 5.0
"""Between two reports to the database, and two looks whether tasks are still this worker's."""
BEATS = 4
"""Reports for each lease at least."""
CarryOut = Callable[[Fence, asyncio.Event], Awaitable[TaskOutcome | None]]
"""Works on a task. The event asks for its end: then it returns None, after what is worth keeping was pushed. Raises
FenceLost when `Fence.lost` is set."""


@dataclass(slots=True)
class _Run:
    """A task under way."""

    job: Any
    """Of pgqueuer."""
    awaited: int = 0
    """Deliveries that wait for its end, and settle the job then."""
    look: asyncio.Event = field(default_factory=asyncio.Event)
    """The queue says that the user has cancelled it."""
    fence: Fence | None = None
    task: "asyncio.Task[Settled]" = field(init=False)


class Worker:
    """Works until it is drained or told to leave."""

    def __init__(
        self,
        tasks: FleetTasks,
        worker: FleetWorker,
        carry_out: CarryOut,
        report: Report,
        *,
        lease_s: float,
        masking: Masking | None = None,
    ) -> None:
        """
        Args:
            report: receives what happens.
            lease_s: another worker gets the tasks of one that was not heard of for so long.
        """
        self._tasks, self._worker, self._carry_out, self._report = tasks, worker, carry_out, report
        self._masking = masking or Masking()
        queues = tasks.queues_of(worker.tags)
        self._plan = DeliveryPlan(uuid4(), queues, worker.concurrency, lease_s)
        self._report_s = min(REPORT_S, lease_s / BEATS)
        self._runs: dict[str, _Run] = {}
        self._unsettled: list[tuple[Any, Settled]] = []
        self._delivery: Delivery | None = None
        self._draining = self._away = self._joined = False
        self._leaving = asyncio.Event()
        self._reason = ""

    def leave(self, reason: str) -> None:
        """Take nothing more, and give back what is under way."""
        self._reason = reason
        self._leaving.set()
        self._take_no_more(reason)

    async def run(self) -> None:
        """Work. Where the database is away, it is tried again for as long as it takes."""
        try:
            failed = 0
            while True:
                try:
                    await self._connected()
                    return
                except FleetError as error:
                    failed = failed + 1 if self._away else 0
                    if not self._away:
                        self._say("store away", f"{error} Tasks under way go on to their next record.")
                    self._away = True
                if self._leaving.is_set() or (self._draining and not self._runs):
                    return
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._leaving.wait(), PAUSES_S[min(failed, len(PAUSES_S) - 1)])
        finally:
            await self._ended()

    async def _connected(self) -> None:
        """Work on one connection. Raises FleetError when it is lost."""
        self._delivery = delivery = await Delivery.connect(self._tasks.database, self._plan, self._work, self._look)
        if self._draining:
            delivery.shut_down()
        reporting = asyncio.create_task(self._reports(delivery))
        try:
            await delivery.run()
            await delivery.unless_lost(*(run.task for run in self._runs.values()))  # of earlier connections
            await self._settle(delivery)
        finally:
            self._delivery = None
            reporting.cancel()
            await delivery.close()

    async def _settle(self, delivery: Delivery) -> None:
        """Settle the jobs whose work ended while their connection was lost."""
        while self._unsettled:
            await delivery.settle(*self._unsettled[0])
            self._unsettled.pop(0)

    async def _reports(self, delivery: Delivery) -> None:
        """Say that this worker lives, renew its leases, and look whether it is to go on."""
        try:
            if not self._joined:  # an earlier worker of this name may have been told to take no more
                await in_thread(partial(self._tasks.leave, self._worker.id))
                self._joined = True
                limit = f"{self._worker.concurrency} at a time" if self._worker.concurrency > 1 else "one at a time"
                self._say("ready", f"{self._worker.id} takes tasks, {limit}")
            while True:
                draining = await in_thread(partial(self._tasks.report, self._worker))
                if self._away:
                    self._say("store back", "tasks are taken again")
                self._away = False
                if draining and not self._draining:
                    self._take_no_more("it was asked to end its tasks and take no more")
                held = [run for run in self._runs.values() if run.fence is None or not run.fence.lost.is_set()]
                await delivery.beat(run.job.id for run in held)
                await self._settle(delivery)
                await asyncio.sleep(self._report_s)
        except FleetError as error:
            delivery.fail(str(error))

    def _take_no_more(self, reason: str) -> None:
        if not self._draining:
            self._say("draining", reason)
        self._draining = True
        if self._delivery is not None:
            self._delivery.shut_down()

    async def _ended(self) -> None:
        for run in self._runs.values():
            run.task.cancel()
        if self._runs:
            await asyncio.wait({run.task for run in self._runs.values()})
        with suppress(FleetError):  # `status` then shows for how long it has been silent
            if not self._away:
                await in_thread(partial(self._tasks.leave, self._worker.id))
        self._say("ended", self._reason)

    # ── one task ────────────────────────────────────────────────────────────────────────────────────

    async def _work(self, id: str, job: Any) -> Settled:
        """Work on a task, or join the work that is under way. The caller may leave, the work goes on."""
        run = self._runs.get(id)
        if run is None:
            self._runs[id] = run = _Run(job)
            run.task = asyncio.create_task(self._begun(id, run))
            run.task.add_done_callback(partial(self._forget, id, run))
        run.awaited += 1
        try:
            return await asyncio.shield(run.task)
        except asyncio.CancelledError:
            run.awaited -= 1
            raise

    def _forget(self, id: str, run: _Run, task: "asyncio.Task[Settled]") -> None:
        del self._runs[id]
        if not run.awaited and not task.cancelled():
            self._unsettled.append((run.job, task.result()))

    def _look(self, id: str) -> None:
        if run := self._runs.get(id):
            run.look.set()

    async def _begun(self, id: str, run: _Run) -> Settled:
        task = await self._start(id)
        if task is None:
            return Settled.BACK if self._leaving.is_set() else Settled.ENDED
        run.fence = fence = Fence(self._tasks, task, masking=self._masking)
        self._say("taken", task.draft.prompt[:80], task)
        watching = asyncio.create_task(self._watch(fence, run))
        try:
            outcome = await self._outcome(fence)
            if outcome is None:
                await fence.give_back(self._reason)
                self._say("given back", self._reason, task)
                return Settled.BACK
            await fence.finish(outcome)
            done = outcome.state is FleetState.DONE
            text = f"branch {outcome.branch}" if outcome.branch and done else outcome.text[:200]
            self._say("done" if done else "failed", text, task)
            return Settled.ENDED
        except FenceLost as error:
            self._say("lost", str(error), task)
            return Settled.NOT_OURS
        finally:
            watching.cancel()

    async def _start(self, id: str) -> FleetTask | None:
        """The task as it starts; None: it has ended, or this worker ends."""
        for attempt in count():
            if self._leaving.is_set():
                break
            try:
                begin = partial(self._tasks.begin, id, self._worker.id, self._worker.machine)
                return await in_thread(begin)
            except FleetTaskRefused as error:
                self._say("note", str(error))
                break
            except FleetError:
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._leaving.wait(), PAUSES_S[min(attempt, len(PAUSES_S) - 1)])
        return None

    async def _outcome(self, fence: Fence) -> TaskOutcome | None:
        try:
            return await self._carry_out(fence, self._leaving)
        except FenceLost:
            raise
        except HarnessError as error:
            return TaskOutcome(FleetState.FAILED, str(error))
        except Exception as error:  # noqa: BLE001 (one task must not end the others)
            return TaskOutcome(FleetState.FAILED, f"internal error ({type(error).__name__}: {error})")

    async def _watch(self, fence: Fence, run: _Run) -> None:
        """Look from time to time, and when the queue says so, whether the task is still this worker's."""
        with suppress(FenceLost):
            while True:
                with suppress(TimeoutError):
                    await asyncio.wait_for(run.look.wait(), self._report_s)
                run.look.clear()
                await fence.check()

    def _say(self, kind: Kind, text: str = "", task: FleetTask | None = None) -> None:
        id, fence = (task.id, task.fence) if task else ("", 0)
        self._report(WorkerEvent(time.time(), kind, text, id, fence).masked(self._masking))
