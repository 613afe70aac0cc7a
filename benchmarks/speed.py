"""Measure start-up, streams, a long session and the journal, each beside something else in the same run.

python -m benchmarks.speed               everything (about three minutes)
python -m benchmarks.speed start journal parts whose name holds one of these words

Figures of one run can be compared with each other, not with those of another machine or day. Bars are shown,
and nothing fails when one is missed.
"""

import argparse
import asyncio
import os
import platform
import sys
from collections.abc import Awaitable, Callable, Iterable

from benchmarks.appending import journal_rate
from benchmarks.figures import Figure, show
from benchmarks.long_session import long_session
from benchmarks.processes import CommandFailed
from benchmarks.starting import first_request, light_commands
from benchmarks.streams import accumulators

PARTS: dict[str, tuple[str, Callable[[], Awaitable[Iterable[Figure | str]]]]] = {
    "start": ("From the start to the first request (harness -p hi)", first_request),
    "light": ("Commands that need no model", light_commands),
    "accumulator": ("A long reply, put together (processor time)", accumulators),
    "session": ("A session of 10,000 messages, resumed", long_session),
    "journal": ("Writing the journal", journal_rate),
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
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed", description=__doc__.splitlines()[0])
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
