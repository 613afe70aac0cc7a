"""The learner's board: three processes work on forty tasks, and the log of their work is counted."""

import asyncio
import json
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType

from chapters.course import DemoSession
from harness.events import Notice

WORKERS = ("ann", "ben", "cleo")
TASKS = 40
MOST_S = 20.0
"""Seconds that the processes have for all tasks."""


def graph() -> dict[str, dict[str, object]]:
    """Forty tasks; each needs two of those before it, if there are so many."""
    needs = {number: [f"t{number - 2}", f"t{number - 5}"] if number > 5 else [] for number in range(1, TASKS + 1)}
    return {
        f"t{number}": {"needs": needs[number], "priority": number % 3, "state": "open", "owner": ""} for number in needs
    }


async def demo(session: DemoSession, work: ModuleType) -> None:
    """Each prompt is a new board."""
    worker = Path(__file__).parent / "play" / "worker.py"
    async for _ in session.prompts():
        path = session.workspace / "board.json"
        path.write_text(json.dumps(graph()), "utf-8")
        first = ", ".join(work.ready(work.load(path)))
        session.show(Notice("info", f"ready at first: {first or 'nothing'}"))
        log = session.workspace / "log.txt"
        log.write_text("", "utf-8")
        programs = [
            await asyncio.create_subprocess_exec(
                sys.executable, worker, str(work.__file__), path, name, stderr=asyncio.subprocess.PIPE
            )
            for name in WORKERS
        ]
        try:
            async with asyncio.timeout(MOST_S):
                told = await asyncio.gather(*(program.communicate() for program in programs))
        except TimeoutError:
            session.show(Notice("error", f"the board is not done after {MOST_S:g} s"))
            return
        finally:
            for program in programs:
                if program.returncode is None:
                    program.kill()
        for _, error in told:
            if error:
                session.show(Notice("error", error.decode("utf-8", "replace").strip().splitlines()[-1]))
        lines = [line.split(" ", 2) for line in log.read_text("utf-8").splitlines()]
        times = Counter(id for id, _, _ in lines)
        early = sum(when == "too early" for _, _, when in lines)
        twice = sum(count > 1 for count in times.values())
        session.show(Notice("info", f"{len(times)} tasks were done, {twice} of them twice, {early} of them too early"))
