"""Commands in a sandbox are started as all others are; here by Landlock, as on a machine without bubblewrap."""

from collections.abc import AsyncIterator

import pytest

from harness.processes import Processes, ProcessLimits
from harness.sandbox.sandbox import Sandbox
from tests.processes.conftest import limits, root, shell, trace
from tests.processes.traces import Trace

__all__ = ["limits", "processes", "root", "shell", "trace"]


@pytest.fixture
async def processes(limits: ProcessLimits, trace: Trace) -> AsyncIterator[Processes]:
    """The owner; after the test nothing of it may be left."""
    owner = Processes(limits, sandbox=Sandbox(search_path="/no/programs"))
    yield owner
    assert await owner.aclose() == ()
    await owner.sandbox.aclose()
    assert trace.living() == []
