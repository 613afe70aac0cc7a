"""What the sandbox costs a command: the three profiles in turns, in one run, so that what else the machine does meets
all of them.

    python -m benchmarks.sandbox [--rounds 40] [FOLDER]

FOLDER is the workspace; without one it is this repository. `work` includes the way to allowed hosts.
"""

import argparse
import asyncio
import os
import statistics
import time
from collections.abc import Mapping
from pathlib import Path

from harness.processes import Processes
from harness.processes.search_path import own_search_path
from harness.sandbox import Allowance, ProfileName
from harness.sandbox.proxy import CommandNetwork
from harness.sandbox.sandbox import Sandbox


class NoHosts:
    """A gate that lets no command out."""

    local_ports = ()

    async def reach(self, host: str, port: int, *, near: bool) -> str:
        """Refused."""
        return "it is a benchmark"


def no_hosts(environment: Mapping[str, str], caller: object, allowance: Allowance) -> CommandNetwork:
    """The way of a command to no host."""
    return CommandNetwork(NoHosts(), environment)


async def seconds(processes: Processes, profile: ProfileName, folder: Path) -> float:
    """How long a command takes that does nothing."""
    began = time.perf_counter()
    finished = await processes.run(
        ("bash", "-c", ":"), cwd=folder, environment=os.environ, sink=bytearray().extend, profile=profile
    )
    assert finished.exit_code == 0, finished
    return time.perf_counter() - began


async def main(folder: Path, rounds: int) -> None:
    """Measure, and print a table."""
    sandbox = Sandbox(roots=lambda _: (folder,), hosts=no_hosts, search_path=own_search_path(folder))
    processes = Processes(sandbox=sandbox)
    profiles = [one for one in ProfileName if one is not ProfileName.WORK or sandbox.state.level == "full"]
    print(f"sandbox: {sandbox.state.in_words}")
    for profile in profiles:
        print(f"  the first {profile:<5} {await seconds(processes, profile, folder) * 1e3:7.1f} ms")
    taken = [[await seconds(processes, profile, folder) for profile in profiles] for _ in range(rounds)]
    columns = dict(zip(profiles, zip(*taken, strict=True), strict=True))
    for what, pick in (("median", statistics.median), ("least", min)):
        free = pick(columns[ProfileName.FREE])
        for profile, times in columns.items():
            took = pick(times)
            more, ratio = (took - free) * 1e3, took / free
            print(f"  {what:<6} {profile:<5} {took * 1e3:7.1f} ms, {more:5.1f} more than free, {ratio:.1f} times free")
    await processes.aclose()
    await sandbox.aclose()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=Path(__file__).parents[1])
    parser.add_argument("--rounds", type=int, default=40)
    given = parser.parse_args()
    asyncio.run(main(given.folder.resolve(), given.rounds))
