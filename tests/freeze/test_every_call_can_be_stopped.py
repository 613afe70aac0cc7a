"""Whatever a call waits for: the user can stop it, and the program ends, in seconds and with nothing left behind."""

import asyncio
import signal
import time
from pathlib import Path

import pytest

from tests.freeze.hanging import HANGS, SCREEN, Hang, scene
from tests.ui.processes import until
from tests.ui.program import LIMIT_S, start
from tests.ui.terminals import Terminal

pytestmark = pytest.mark.anyio

BOUND_S = 30.0
"""A process that ignores TERM has three seconds until it is killed; the rest is for a busy machine. Hangs never end."""
ESC, CTRL_C = "\x1b", "\x03"
EVERY_DAY = {
    *("connect", "first event", "retry wait", "summary", "subagent", "admission", "search of another program"),
    *("command that prints endlessly", "hook before a tool", "hook at the end"),
}
"""Calls stopped by a signal in the short run: one for each kind of wait."""
ON_SCREEN = {"between events", "command without an end", "git of a checkpoint", "permission"}
"""Calls stopped by Esc in the short run."""


def rows(every_day: set[str], *, attended: bool) -> list[object]:
    hangs = [one for one in HANGS if not (one.unattended if attended else one.attended)]
    return [pytest.param(one, id=one.name, marks=() if one.name in every_day else pytest.mark.stories) for one in hangs]


def check(began: float) -> None:
    assert time.monotonic() - began < BOUND_S


@pytest.mark.parametrize("number", [pytest.param(signal.SIGINT, marks=pytest.mark.stories), signal.SIGTERM])
@pytest.mark.parametrize("hang", rows(EVERY_DAY, attended=False))
async def test_a_signal_ends_the_program(tmp_path: Path, hang: Hang, number: signal.Signals) -> None:
    with scene(hang, tmp_path) as here:
        process = await start(here.place, "-p", here.typed, *here.flags, env=here.variables)
        process.stdin.close()
        try:
            await here.hangs()
            began = time.monotonic()
            process.send_signal(number)
            async with asyncio.timeout(LIMIT_S):
                assert await process.wait() == 128 + number
        finally:
            process.kill()
        check(began)
        assert here.trace.left(within_s=20) == []
        assert "TurnEnded" in here.events


@pytest.mark.grid(2)
@pytest.mark.parametrize("hang", rows(ON_SCREEN, attended=True))
async def test_esc_ends_the_turn_and_a_signal_the_program(tmp_path: Path, hang: Hang) -> None:
    with scene(hang, tmp_path) as here:
        async with Terminal(here.place, *here.flags, environment=here.variables | SCREEN) as terminal:
            await terminal.sees("asks nothing" if "--yolo" in here.flags else "asks first")
            terminal.type(f"{here.typed}\r")
            await here.hangs()
            began = time.monotonic()
            terminal.type(ESC)
            await until(lambda: hang.over in here.events)
            check(began)
            began = time.monotonic()
            terminal.send(signal.SIGTERM)
            assert await terminal.ends() == 143
            check(began)
        assert here.trace.left(within_s=20) == []


@pytest.mark.parametrize("hang", rows({"command of the user"}, attended=True))
async def test_ctrl_c_ends_the_turn_in_lines_and_a_signal_the_program(tmp_path: Path, hang: Hang) -> None:
    with scene(hang, tmp_path) as here:
        async with Terminal(here.place, *here.flags, environment=here.variables) as terminal:
            await terminal.sees("Ctrl-D quits.")
            terminal.type(f"{here.typed}\r")
            await here.hangs()
            began = time.monotonic()
            terminal.type(CTRL_C)
            await until(lambda: hang.over in here.events)
            check(began)
            await terminal.sees("> ")
            await terminal.waits()
            began = time.monotonic()
            terminal.send(signal.SIGTERM)
            assert await terminal.ends() == 143
            check(began)
        assert here.trace.left(within_s=20) == []
