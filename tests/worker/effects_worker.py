"""A worker as a process whose tasks have no session: three effects each, which are lines of a file.

python -m tests.worker.effects_worker NAME MACHINE CONCURRENCY LEASE_S LONGEST_S FILE SCOPE

Delivery, fence, leases and the end are those of `harness fleet work`. A line names task, effect and start. Reads
HARNESS_FLEET_URL.
"""

import asyncio
import os
import random
import signal
import sys
from contextlib import closing
from pathlib import Path

from harness.fleet.database import FleetDatabase
from harness.fleet.fence import Fence
from harness.fleet.tasks import FleetTasks, FleetWorker
from harness.policies.fleet.task import FleetState, TaskOutcome
from harness.ui.signals import handle_signals
from harness.worker import Worker

EFFECTS = 3


async def main(name: str, machine: str, concurrency: int, lease_s: float, longest_s: float, file: Path) -> None:
    tasks = FleetTasks(FleetDatabase(os.environ["HARNESS_FLEET_URL"]), scope=sys.argv[7])

    async def carry_out(fence: Fence, leaving: asyncio.Event) -> TaskOutcome | None:
        known = await fence.waited(lambda: tasks.effects(fence.task.id))
        begun = {effect.text for effect in known}  # also what is unknown is not done again
        for number in range(1, EFFECTS + 1):
            if f"effect {number}" in begun:
                continue
            await asyncio.sleep(random.uniform(longest_s / 3, longest_s))
            if leaving.is_set():
                return None
            async with fence.effect(f"effect {number}"):
                with file.open("a") as lines:
                    lines.write(f"{fence.task.id} {number} {fence.task.fence}\n")
        return TaskOutcome(FleetState.DONE, "done")

    with closing(tasks), handle_signals() as signalled:
        worker = Worker(
            tasks,
            FleetWorker(name, machine, concurrency=concurrency),
            carry_out,
            lambda event: print(event.line, flush=True),
            lease_s=lease_s,
        )
        signalled.interrupts(lambda: worker.leave(signal.Signals(signalled.number).name))
        await worker.run()


if __name__ == "__main__":
    _, name, machine, concurrency, lease, longest, file, _ = sys.argv
    asyncio.run(main(name, machine, int(concurrency), float(lease), float(longest), Path(file)))
