"""Work that is finished before a cancellation is passed on."""

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from harness.base.concurrency import WorkerThread, shielded
from harness.base.errors import HarnessError

pytestmark = pytest.mark.anyio


async def test_the_result_comes_through() -> None:
    assert await shielded(asyncio.sleep(0, "done")) == "done"


async def test_an_error_comes_through() -> None:
    async def fail() -> None:
        raise KeyError("x")

    with pytest.raises(KeyError):
        await shielded(fail())


async def test_a_cancellation_waits_for_the_work_and_calls_back() -> None:
    release, told = asyncio.Event(), asyncio.Event()
    finished = []

    async def work() -> None:
        await release.wait()
        finished.append(True)

    task = asyncio.create_task(shielded(work(), told.set))
    await asyncio.sleep(0)
    task.cancel()
    await told.wait()
    assert not task.done()
    release.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert finished == [True]


class Kept:
    """Notes on which threads it was used and whether it is put away."""

    def __init__(self) -> None:
        self.threads: set[int] = set()
        self.open = 0

    @contextmanager
    def keep(self) -> "Iterator[Kept]":
        self.open += 1
        yield self
        self.open -= 1

    def touch(self) -> int:
        self.threads.add(threading.get_ident())
        return len(self.threads)


@pytest.fixture
def kept() -> Kept:
    return Kept()


@pytest.fixture
def worker(kept: Kept) -> Iterator[WorkerThread[Kept]]:
    worker = WorkerThread(kept.keep, name="a thing", patience_s=0.2, error=HarnessError)
    yield worker
    worker.close()


def test_all_callers_share_one_worker_thread(worker: WorkerThread[Kept], kept: Kept) -> None:
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: worker.do(Kept.touch), range(100)))
    assert answers == [1] * 100
    assert threading.get_ident() not in kept.threads
    assert kept.open == 1


def test_closed_it_puts_away_what_it_keeps_and_ends_its_thread_and_may_begin_anew(
    worker: WorkerThread[Kept], kept: Kept
) -> None:
    before = threading.active_count()
    for _ in range(3):
        worker.do(Kept.touch)
        assert (kept.open, threading.active_count()) == (1, before + 1)
        worker.close()
        assert (kept.open, threading.active_count()) == (0, before)
    worker.close()


@pytest.mark.parametrize("error", [ValueError("not so"), TimeoutError("of its own"), HarnessError("full")])
def test_what_the_work_raises_is_raised_where_it_was_asked_for(worker: WorkerThread[Kept], error: Exception) -> None:
    def fails(_: Kept) -> None:
        raise error

    with pytest.raises(type(error), match=str(error)):
        worker.do(fails)
    assert worker.do(Kept.touch) == 1


def test_work_that_hangs_is_given_up_and_what_waited_behind_it_is_never_done(
    worker: WorkerThread[Kept], kept: Kept
) -> None:
    done, let_go, begun = list[str](), threading.Event(), threading.Event()

    def hangs(_: Kept) -> None:
        begun.set()
        let_go.wait(60)
        done.append("hung")

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(worker.do, hangs)
        begun.wait(60)
        second = pool.submit(worker.do, lambda _: done.append("behind"))
        for call in (first, second):
            with pytest.raises(HarnessError, match="a thing is held by another process"):
                call.result(60)
    with pytest.raises(HarnessError):
        worker.do(Kept.touch)
    worker.close()
    let_go.set()
    for thread in threading.enumerate():
        if thread.name == "worker of a thing":
            thread.join(60)
    assert (done, kept.open) == (["hung"], 0)
    assert worker.do(Kept.touch) == 1
