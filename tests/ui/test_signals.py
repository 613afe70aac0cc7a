"""Signals are heeded as long as something listens, and none is lost when it stops listening."""

import asyncio
import os
import signal
from types import FrameType

import pytest

from harness.ui.signals import handle_signals


def test_a_signal_after_the_block_reaches_the_previous_handler() -> None:
    arrived: list[int] = []

    def before(number: int, frame: FrameType | None) -> None:
        arrived.append(number)

    async def work() -> int:
        with handle_signals() as signalled:
            await asyncio.sleep(0)
            os.kill(os.getpid(), signal.SIGTERM)  # the loop does not run again before the block ends
        return signalled.number

    own = signal.signal(signal.SIGTERM, before)
    try:
        assert asyncio.run(work()) == 0
    finally:
        signal.signal(signal.SIGTERM, own)
    assert arrived == [signal.SIGTERM]


def test_a_signal_while_it_is_heeded_comes_once() -> None:
    async def work() -> list[int]:
        heard: list[int] = []
        with handle_signals() as signalled:
            signalled.interrupts(lambda: heard.append(signalled.number))
            os.kill(os.getpid(), signal.SIGTERM)
            await asyncio.sleep(0.05)
        return heard

    assert asyncio.run(work()) == [signal.SIGTERM]


def test_a_second_signal_ends_the_work_at_once_as_it_is_wanted_or_else_cancels_it() -> None:
    async def work(*, wanted: bool) -> list[str]:
        heard: list[str] = []
        with handle_signals() as signalled:
            signalled.interrupts(
                lambda: heard.append("interrupt"), (lambda: heard.append("at once")) if wanted else None
            )
            try:
                for _ in range(2):
                    os.kill(os.getpid(), signal.SIGINT)
                    await asyncio.sleep(0.05)
            except asyncio.CancelledError:
                heard.append("cancelled")
        return heard

    assert asyncio.run(work(wanted=True)) == ["interrupt", "at once"]
    assert asyncio.run(work(wanted=False)) == ["interrupt", "cancelled"]


@pytest.mark.parametrize(("first", "second", "code"), [("INT", "TERM", 143), ("TERM", "INT", 143), ("INT", "HUP", 129)])
def test_a_signal_that_ends_the_program_is_not_forgotten_beside_a_ctrl_c(first: str, second: str, code: int) -> None:
    async def work() -> int:
        with handle_signals() as signalled:
            signalled.interrupts(lambda: None, lambda: None)
            for name in (first, second):
                os.kill(os.getpid(), signal.Signals[f"SIG{name}"])
                await asyncio.sleep(0.05)
        return signalled.exit_code

    assert asyncio.run(work()) == code
