"""Real processes on one file: the limit holds at every moment, and what a dead one held is free soon."""

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from threading import Event

import pytest

from tests.slots.crowd import Line, Log, crowd, kill, moments_of
from tests.whole import WHOLE

PROCESSES = 64 if WHOLE else 12
LIMIT = 5 if WHOLE else 3


def wait_for(log: Log, wanted: Callable[[Line], bool], seconds: float = 10.0) -> Line:
    """The first such line, as soon as it is there."""
    until, pause = time.monotonic() + seconds, Event()
    while time.monotonic() < until:
        for line in filter(wanted, log.lines()):
            return line
        pause.wait(0.02)
    raise TimeoutError(f"{len(log.lines())} lines, and not this one")


@pytest.mark.stories
def test_a_crowd_keeps_to_the_limit_also_when_a_third_is_killed(tmp_path: Path) -> None:
    seconds = 12.0 if WHOLE else 2.0
    with crowd(tmp_path, PROCESSES, LIMIT, seconds, hold_s=0.2) as (pids, log):
        began = wait_for(log, lambda line: line.what == "ended").at
        wait_for(log, lambda line: line.at > began + seconds / 4)
        holding = moments_of(log.lines()).running[-1][1]
        doomed = sorted(pids, key=lambda pid: pid not in holding)[: PROCESSES // 3]
        for pid in doomed:
            kill(pid, log)
    found = moments_of(log.lines())
    assert found.most == LIMIT
    assert set(pids) - set(doomed) <= set(found.turns)
    died = max(line.at for line in log.lines() if line.what == "killed")
    full_again = next(at for at, running in found.running if at > died and len(running) == LIMIT)
    assert full_again - died < 2.0  # the lease would have taken ten


def test_who_is_stopped_loses_its_slot_with_its_lease_and_learns_it_when_it_continues(tmp_path: Path) -> None:
    with crowd(tmp_path, 2, 1, 1.0, hold_s=1.8, lease_s=1.0) as (_, log):
        holder = wait_for(log, lambda line: line.what == "started")
        os.kill(holder.pid, signal.SIGSTOP)
        other = wait_for(log, lambda line: line.what == "started" and line.pid != holder.pid)
        os.kill(holder.pid, signal.SIGCONT)
        wait_for(log, lambda line: line.what == "lost" and line.pid == holder.pid)
    assert 0.5 < other.at - holder.at < 2.0
