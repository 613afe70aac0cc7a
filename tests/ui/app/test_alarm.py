"""Calls after a delay that cannot get lost, and the timers of Textual that can."""

import ast
import asyncio
import time
from collections.abc import Iterator
from itertools import count

import pytest
from textual import _time as textual_time
from textual.app import ComposeResult
from textual.widgets import Static

from harness.ui.app.alarm import Alarm
from harness.ui.app.terminal_app import TerminalApp
from tests.ui.program import ROOT

LIMIT_S = 30.0


class App(TerminalApp):
    """Nothing but a line."""

    def compose(self) -> ComposeResult:
        yield Static("a line")


@pytest.mark.anyio
async def test_an_app_loses_neither_an_alarm_nor_a_timer_of_textual(monkeypatch: pytest.MonkeyPatch) -> None:
    app = App()
    async with app.run_test():
        looks = count()
        late = lambda: time.monotonic() + 10 * min(next(looks), 6)  # noqa: E731
        monkeypatch.setattr(textual_time, "get_time", late)  # ten seconds pass between two looks at the clock
        rung, resized = asyncio.Event(), asyncio.Event()
        Alarm(app, rung.set).set(0.01)
        app.set_timer(0.01, resized.set)
        async with asyncio.timeout(LIMIT_S):
            await rung.wait()
            await resized.wait()
        assert next(looks) > 1


@pytest.mark.anyio
async def test_an_alarm_rings_once_at_the_last_time_it_was_set_and_not_when_stopped() -> None:
    app = App()
    async with app.run_test():
        rings, done = list[str](), asyncio.Event()
        once, stopped = Alarm(app, lambda: rings.append("once")), Alarm(app, lambda: rings.append("stopped"))
        for delay in (0.01, 0.02, 0.03):
            once.set(delay)
            stopped.set(delay)
        stopped.stop()
        Alarm(app, done.set).set(0.1)
        async with asyncio.timeout(LIMIT_S):
            await done.wait()
        assert rings == ["once"]


@pytest.mark.anyio
async def test_what_is_expected_rings_soon_only_where_nothing_is_set_or_the_ring_is_overdue() -> None:
    app, now = App(), [100.0]
    async with app.run_test():
        rung = asyncio.Event()
        alarm = Alarm(app, rung.set, clock=lambda: now[0])
        async with asyncio.timeout(LIMIT_S):
            alarm.expect(0.01)
            await rung.wait()
            rung.clear()
            alarm.set(60.0)
            alarm.expect(0.01)
            await asyncio.sleep(0.1)
            assert not rung.is_set(), "it was set for later"
            now[0] += 120.0
            alarm.expect(60.0)
            await rung.wait()


def textual_timers(source: str) -> Iterator[int]:
    """The lines that set a timer of Textual, which can get lost."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            inherited = isinstance(node.func.value, ast.Call)  # super().set_timer(…)
            if node.func.attr in ("set_timer", "set_interval", "delay_update") and not inherited:
                yield node.lineno


def test_the_program_sets_alarms_instead_of_timers_of_textual() -> None:
    files = [*(ROOT / "harness").rglob("*.py"), *(ROOT / "chapters").rglob("*.py")]
    found = {str(file): [*textual_timers(text)] for file in files if "set_" in (text := file.read_text())}
    assert found
    assert not any(found.values()), found
