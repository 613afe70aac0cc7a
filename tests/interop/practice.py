"""The practice server as other clients meet it: a process, an address, a log."""

import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.interop.programs import LIMIT_S, confined
from tests.ui.program import ROOT


@dataclass
class Practice:
    """A server that runs."""

    base_url: str
    log: list[str] = field(default_factory=list)
    """One line for each request that is over."""


@contextmanager
def serving(folder: Path) -> Iterator[Practice]:
    """Serve until the end of the block."""
    process = subprocess.Popen(
        [sys.executable, "-m", "harness", "practice", "serve"],
        cwd=folder,
        env=confined(folder, PYTHONPATH=str(ROOT), HARNESS_STATE_DIR=str(folder / "state")),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    with process:
        assert process.stdout is not None
        practice = Practice(process.stdout.readline().split()[-1])
        reader = threading.Thread(target=practice.log.extend, args=[process.stdout])
        reader.start()
        try:
            yield practice
        finally:
            process.terminate()
            process.wait(LIMIT_S)
            reader.join(LIMIT_S)
