"""The checks of an exercise in a process that is forked and not started; all else is as `run_checks` has it."""

import asyncio
import json
import os
import signal
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import uuid4

from chapters.course.checks.check_program import CheckOrder
from chapters.course.checks.checker import Checked, CheckLimits, Printed, environment, outcome, prepared
from chapters.course.checks.exercises import Exercise
from harness.processes import ProcessResult
from harness.processes.outcome import MARK
from harness.processes.tree import ProcessTree, table
from tests.ui.nursery import MODULE
from tests.ui.warm import Fork, begin

COMMAND = (*MODULE, "chapters.course.checks.check_program")


async def checked_in_a_fork(exercise: Exercise, file: Path, limits: CheckLimits) -> Checked:
    """What `run_checks` says of a learner's file. Raises TimeoutError when all checks together take too long."""
    mark = f"{uuid4().hex}.1"
    with TemporaryDirectory(prefix="harness-check-", ignore_cleanup_errors=True) as scratch:
        folder = Path(scratch)
        order = prepared(exercise, file, folder, limits)
        fork = _begun(order, folder, mark)
        tree = ProcessTree(mark)
        try:
            async with asyncio.timeout(limits.all_s):
                code = await fork.ends()
            tree.take_in(tuple(table()))
            printed = Printed()
            printed.feed((folder / "printed").read_bytes())
            return outcome(exercise, order, ProcessResult(code, left=tree.left_over()), printed)
        finally:
            fork.kill()
            tree.signal(signal.SIGKILL, tree.members)


def _begun(order: CheckOrder, folder: Path, mark: str) -> Fork:
    """The check program, which finds nothing in its input and writes into a file."""
    variables = {**environment(os.environ, folder), MARK: mark}
    with Path(os.devnull).open("rb") as nothing, (folder / "printed").open("wb") as written:
        given = (nothing.fileno(), written.fileno(), written.fileno())
        return begin(folder / "work", (json.dumps(asdict(order)),), variables, given, command=COMMAND)
