"""A benchmark of several parts on the command line: which are measured, on what machine, and what they found."""

import argparse
import asyncio
import os
import platform
from collections.abc import Awaitable, Callable, Iterable, Mapping

from benchmarks.figures import Figure, show
from benchmarks.processes import CommandFailed

Parts = Mapping[str, tuple[str, Callable[[], Awaitable[Iterable[Figure | str]]]]]
"""By name: a description of the measurement, and its function."""


def run_parts(program: str, description: str, parts: Parts) -> int:
    """Measure the parts that the command line asks for and print a table of each.

    Exit code 1 when a part could not be measured; SystemExit when no part is called so.
    """
    parser = argparse.ArgumentParser(prog=f"python -m {program}", description=description.splitlines()[0])
    parser.add_argument("words", nargs="*", help=f"only parts whose name holds one of these: {', '.join(parts)}")
    words = parser.parse_args().words
    names = [name for name in parts if not words or any(word in name for word in words)]
    if not names:
        parser.error(f"no part is called so; there are {', '.join(parts)}")
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    print(
        f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors, load {load}, "
        f"Python {platform.python_version()}"
    )
    return 0 if asyncio.run(_measured(names, parts)) else 1


async def _measured(names: Iterable[str], parts: Parts) -> bool:
    whole = True
    for name in names:
        title, measure = parts[name]
        try:
            show(f"{name}: {title}", await measure())
        except CommandFailed as error:
            print(f"  could not be measured: {error}")
            whole = False
    return whole
