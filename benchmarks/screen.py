"""Measure the screen: first paint, memory, a long history, a busy turn and rest, beside others in the same run.

python -m benchmarks.screen             everything (about six minutes)
python -m benchmarks.screen paint busy  parts whose name holds one of these words

Every program runs in a pty of 120×40. Figures of one run can be compared with each other, not with those of another
machine or day. Bars are shown, and nothing fails when one is missed.
"""

import argparse
import asyncio
import os
import platform
import sys
from collections.abc import Awaitable, Callable, Iterable

from benchmarks.figures import Figure, show
from benchmarks.processes import CommandFailed
from benchmarks.screen_paint import first_paint, memory
from benchmarks.screen_parts import busy, history, idle

PARTS: dict[str, tuple[str, Callable[[], Awaitable[Iterable[Figure | str]]]]] = {
    "paint": ("From the start to the first frame", first_paint),
    "memory": ("Memory once the app has settled", memory),
    "history": ("A conversation of 5,000 messages", history),
    "busy": ("50 events of tools and 60 pieces of prose in every second", busy),
    "idle": ("Nothing happens for ten seconds", idle),
}


async def _measure(names: Iterable[str]) -> bool:
    whole = True
    for name in names:
        title, measure = PARTS[name]
        try:
            show(f"{name}: {title}", await measure())
        except CommandFailed as error:
            print(f"  could not be measured: {error}")
            whole = False
    return whole


def main() -> int:
    """Print the table; exit code 1 when a part could not be measured."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.screen", description=__doc__.splitlines()[0])
    parser.add_argument("words", nargs="*", help=f"only parts whose name holds one of these: {', '.join(PARTS)}")
    words = parser.parse_args().words
    names = [name for name in PARTS if not words or any(word in name for word in words)]
    if not names:
        parser.error(f"no part is called so; there are {', '.join(PARTS)}")
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    print(
        f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors, load {load}, "
        f"Python {platform.python_version()}"
    )
    return 0 if asyncio.run(_measure(names)) else 1


if __name__ == "__main__":
    sys.exit(main())
