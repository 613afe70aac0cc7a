"""Measure the loop detectors: cost of a step however long the history, the worst event, and memory.

    python -m benchmarks.loops

Beside them our reading of the seed's detector, whose every check looks at its whole history. The bars
are 15 µs for the worst event of one projection and 64 KB for all detectors of one agent.
"""

import gc
import math
import random
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, islice

from benchmarks.figures import Figure, show
from benchmarks.loop_reference import Seed
from harness.events import Projection
from harness.policies.loops.detector_set import Detectors
from harness.policies.loops.digests import digest
from harness.policies.loops.limits import LoopThresholds
from harness.policies.loops.observations import ObservedCall, Poll, Visit
from harness.policies.loops.repeat_detector import CallMark, RepeatStream, wanted_runs

HISTORIES = (100, 1_000, 10_000, 1_000_000)
SEED_HISTORIES = (100, 300, 1_000)
SAMPLE = 1_000
"""Steps that are timed after each history."""
ROUNDS = 25
WORST_US, MOST_BYTES = 15.0, 64 * 1024


def figures() -> Iterator[Figure | str]:
    """Cost by history, its growth beside the seed's, the worst event by stream, memory."""
    ours = {length: step_cost(length) for length in HISTORIES}
    seeds = {length: seed_cost(length) for length in SEED_HISTORIES}
    for length in HISTORIES:
        seed = seeds.get(length)
        yield Figure(
            f"a step after {length:,}", ours[length], "µs", seed and seed[0], at_most=None if seed is None else 1.0
        )
    theirs = exponent({length: cost for length, (cost, _) in seeds.items()})
    yield f"cost grows with the history to the power of {exponent(ours):.2f}; the seed's check to that of {theirs:.2f}"
    for length, (cost, looked_at) in seeds.items():
        yield f"one check of the seed at {length:>5,}: {cost / 1000:>9,.1f} ms, {looked_at:>11,} events digested"
    for name, symbols in streams().items():
        yield Figure(f"worst event, {name}", worst_event(symbols), "µs", limit=WORST_US)
    yield Figure("naming a loop of 64 steps, once", naming(), "µs")
    yield Figure("detectors, one call a reply, none repeats", held(one_by_one) / 1024, "KB", limit=MOST_BYTES / 1024)
    yield Figure("detectors, three calls a reply, polls", held(all_at_once) / 1024, "KB")


# ── cost by history ─────────────────────────────────────────────────────────────────────────────


def step_cost(history: int) -> float:
    """Microseconds of one step of one call with its verdicts, after so many others that hardly repeat."""
    detectors, calls = Detectors(), some_calls(997)
    for number in range(history):
        detectors.observe_step((calls[number * number % 997],))
    best = math.inf
    for _ in range(ROUNDS):
        began = time.perf_counter()
        for number in range(SAMPLE):
            detectors.observe_step((calls[number * number % 997],))
            detectors.verdicts()
        best = min(best, time.perf_counter() - began)
    return best / SAMPLE * 1e6


def seed_cost(history: int) -> tuple[float, int]:
    """Microseconds of one check where nothing repeats, and the events that it digests."""
    seed = Seed([f"TOOL_CALL:tool {number}" for number in range(history)])
    began = time.perf_counter()
    seed.found()
    return (time.perf_counter() - began) * 1e6, seed.looked_at


def exponent(costs: dict[int, float]) -> float:
    """The slope of a line through the logarithms of length and cost."""
    points = [(math.log(length), math.log(cost)) for length, cost in costs.items()]
    middle = [sum(values) / len(points) for values in zip(*points, strict=True)]
    rise = math.fsum((x - middle[0]) * (y - middle[1]) for x, y in points)
    return rise / math.fsum((x - middle[0]) ** 2 for x, _ in points)


def some_calls(count: int) -> Sequence[ObservedCall]:
    """Calls that all differ."""
    return [a_call(number) for number in range(count)]


def a_call(number: int, *, ok: bool = True, poll: Poll | None = None) -> ObservedCall:
    """One of them."""
    action, result = digest("action", str(number)), digest("result", str(number))
    error = "" if ok else digest("error", str(number))
    return ObservedCall(
        *(number, number, number * 5.0, number * 5.0, f"call_{number}", "read_file", action, result, ok),
        error=error,
        poll=poll,
        summary=f"read_file path/of/some/length/{number}.py",
    )


# ── the worst event ─────────────────────────────────────────────────────────────────────────────


def streams() -> dict[str, list[str]]:
    """Streams that a detector may find hard, as symbols."""
    generator = random.Random("loops")
    blocks = chain.from_iterable(["a"] * 63 + [f"new {number}"] for number in range(9))
    return {
        "all symbols new": [str(number) for number in range(500)],
        "random, 30 symbols": [str(generator.randrange(30)) for _ in range(500)],
        "random, 2 symbols": [generator.choice("ab") for _ in range(500)],
        "the same symbol": ["a"] * 500,
        "period 7": [str(number % 7) for number in range(500)],
        "period 64": [str(number % 64) for number in range(500)],
        "63 times the same, then a new one": list(islice(blocks, 500)),
    }


def worst_event(symbols: Sequence[str]) -> float:
    """Microseconds of the dearest event of one projection with its verdict; each event is timed as its best replay."""
    limits = LoopThresholds()
    wanted = wanted_runs(limits.longest_period, copies=limits.copies, copies_cycle=limits.copies_cycle)
    named = {symbol: (digest(symbol), (CallMark(symbol, "tool"),)) for symbol in symbols}
    best = [math.inf] * len(symbols)
    gc.disable()
    for _ in range(ROUNDS):
        stream = RepeatStream(Projection.INTERACTION, limits.longest_period)
        for place, symbol in enumerate(symbols):
            name, mark = named[symbol]
            began = time.perf_counter()
            stream.push(name, mark)
            stream.tail.shortest(wanted)
            best[place] = min(best[place], time.perf_counter() - began)
    gc.enable()
    return max(best) * 1e6


def naming() -> float:
    """Microseconds for the signature and the summary of the longest loop, which are made when it is found."""
    limits = LoopThresholds()
    wanted = wanted_runs(limits.longest_period, copies=limits.copies, copies_cycle=limits.copies_cycle)
    best = math.inf
    for _ in range(ROUNDS):
        stream = RepeatStream(Projection.INTERACTION, limits.longest_period)
        for number in range(3 * 64):
            stream.push(digest(str(number % 64)), (CallMark(f"read_file {number}", "read_file"),))
        began = time.perf_counter()
        stream.loop(wanted)
        best = min(best, time.perf_counter() - began)
    return best * 1e6


# ── memory ──────────────────────────────────────────────────────────────────────────────────────


def held(fill: Callable[[Detectors], None]) -> int:
    """Bytes that the detectors hold after they were filled."""
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    detectors = Detectors()
    fill(detectors)
    gc.collect()
    bytes_held = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    return bytes_held


def one_by_one(detectors: Detectors) -> None:
    """Failing calls, places and states, all of them new."""
    for number in range(1_000):
        detectors.observe_step((a_call(number, ok=False),))
        detectors.observe_visit(a_visit(number))


def all_at_once(detectors: Detectors) -> None:
    """The same with two calls and a poll in each reply, in cycles of 64 replies."""
    for number in range(1_000):
        pair = (a_call(number % 64, ok=False), a_call(number % 64 + 64, ok=False))
        detectors.observe_step((*pair, a_call(-number, ok=False, poll=Poll())))
        detectors.observe_visit(a_visit(number))
        detectors.verdicts()


def a_visit(number: int) -> Visit:
    """One that differs from the others."""
    return Visit(number, number, 0.0, 0.0, digest("node", str(number)), digest("state", str(number)))


def main() -> int:
    """Print the table; exit code 1 when a bar is missed."""
    found = list(figures())
    show(f"Loop detectors, Python {sys.version.split()[0]}", found)
    return int(any(one.holds is False for one in found if isinstance(one, Figure)))


if __name__ == "__main__":
    sys.exit(main())
