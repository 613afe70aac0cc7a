"""Measure the dispatch layer beside four breakers from PyPI in the same run.

    pip install pybreaker circuitbreaker aiobreaker purgatory
    python -m benchmarks.breakers

One call through a closed breaker (ours: decide and record), one refusal of an open one, and bytes per tool. The bar
is the fastest of the peers that are installed.
"""

import asyncio
import gc
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from timeit import Timer

from benchmarks.breaker_peers import Subject, ours, peers, registry_of, work
from benchmarks.figures import Figure, show
from harness.engine.build.agent import core_of
from harness.engine.build.options import AgentOptions
from harness.engine.tools.calls import ToolCalls
from harness.engine.tools.dispatch import ToolDispatcher
from harness.events import ToolCall
from harness.policies.breakers.registry import BreakerRegistry
from harness.settings import load
from harness.tools import Effect, Toolbox, tool

CALLS = 20_000
ROUNDS = 15
TOOLS = 1_000


def microseconds(call: Callable[[], object]) -> float:
    """The best of some rounds, in microseconds a call: the one that was disturbed least."""
    return min(Timer(call).repeat(ROUNDS, CALLS)) / CALLS * 1e6


def bytes_each(make: Callable[[], object], count: int) -> float:
    """Memory that what `make` returns holds, divided by `count`."""
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    kept = make()
    gc.collect()
    held = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    del kept
    return held / count


def figures() -> Iterator[Figure | str]:
    """Ours beside the fastest peer, then each peer."""
    found = list(peers())
    there = [peer for peer in found if isinstance(peer, Subject)]
    for name in (peer for peer in found if isinstance(peer, str)):
        yield f"{name} is not installed and was left out"
    subject = ours()
    calls = {one.name: microseconds(one.call) for one in (subject, *there)}
    refusals = {one.name: microseconds(one.refuse) for one in (subject, *there)}
    sizes = {one.name: bytes_each(lambda: [one.make(number) for number in range(TOOLS)], TOOLS) for one in there}  # noqa: B023 (called at once)
    names = [one.name for one in there]
    mine = calls[subject.name], refusals[subject.name]
    yield Figure("closed: decide and record", mine[0], "µs", _least(calls, names), at_most=1.0)
    yield Figure("open: refusal", mine[1], "µs", _least(refusals, names), at_most=1.0)
    yield Figure("bytes per tool", bytes_each(lambda: registry_of(TOOLS), TOOLS), "bytes", 1024.0, at_most=1.0)
    yield Figure("eight calls of 0.1 s side by side", asyncio.run(side_by_side()), "s", 0.1, at_most=2.0)
    yield Figure("the function alone", microseconds(work), "µs")
    for name in names:
        yield f"{name:<16} closed {calls[name]:.2f} µs   open {refusals[name]:.2f} µs   {sizes[name]:,.0f} bytes"


async def side_by_side() -> float:
    """Seconds for eight calls of 0.1 s that one reply asks for, through dispatch, permission and run."""

    @tool(effect=Effect.READ, parallel=True)
    async def wait(number: int) -> str:
        "Wait for a tenth of a second."
        await asyncio.sleep(0.1)
        return str(number)

    with TemporaryDirectory() as folder:
        here = Path(folder)
        settings = load(
            {"workspace": here, "state_dir": here, "practice": True, "permission_mode": "yolo"}, {}
        ).settings
        core = core_of(settings, AgentOptions(outputs=here))
        toolbox = Toolbox([wait])
        dispatcher = ToolDispatcher(core, BreakerRegistry(["wait"]), toolbox)
        calls = ToolCalls(core, toolbox, dispatcher, None, lambda call, tool: None)
        asked = [ToolCall(f"call_{number}", "wait", {"number": number}) for number in range(8)]
        began = time.perf_counter()
        await calls.answer(asked, [], asyncio.Event())
        return time.perf_counter() - began


def _least(values: dict[str, float], names: list[str]) -> float | None:
    return min((values[name] for name in names), default=None)


def main() -> int:
    """Print the table; exit code 1 when a bar is missed."""
    found = list(figures())
    show(f"Breakers, Python {sys.version.split()[0]}", found)
    return int(any(one.holds is False for one in found if isinstance(one, Figure)))


if __name__ == "__main__":
    sys.exit(main())
