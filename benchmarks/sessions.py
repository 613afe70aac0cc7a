"""64 real programs share one limit: their throughput, and the time until killed ones hold no slots.

    python -m benchmarks.sessions

Each program is the real command with the practice model, which gives a part each to two agents; an agent runs a command
that takes a second. All ask at the same time. Then a third of the programs is killed, each while its agents are at
work. Who worked when is read from a log that the commands themselves write, not from ours.
"""

import asyncio
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from benchmarks.figures import Figure
from benchmarks.parts import Parts, run_parts
from benchmarks.processes import CommandFailed
from harness.slots.client import LEASE_S
from tests.slots.sessions import AGENTS, LIMIT, check, kill_holders, sessions

PROGRAMS = 64
HOLD_S = 1.0
PATIENCE_S = 600.0


def of_many(programs: int, doomed: int) -> list[Figure | str]:
    """Let so many programs work, and kill some. Raises CommandFailed when one did not do what it should."""
    with tempfile.TemporaryDirectory() as place:
        began = time.time()
        try:
            with sessions(Path(place).resolve(), programs, HOLD_S) as here:
                up = here.let_go()
                killed = kill_holders(here, doomed)
                killed_at = time.time()
                moments = check(here, here.ended(PATIENCE_S), killed.programs)
                steps = here.steps
        except (AssertionError, RuntimeError, TimeoutError) as error:
            raise CommandFailed(str(error)) from error
    working = [moment for moment in moments if moment.at > up]
    last = next(moment.at for moment in reversed(working) if moment.work)
    over = last - killed_at
    done = (programs - doomed) * AGENTS
    most = max(len(moment.work) for moment in working)
    return [
        f"most at work at any moment, by the log of the commands: {most} of {LIMIT}",
        f"killed while their agents worked: {doomed}, in {len(killed.until_one)} rounds; all others gave their answers",
        Figure("until all programs were up", up - began, "s"),
        Figure(f"from the last kill until the last of {done} agents had ended", over, "s"),
        Figure("agents a second", done / over, "/s", note=f"of {LIMIT / HOLD_S:g} if a slot were never empty"),
        Figure("steps of the store a second", steps / (last - up), "/s"),
        _each("until a slot of the killed is taken again", killed.until_one),
        _each("until all of them are", killed.until_all),
        _each("until no process of the killed is left", killed.until_gone),
    ]


def _each(name: str, seconds: Sequence[float]) -> Figure:
    return Figure(name, median(seconds), "s", limit=LEASE_S, note=f"(slowest {max(seconds):.2f} s)")


async def everything() -> list[Figure | str]:
    """The figures."""
    return await asyncio.to_thread(of_many, PROGRAMS, PROGRAMS // 3)


PARTS: Parts = {"many": (f"{PROGRAMS} programs, {AGENTS} agents each, at most {LIMIT} at work", everything)}

if __name__ == "__main__":
    sys.exit(run_parts("benchmarks.sessions", str(__doc__), PARTS))
