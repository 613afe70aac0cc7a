"""A program that starts commands and waits to be killed. Prints a line once all are up.

    python -m tests.processes.doomed FOLDER LINE...

A line that begins with `keep ` is handed over, one that begins with `left ` has its leader exit, and `fork`
leaves a copy of the program that lives on.
"""

import asyncio
import os
import signal
import sys
from functools import partial
from pathlib import Path

from harness.processes import Processes
from tests.processes.traces import until


async def main(folder: Path, *lines: str) -> None:
    processes = Processes()
    for number, line in enumerate(lines):
        if line == "fork":
            if os.fork() == 0:
                signal.pause()
            continue
        how, _, rest = line.partition(" ")
        output = folder / f"{number}.txt"
        shown = rest if how in ("keep", "left") else line
        child = await processes.start(("bash", "-c", shown), cwd=folder, environment=os.environ, output=output)
        await until(partial(_is_up, output))
        if how == "keep":
            child.hand_over()
        if how == "left":
            await child.wait()
    begun = processes.counts.started
    running = asyncio.create_task(
        processes.run(("bash", "-c", "sleep 60"), cwd=folder, environment=os.environ, sink=bytearray().extend)
    )
    await until(lambda: processes.counts.started == begun + 1)
    print(*(child.pid for child in processes.children), flush=True)
    await running


def _is_up(output: Path) -> bool:
    return b"up" in output.read_bytes()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), *sys.argv[2:]))
