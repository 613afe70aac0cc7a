"""What every app does at its end, whatever it was."""

import asyncio
import os
import signal
import subprocess
import sys
from contextlib import suppress
from typing import ClassVar

import pytest
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.drivers.headless_driver import HeadlessDriver

from harness.ui.app.panel_view import SplitView
from harness.ui.app.terminal_app import TerminalApp

pytestmark = pytest.mark.anyio


class Small(TerminalApp):
    """A stage, and keys whose handlers are wrong."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("x", "fall"), Binding("w", "work"), Binding("q", "leave")]

    def __init__(self) -> None:
        super().__init__()
        self.driver_class = HeadlessDriver
        self.ready = asyncio.Event()

    def compose(self) -> ComposeResult:
        yield SplitView()

    def on_ready(self) -> None:
        self.ready.set()

    def action_fall(self) -> None:
        raise ZeroDivisionError("a mistake")

    def action_work(self) -> None:
        self.run_worker(self._work(), exit_on_error=False)

    async def _work(self) -> None:
        raise ZeroDivisionError("a mistake")

    def action_leave(self) -> None:
        self.exit(7)


async def running(app: Small) -> "asyncio.Task[int]":
    """The app, begun."""
    task = asyncio.create_task(app.run_to_end())
    await app.ready.wait()
    return task


async def test_a_handler_that_fails_ends_the_app_and_is_reported_to_its_caller() -> None:
    app = Small()
    task = await running(app)
    app.simulate_key("x")
    with pytest.raises(ZeroDivisionError, match="a mistake"):
        await asyncio.wait_for(task, 60)
    assert not app.is_running


async def test_a_worker_that_fails_does_not_end_it() -> None:
    app = Small()
    task = await running(app)
    app.simulate_key("w")
    await asyncio.sleep(0.1)
    assert not task.done()
    app.simulate_key("q")
    assert await asyncio.wait_for(task, 60) == 7


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
async def test_a_signal_ends_it_in_order(number: signal.Signals) -> None:
    app = Small()
    task = await running(app)
    os.kill(os.getpid(), number)
    assert await asyncio.wait_for(task, 60) == 128 + number


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
async def test_a_signal_after_its_end_does_not_cut_the_end_of_the_session_short(number: signal.Signals) -> None:
    app = Small()
    task = await running(app)
    app.simulate_key("q")
    assert await asyncio.wait_for(task, 60) == 7
    assert signal.getsignal(number) is not signal.SIG_DFL
    os.kill(os.getpid(), number)


LEAVES = """
import asyncio
from harness.ui.app.panel_view import SplitView
from harness.ui.app.terminal_app import TerminalApp

class Leaves(TerminalApp):
    def compose(self):
        yield SplitView()
    def on_ready(self):
        with self.suspend():
            self.exit(5)
        for _ in range(1_000):
            self._driver.write("x")

raise SystemExit(asyncio.run(Leaves().run_to_end()))
"""


def test_what_is_drawn_after_the_end_of_an_app_that_was_suspended_is_discarded() -> None:
    ours, theirs = os.openpty()
    with subprocess.Popen([sys.executable, "-c", LEAVES], stdin=theirs, stdout=theirs, stderr=theirs) as program:
        os.close(theirs)
        shown = bytearray()
        with suppress(OSError):  # the other end is closed
            while data := os.read(ours, 65_536):
                shown += data
        assert program.wait() == 5
    os.close(ours)
    assert b"xxx" not in shown
