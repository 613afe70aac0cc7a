"""A long conversation on the screen: `python -m benchmarks.screen_history ours|naive MESSAGES REPORT`.

The naive way mounts one widget for each message and keeps them all.
"""

import asyncio
import sys
import time
from pathlib import Path
from statistics import median

from textual.app import App, ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Static

from benchmarks.long_journal import MESSAGES_PER_TURN, turn_events
from benchmarks.screen_live import SeeingDriver, driver_of, live, write_report
from harness.events import Event, Message, MessageAdded, Origin
from harness.ui.app.app import HarnessApp
from harness.ui.app.controller import Controller

MODEL = "claude-sonnet-4-6"
MORE = 15
"""Messages that are added to the long conversation, one by one."""
APART_S = 0.6
"""Seconds between them, so that none waits for the drawing of the one before."""


def message_events(count: int) -> list[Event]:
    """Turns with so many messages together, and everything else that a session emits."""
    turns = range(1, count // MESSAGES_PER_TURN + 1)
    return [event for turn in turns for event in turn_events(turn, MODEL)]


def one_more(word: str) -> MessageAdded:
    """An answer that ends with `word`."""
    return MessageAdded(Message("assistant", ({"type": "text", "text": f"One more answer: {word}"},)), Origin.REPLY)


def ours(count: int, report: Path) -> None:
    """The app as it is, fed with events."""

    async def feed(app: HarnessApp, controller: Controller) -> dict[str, float]:
        driver, views, events = driver_of(app), controller.views, message_events(count)
        began = time.monotonic()
        for event in events:
            views.see(event, time.time())
            await asyncio.sleep(0)
        views.see(one_more("lastword"), time.time())
        await driver.sees("lastword")
        seconds = time.monotonic() - began
        took, cpu = [], []
        for number in range(MORE):
            await asyncio.sleep(APART_S)
            asked, used = time.monotonic(), time.process_time()
            views.see(one_more(f"word{number:04}"), time.time())
            await driver.sees(f"word{number:04}")
            took.append(time.monotonic() - asked)
            cpu.append(time.process_time() - used)
        return {"seconds": seconds, "one_more": median(took) * 1000, "one_more_cpu": median(cpu) * 1000}

    live(feed, report)


class Unbounded(App[None]):
    """One Static for each message, all of them kept."""

    CSS = "Static { height: auto; margin: 0 0 1 0; }"

    def __init__(self, count: int, report: Path) -> None:
        super().__init__()
        self.driver_class = SeeingDriver
        self._count = count
        self._report = report

    def compose(self) -> ComposeResult:
        yield VerticalScroll()

    def on_mount(self) -> None:
        self.query_one(VerticalScroll).anchor()
        self.run_worker(self._fill())

    async def _fill(self) -> None:
        chat, driver = self.query_one(VerticalScroll), driver_of(self)
        texts = [event.message.text for event in message_events(self._count * 2) if isinstance(event, MessageAdded)]
        began = time.monotonic()
        for text in [text for text in texts if text][: self._count]:
            await chat.mount(Static(text, markup=False))
        await chat.mount(Static("lastword", markup=False))
        await driver.sees("lastword")
        seconds = time.monotonic() - began
        took = []
        for number in range(MORE):
            await asyncio.sleep(APART_S)
            took.append(time.monotonic())
            chat.mount(Static(f"One more answer: word{number:04}", markup=False))
            await driver.sees(f"word{number:04}")
            took[-1] = time.monotonic() - took[-1]
        write_report(self._report, {"seconds": seconds, "one_more": median(took) * 1000})
        self.exit()


if __name__ == "__main__":
    way, messages, place = sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])
    ours(messages, place) if way == "ours" else Unbounded(messages, place).run()
