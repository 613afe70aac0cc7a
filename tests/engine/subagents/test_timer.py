"""One timer that is there only while something is due."""

import asyncio

import pytest

from harness.engine.subagents.admission import AdmissionTimer
from tests.engine.hand_clock import HandClock, quiet

pytestmark = pytest.mark.anyio


async def test_it_rings_once_when_the_moment_has_come() -> None:
    clock, rung = HandClock(), list[float]()
    alarm = AdmissionTimer(clock, lambda: rung.append(clock.time))
    alarm.set(5.0, 0.0)
    await quiet()
    for _ in range(3):
        clock.move(4.0)
        await quiet()
    assert (rung, clock.sleepers) == ([8.0], [])


async def test_another_moment_takes_the_place_of_the_first_and_none_takes_it_away() -> None:
    clock, rung = HandClock(), list[float]()
    alarm = AdmissionTimer(clock, lambda: rung.append(clock.time))
    for due in (5.0, 3.0, 3.0):
        alarm.set(due, 0.0)
        await quiet()
        assert [at for at, _ in clock.sleepers] == [due]
    alarm.set(None, 0.0)
    await quiet()
    clock.move(9.0)
    await quiet()
    assert (rung, clock.sleepers) == ([], [])


async def test_it_may_be_set_again_while_it_rings_and_closes_whatever_it_waits_for() -> None:
    before, clock, rung = asyncio.all_tasks(), HandClock(), list[float]()

    def ring() -> None:
        rung.append(clock.time)
        alarm.set(clock.time + 5.0, clock.time)

    alarm = AdmissionTimer(clock, ring)
    alarm.set(-1.0, 0.0)  # due already
    for _ in range(2):
        await quiet()
        clock.move(5.0)
        await quiet()
    assert rung == [0.0, 5.0, 10.0]
    await alarm.aclose()
    await alarm.aclose()
    assert (asyncio.all_tasks(), clock.sleepers) == (before, [])
