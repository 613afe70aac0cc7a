"""Work that is finished before a cancellation is passed on."""

import asyncio

import pytest

from harness.base.threads import shielded

pytestmark = pytest.mark.anyio


async def test_the_result_comes_through() -> None:
    assert await shielded(asyncio.sleep(0, "done")) == "done"


async def test_an_error_comes_through() -> None:
    async def fail() -> None:
        raise KeyError("x")

    with pytest.raises(KeyError):
        await shielded(fail())


async def test_a_cancellation_waits_for_the_work_and_tells_it() -> None:
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
