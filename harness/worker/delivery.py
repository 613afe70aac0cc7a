"""One connection on which pgqueuer delivers the tasks of a fleet to a worker.

pgqueuer settles a job by its id, whoever has it, and ends only after its handlers. So a handler here never waits
longer than the connection lasts, and ends with `Unsettled` where the job is not this worker's to settle.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from enum import Enum, auto
from typing import Any
from uuid import UUID

from harness.fleet.database import FleetDatabase, faults, sentence
from harness.fleet.schema import FleetError, queue_settings

POLL_S = 30.0
"""Longest time until the queue is looked at without a notification."""
FULL_POLL_S = 0.5
"""The same while tasks wait that this worker has no room for."""
CLOSE_S = 2.0
AGAIN_S = 5.0
"""Until a task that was given back is delivered again."""


class Settled(Enum):
    """What becomes of the job of a task."""

    ENDED = auto()
    """The queue forgets it."""
    BACK = auto()
    """Another worker gets it."""
    NOT_OURS = auto()
    """It stays as it is: its new owner, or the end of the lease, decides."""


class Unsettled(BaseException):
    """Ends a handler so that pgqueuer neither settles nor logs its job."""


@dataclass(frozen=True, slots=True)
class DeliveryPlan:
    """What a worker asks of the queue."""

    id: UUID
    """The same for all connections of a worker: its jobs count as its own after it has connected again."""
    queues: tuple[str, ...]
    concurrency: int
    lease_s: float
    """A job whose worker has not been heard of for so long is delivered to another one."""


Work = Callable[[str, Any], Awaitable[Settled]]
"""The work on a task, by its id and the job of pgqueuer. Called again for a task under way, it joins that."""


class Delivery:
    """Hands jobs to `work` until it is shut down or the connection is lost."""

    def __init__(
        self, connection: Any, where: str, plan: DeliveryPlan, work: Work, cancelled: Callable[[str], None]
    ) -> None:
        """
        Args:
            connection: of asyncpg, for this alone.
            where: the database for sentences.
            cancelled: called with the id of a task that the user has cancelled.
        """
        from pgqueuer.adapters.persistence.qb import QueryBuilderEnvironment, QueryQueueBuilder
        from pgqueuer.queries import Queries

        self._connection, self._where, self._plan = connection, where, plan
        self._work, self._cancelled = work, cancelled
        self.lost = asyncio.Event()
        """The connection is of no more use."""
        self._running: asyncio.Task[None] | None = None
        self._why = f"{where} closed the connection."
        connection.add_termination_listener(lambda _: self.lost.set())
        settings = queue_settings()
        self._queries: Any = Queries(
            _watched_driver(connection, self._fail, self.lost.is_set),
            QueryBuilderEnvironment(settings),
            QueryQueueBuilder(settings),
        )
        self._manager = _manager(self._queries, settings.channel, plan)
        for queue in plan.queues:
            self._manager.entrypoint(queue, accepts_context=True)(self._handle)

    @classmethod
    async def connect(
        cls, database: FleetDatabase, plan: DeliveryPlan, work: Work, cancelled: Callable[[str], None]
    ) -> "Delivery":
        """Raises FleetError, one sentence."""
        try:
            connection = await database.connect()
        except faults() as error:
            raise FleetError(f"{database.where} {sentence(error)[0]}") from error
        return cls(connection, database.where, plan, work, cancelled)

    def shut_down(self) -> None:
        """Take no more jobs; `run` returns when those under way have ended."""
        self._manager.shutdown.set()

    def fail(self, why: str) -> None:
        """The database cannot be used; `run` raises this sentence."""
        self._why = why
        self.lost.set()

    async def run(self) -> None:
        """Deliver until it is shut down. Raises FleetError when the connection is lost."""
        lease = timedelta(seconds=self._plan.lease_s)
        poll = timedelta(seconds=min(POLL_S, self._plan.lease_s / 2))
        most = 2 * self._plan.concurrency  # pgqueuer asks for twice the batch; `fetch_jobs` keeps to our number
        self._running = running = asyncio.create_task(
            self._manager.run(dequeue_timeout=poll, batch_size=1, max_concurrent_tasks=most, heartbeat_timeout=lease)
        )
        await self.unless_lost(running)
        try:
            running.result()
        except faults() as error:
            raise FleetError(f"{self._where} {sentence(error)[0]}") from error

    async def unless_lost(self, *work: "asyncio.Future[Any]") -> None:
        """Wait for work to end. Raises FleetError when the connection is lost before."""
        if work:
            lost = asyncio.create_task(self.lost.wait())
            ends = asyncio.ensure_future(asyncio.wait(work))
            await asyncio.wait({ends, lost}, return_when=asyncio.FIRST_COMPLETED)
            lost.cancel()
            ends.cancel()
        if self.lost.is_set():
            raise FleetError(self._why)

    async def close(self) -> None:
        """Close the connection. Handlers leave their jobs as they are."""
        self.lost.set()
        self._manager.shutdown.set()
        try:
            async with asyncio.timeout(CLOSE_S):
                await self._connection.close()
        except faults():  # also a TimeoutError
            self._connection.terminate()
        if self._running is not None:
            self._running.cancel()
            await asyncio.wait({self._running})
            if not self._running.cancelled():
                self._running.exception()  # the first error is the one that counts

    async def settle(self, job: Any, settled: Settled) -> None:
        """Settle a job that an earlier connection has delivered. Raises FleetError."""
        try:
            if settled is Settled.ENDED:
                await self._queries.log_jobs([(job, "successful", None)])
            elif settled is Settled.BACK:
                await self._queries.retry_job(job, timedelta(seconds=AGAIN_S), None)
        except faults() as error:
            raise FleetError(self._why) from error

    async def beat(self, jobs: Iterable[int]) -> None:
        """Renew the leases of jobs."""
        if ids := list(jobs):
            with suppress(*faults()):  # then the connection is lost, and the next one renews them
                await self._queries.update_heartbeat(ids)

    def _fail(self, error: BaseException) -> None:
        """A statement has failed; one about a single row says nothing about the connection."""
        import asyncpg

        if not isinstance(error, asyncpg.IntegrityConstraintViolationError):
            self.fail(f"{self._where} {sentence(error)[0]}")

    async def _handle(self, job: Any, context: Any) -> None:
        from pgqueuer.errors import RetryRequested

        id = job.payload.decode()
        work = asyncio.ensure_future(self._work(id, job))
        lost = asyncio.create_task(self.lost.wait())
        try:
            with context.cancellation:
                await asyncio.wait({work, lost}, return_when=asyncio.FIRST_COMPLETED)
            if context.cancellation.cancel_called:
                self._cancelled(id)
                await asyncio.wait({work, lost}, return_when=asyncio.FIRST_COMPLETED)
            if not work.done():
                raise Unsettled
            settled = work.result()
        except asyncio.CancelledError:  # pgqueuer would forget the job
            raise Unsettled from None
        finally:
            lost.cancel()
            work.cancel()
        if settled is Settled.BACK:
            raise RetryRequested(timedelta(seconds=AGAIN_S))
        if settled is Settled.NOT_OURS:
            raise Unsettled


def _watched_driver(connection: Any, failed: Callable[[BaseException], None], lost: Callable[[], bool]) -> Any:
    """A driver of pgqueuer that says when a statement has failed, and runs none after that: of a job that could not be
    queued again pgqueuer would say that it has failed, and forget it."""
    from pgqueuer.adapters.drivers.asyncpg import AsyncpgDriver

    class WatchedDriver(AsyncpgDriver):
        async def fetch(self, query: str, *args: object) -> list[dict[str, object]]:
            result: list[dict[str, object]] = await self._watched(super().fetch(query, *args))
            return result

        async def execute(self, query: str, *args: object) -> str:
            result: str = await self._watched(super().execute(query, *args))
            return result

        async def _watched(self, statement: Coroutine[Any, Any, Any]) -> Any:
            if lost():
                statement.close()
                raise ConnectionError("the connection is given up")
            try:
                return await statement
            except faults() as error:
                failed(error)
                raise

    return WatchedDriver(connection)


def _manager(queries: Any, channel: Any, plan: DeliveryPlan) -> Any:
    """A QueueManager that takes no more than there is room for, also for one task at a time."""
    from pgqueuer.qm import QueueManager

    class RoomManager(QueueManager):
        async def fetch_jobs(self, batch_size: int, most: int | None, lease: timedelta) -> AsyncGenerator[Any, None]:
            async for job in super().fetch_jobs(batch_size, plan.concurrency, lease):
                yield job

    manager: Any = RoomManager(queries, channel=channel)
    manager.queue_manager_id = plan.id
    manager.min_dequeue_poll_interval = timedelta(seconds=FULL_POLL_S)
    return manager
