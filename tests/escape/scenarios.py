"""The streams of resilience 3.4: ten true loops and nine pieces of legitimate work, with what a prototype measured."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from harness.escape.observations import Poll
from tests.escape.building import Did

Step = tuple[Did, ...]


@dataclass(frozen=True, slots=True)
class Scenario:
    """A stream of steps, and whether a loop is in it."""

    id: str
    steps: tuple[Step, ...]
    found_by: int = 0
    """For a loop the step, from 1, at which it must have been found; 0: legitimate work."""


def _each(count: int, *rounds: Callable[[int], Did]) -> tuple[Step, ...]:
    return tuple((one(number),) for number in range(count) for one in rounds)


def _circle(period: int, steps: int) -> tuple[Step, ...]:
    return tuple((Did("read", f"f_{step % period}", f"c_{step % period}"),) for step in range(steps))


JOB = Poll(every_s=1.0, total_s=600.0)


def loops() -> Iterator[Scenario]:
    """T1 to T10."""
    yield Scenario("T1", _circle(1, 60), 4)
    yield Scenario("T2", _circle(2, 60), 6)
    yield Scenario("T3", _circle(3, 60), 9)
    yield Scenario("T4", _circle(7, 90), 21)
    yield Scenario("T5", _circle(12, 120), 36)
    yield Scenario("T6", _each(60, lambda i: Did("search", f"q_{i}", "401 unauthorized", ok=False)), 4)
    yield Scenario("T7", _each(60, lambda i: Did("read", "f", "c")), 4)  # the thought is no part of a call
    yield Scenario("T8", _each(60, lambda i: Did("status", "x", f"request {i:04x}a9 at 12:{i:02}:07 done")), 4)
    yield Scenario("T9", _each(30, lambda i: Did("grep", "x", "none"), lambda i: Did("read", f"f_{i}", f"c_{i}")), 24)
    yield Scenario("T10", _each(60, lambda i: Did("read", "gone", "ENOENT", ok=False)), 3)


def work() -> Iterator[Scenario]:
    """L1 to L9."""
    yield Scenario("L1", _each(20, lambda i: Did("list", f"cursor_{i}", f"page_{i}")))
    yield Scenario("L2", _each(30, lambda i: Did("status", "job", f"{i} %")))
    running = _each(10, lambda i: Did("status", "job", "running", poll=JOB, after=5.0))
    yield Scenario("L3", (*running, (Did("status", "job", "done", poll=JOB, after=5.0),)))
    yield Scenario("L4", _each(10, _edit, lambda i: Did("pytest", "", f"{10 - i} failed", ok=False)))
    yield Scenario("L5", _each(8, _edit, lambda i: Did("pytest", "", "1 failed", ok=False)))
    yield Scenario("L6", _each(50, lambda i: Did("read_output", "s", f"chunk_{i}")))
    renamed = (lambda i: Did("grep", f"f_{i}", f"m_{i}"), lambda i: Did("mv", f"f_{i}", "", mutates=True), _edit)
    yield Scenario("L7", _each(10, *renamed))
    checks = (lambda i: Did("git status", "", f"M f_{i}"), lambda i: Did("lint", "", "clean"))
    yield Scenario("L8", _each(8, _edit, *checks))
    yield Scenario("L9", (*_each(3, lambda i: Did("read", "f", "c")), (Did("edit", "f", "", mutates=True),)))


def _edit(number: int) -> Did:
    return Did("edit", f"e_{number}", "done", mutates=True)
