"""Processes of workers on a database of their own, and what their tasks did outside."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from harness.fleet.database import FleetDatabase
from harness.fleet.schema import FleetError
from harness.fleet.tasks import FleetTasks
from harness.policies.fleet.task import ENDED, FleetDraft, FleetState, FleetTask
from tests.fleet.postgres import Server, new_scope
from tests.ui.program import ROOT

LIMIT_S = 120.0


@dataclass
class Fleet:
    """Workers without sessions, and their store."""

    url: str
    folder: Path
    scope: str = field(default_factory=new_scope)
    lease_s: float = 2.0
    longest_s: float = 0.1
    """Of a step of a task."""
    processes: dict[str, "subprocess.Popen[bytes]"] = field(default_factory=dict)

    @property
    def tasks(self) -> FleetTasks:
        return FleetTasks(FleetDatabase(self.url), scope=self.scope)

    def submit(self, count: int) -> list[str]:
        with closing(self.tasks) as tasks:
            return [tasks.submit(FleetDraft(f"task {number}")).id for number in range(count)]

    def start(self, name: str, machine: str = "m1", concurrency: int = 4) -> "subprocess.Popen[bytes]":
        arguments = (name, machine, concurrency, self.lease_s, self.longest_s, self.folder / "effects", self.scope)
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.worker.effects_worker", *map(str, arguments)],
            env={**os.environ, "HARNESS_FLEET_URL": self.url, "PYTHONPATH": str(ROOT)},
            stdout=(self.folder / f"{name}.out").open("wb"),
            stderr=subprocess.STDOUT,
        )
        self.processes[name] = process
        return process

    def said(self, name: str) -> str:
        return (self.folder / f"{name}.out").read_text()

    def until_said(self, name: str, text: str) -> None:
        until = time.monotonic() + LIMIT_S
        while text not in self.said(name):
            assert time.monotonic() < until, self.said(name)
            time.sleep(0.05)

    def effects(self) -> Counter[tuple[str, str]]:
        """How often each effect of each task happened."""
        file = self.folder / "effects"
        lines = file.read_text().splitlines() if file.exists() else []
        return Counter((line.split()[0], line.split()[1]) for line in lines)

    def all(self) -> tuple[FleetTask, ...]:
        with closing(self.tasks) as tasks:
            return tasks.all()

    def until(self, holds: Callable[[tuple[FleetTask, ...]], bool], limit_s: float = LIMIT_S) -> tuple[FleetTask, ...]:
        """The tasks, once this holds of them."""
        until = time.monotonic() + limit_s
        with closing(self.tasks) as tasks:
            while time.monotonic() < until:
                try:
                    if holds(found := tasks.all()):
                        return found
                except FleetError:
                    pass  # the store is away on purpose
                time.sleep(0.05)
            raise AssertionError(f"not within {limit_s} s: {Counter(task.state for task in tasks.all())}")

    def unknown(self) -> set[tuple[str, str]]:
        """The effects that the store names as unknown."""
        with closing(self.tasks) as tasks:
            return {
                (task.id, effect.text.split()[1])
                for task in tasks.all()
                for effect in tasks.effects(task.id)
                if effect.outcome is None
            }

    def end(self) -> None:
        for process in self.processes.values():
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.kill()
            process.wait()


def ended(tasks: tuple[FleetTask, ...]) -> bool:
    return all(task.state in ENDED for task in tasks)


def done(tasks: tuple[FleetTask, ...]) -> int:
    return sum(task.state is FleetState.DONE for task in tasks)


def storm(fleet: Fleet, server: Server, count: int, workers: int, concurrency: int) -> dict[str, object]:
    """Tasks of workers of which a third is killed and a third stopped for longer than the lease, on a store that is
    killed hard and restarted; returns what became of them."""
    ids, began = fleet.submit(count), time.monotonic()
    names = [f"w{number}" for number in range(workers)]
    for number, name in enumerate(names):
        fleet.start(name, f"m{number % 4}", concurrency)
    fleet.until(lambda tasks: done(tasks) >= count // 10)
    third = max(1, workers // 3)
    for name in names[:third]:
        fleet.processes[name].kill()
    for name in names[third : 2 * third]:
        fleet.processes[name].send_signal(signal.SIGSTOP)
    stopped = time.monotonic()
    fleet.until(lambda tasks: done(tasks) >= count // 4)
    server.kill()
    server.start()
    for name in names[:third]:
        fleet.start(f"{name}-again", "m9", concurrency)
    time.sleep(max(0.0, stopped + 2.2 * fleet.lease_s - time.monotonic()))
    for name in names[third : 2 * third]:
        fleet.processes[name].send_signal(signal.SIGCONT)
    tasks = fleet.until(ended, 900.0)
    effects, unknown = fleet.effects(), fleet.unknown()
    every = {(id, str(number)) for id in ids for number in range(1, 4)}
    return {
        "tasks": count,
        "workers": workers,
        "seconds": round(time.monotonic() - began, 1),
        "lost": [task.id for task in tasks if task.state is not FleetState.DONE],
        "twice": [key for key, times in effects.items() if times > 1],
        "unknown": len(unknown),
        "missing": len(every - set(effects)),
        "missing and not named unknown": sorted(every - set(effects) - unknown),
        "started again": sum(task.fence > 1 for task in tasks),
    }


if __name__ == "__main__":
    import tempfile

    given = [int(argument) for argument in sys.argv[1:]]
    server = Server.made()
    server.initialize()
    with tempfile.TemporaryDirectory() as folder:
        fleet = Fleet(server.url, Path(folder), lease_s=5.0, longest_s=1.2)
        try:
            print(json.dumps(storm(fleet, server, *given), indent=1))
        finally:
            fleet.end()
            server.remove()
