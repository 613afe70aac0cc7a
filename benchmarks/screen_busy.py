"""A storm on the screen: `python -m benchmarks.screen_busy ours|naive SECONDS REPORT`.

Fifty events of tools and breakers and sixty pieces of prose in every second. The naive way updates its widgets for each
of them: four cells of a DataTable, a Markdown stream, and a clock ten times a second.
"""

import asyncio
import sys
import time
from collections.abc import Callable, Iterator
from itertools import count, cycle
from pathlib import Path

from textual.app import App, ComposeResult
from textual.containers import Horizontal, VerticalScroll
from textual.widgets import DataTable, Markdown, Static

from benchmarks.screen_live import busy_for, live, write_report
from harness.events import (
    BreakerChanged,
    BreakerState,
    ChangeReason,
    Event,
    RequestSent,
    StepStarted,
    TextDelta,
    ToolEnded,
    ToolOutcome,
    ToolStarted,
    TurnStarted,
)
from harness.ui.app.app import HarnessApp
from harness.ui.app.controller import Controller

TOOLS = 20
EVENTS_PER_S = 50
PIECES_PER_S = 60
SETTLE_S = 2.0
PROSE = (
    "the file holds what was looked for in line twelve and the next one is read now because its name says that "
    "a measure of the same kind is taken there which would explain why both of them changed on the same day."
)
WORDS_PER_PARAGRAPH = 80


def beginning() -> list[Event]:
    """A turn has begun, and its first request is on the way."""
    return [TurnStarted(1, "Measure everything."), StepStarted(1), RequestSent("practice-1", 8_000, 20_000, 1)]


def tool_events() -> Iterator[Event]:
    """Calls of twenty tools that start, end, and move their breaker."""
    closed, opened = BreakerState.CLOSED, BreakerState.OPEN
    for number in count():
        tool, call_id = f"tool_{number % TOOLS:02}", f"toolu_{number:06}"
        yield ToolStarted(call_id, tool, f"measure part {number}", {"part": number})
        yield ToolEnded(call_id, tool, ToolOutcome.OK, "4 lines", 0.04)
        if number % 2:
            before, after = (closed, opened) if number // TOOLS % 2 else (opened, closed)
            why = ChangeReason.THRESHOLD if after is opened else ChangeReason.PROBE_SUCCEEDED
            yield BreakerChanged(tool, before, after, why, 3 if after is opened else 0, number, 1)


def pieces() -> Iterator[str]:
    """Prose, a word at a time."""
    for number, word in enumerate(cycle(PROSE.split()), 1):
        yield word + ("\n\n" if number % WORDS_PER_PARAGRAPH == 0 else " ")


async def storm(seconds: float, event: Callable[[Event], None], piece: Callable[[str], object]) -> None:
    """Give events and pieces at their rates, each at its own moment."""
    events, texts = tool_events(), pieces()
    due = sorted(
        [(number / EVENTS_PER_S, True) for number in range(int(seconds * EVENTS_PER_S))]
        + [(number / PIECES_PER_S, False) for number in range(int(seconds * PIECES_PER_S))]
    )
    began = time.monotonic()
    for moment, of_tools in due:
        if (wait := began + moment - time.monotonic()) > 0:
            await asyncio.sleep(wait)
        if of_tools:
            event(next(events))
        elif asyncio.iscoroutine(written := piece(next(texts))):
            await written


def ours(seconds: float, report: Path) -> None:
    """The app as it is, fed with events."""

    async def feed(app: HarnessApp, controller: Controller) -> dict[str, float]:
        def see(event: Event) -> None:
            controller.views.see(event, time.time())

        await asyncio.sleep(SETTLE_S)
        for event in beginning():
            see(event)
        return await busy_for(seconds, storm(seconds, see, lambda text: see(TextDelta(text))))

    live(feed, report)


class PerEvent(App[None]):
    """Touches a widget for everything that happens."""

    CSS = "VerticalScroll { width: 1fr; } DataTable { width: 60; } Horizontal { height: 1fr; } #clock { height: 1; }"

    def __init__(self, seconds: float, report: Path) -> None:
        super().__init__()
        self._seconds = seconds
        self._report = report
        self._began = time.monotonic()

    def compose(self) -> ComposeResult:
        with Horizontal():
            with VerticalScroll():
                yield Markdown()
            yield DataTable[str]()
        yield Static(id="clock", markup=False)

    def on_mount(self) -> None:
        table = self.query_one(DataTable)
        for column in ("tool", "state", "last", "took", "calls"):
            table.add_column(column, key=column, width=10)
        for number in range(TOOLS):
            table.add_row(f"tool_{number:02}", "closed", "", "", "0", key=f"tool_{number:02}")
        self.query_one(VerticalScroll).anchor()
        self.set_interval(0.1, self._tick)
        self.run_worker(self._measure())

    def _tick(self) -> None:
        self.query_one("#clock", Static).update(f"{time.monotonic() - self._began:.1f} s")

    async def _measure(self) -> None:
        table, stream = self.query_one(DataTable), Markdown.get_stream(self.query_one(Markdown))
        seen = count(1)

        def show(event: Event) -> None:
            match event:
                case ToolStarted(tool=tool):
                    cells = ("running", event.summary, "", str(next(seen)))
                case ToolEnded(tool=tool):
                    cells = ("closed", event.summary, f"{event.duration_s} s", str(next(seen)))
                case BreakerChanged(key=tool):
                    cells = (event.after, event.why, "", str(next(seen)))
                case _:
                    return
            for column, value in zip(("state", "last", "took", "calls"), cells, strict=True):
                table.update_cell(tool, column, value)

        await asyncio.sleep(SETTLE_S)
        measured = await busy_for(self._seconds, storm(self._seconds, show, stream.write))
        await stream.stop()
        write_report(self._report, measured)
        self.exit()


if __name__ == "__main__":
    way, lasts, place = sys.argv[1], float(sys.argv[2]), Path(sys.argv[3])
    ours(lasts, place) if way == "ours" else PerEvent(lasts, place).run()
