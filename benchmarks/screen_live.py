"""What the programs of this benchmark share: the real app with a session, a driver that sees, a report."""

import asyncio
import io
import json
import os
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import psutil
from textual.app import App
from textual.drivers.linux_driver import LinuxDriver

from harness.ui.app.app import HarnessApp
from harness.ui.app.controller import Controller

Feed = Callable[[HarnessApp, Controller], Awaitable[dict[str, float]]]
"""Shows something in an app that is ready; returns what it has measured."""
PROBE_S = 0.01


class SeeingDriver(LinuxDriver):
    """Writes to the terminal as usual, and knows when a word was first written."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._word = ""
        self._seen = asyncio.Event()

    def write(self, data: str) -> None:
        super().write(data)
        if self._word and self._word in data:
            self._word = ""
            self._seen.set()

    async def sees(self, word: str) -> None:
        """Wait until `word`, which was not on the screen before, is written."""
        self._word = word
        self._seen.clear()
        await self._seen.wait()


def driver_of(app: App[Any]) -> SeeingDriver:
    """The driver of an app that was started with one of these."""
    assert isinstance(app._driver, SeeingDriver)
    return app._driver


def live(feed: Feed, report: Path) -> None:
    """Run the app as `harness` does, let `feed` show something in it, and write down what it has measured."""

    async def begin(app: HarnessApp) -> Controller:
        from harness.session import Opening
        from harness.settings import current_folder, load
        from harness.settings.logs import open_log

        loaded = load({}, os.environ, current_folder())
        controller = Controller(app, loaded, lambda: loaded.settings, open_log(loaded.settings, io.StringIO()))
        await controller.start(Opening(), choose=False, text="")
        app.run_worker(_fed(app, controller), exit_on_error=False)
        return controller

    async def _fed(app: HarnessApp, controller: Controller) -> None:
        try:
            write_report(report, await feed(app, controller))
        except Exception as error:  # noqa: BLE001 (the border: said once the terminal is back)
            app.fail(error)
        else:
            app.exit(0)

    async def run() -> None:
        app = HarnessApp(begin)
        app.driver_class = SeeingDriver
        try:
            await app.run_to_end()
        finally:
            if app.controller is not None:
                await app.controller.aclose()

    asyncio.run(run())


def write_report(report: Path, measured: dict[str, float]) -> None:
    """Record the measurements and the resident memory of this process."""
    report.write_text(json.dumps(measured | {"rss": psutil.Process().memory_info().rss}), encoding="ascii")


async def busy_for(seconds: float, work: Awaitable[object]) -> dict[str, float]:
    """Do `work` and say what the loop went through meanwhile: share of a processor, and how late a timer was in ms."""
    late: list[float] = []
    began, cpu = time.monotonic(), time.process_time()
    task = asyncio.ensure_future(work)
    while time.monotonic() - began < seconds:
        asked = time.monotonic()
        await asyncio.sleep(PROBE_S)
        late.append(time.monotonic() - asked - PROBE_S)
    share = (time.process_time() - cpu) / (time.monotonic() - began)
    await task
    late.sort()
    return {
        "cpu": share * 100,
        "p50": late[len(late) // 2] * 1000,
        "p99": late[len(late) * 99 // 100] * 1000,
        "most": late[-1] * 1000,
    }
