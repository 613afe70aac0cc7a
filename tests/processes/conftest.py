"""A folder, an owner of processes with short limits, and a mark that identifies the processes of a test."""

from collections.abc import AsyncIterator
from pathlib import Path
from uuid import uuid4

import pytest

from harness.processes import Processes, ProcessLimits
from tests.processes.traces import Shell, Trace


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The folder commands start in."""
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder.resolve()


@pytest.fixture
def limits() -> ProcessLimits:
    """Enough for a command that behaves, short for one that does not."""
    return ProcessLimits(time_s=20, term_grace_s=0.3, kill_grace_s=2, pipe_grace_s=0.1)


@pytest.fixture
def trace() -> Trace:
    """What every process of the test carries in its environment."""
    return Trace(uuid4().hex)


@pytest.fixture
async def processes(limits: ProcessLimits, trace: Trace) -> AsyncIterator[Processes]:
    """The owner; after the test nothing of it may be left."""
    owner = Processes(limits)
    yield owner
    assert await owner.aclose() == ()
    assert trace.living() == []


@pytest.fixture
def shell(processes: Processes, trace: Trace, root: Path, limits: ProcessLimits) -> Shell:
    """Runs command lines with them."""
    return Shell(processes, trace, root, limits)
