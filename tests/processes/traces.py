"""Find the processes of a test without asking the program that started them."""

import os
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import anyio
import psutil

from harness.processes import Processes, ProcessLimits, ProcessResult
from harness.sandbox import ProfileName

NAME = "HARNESS_TEST_TRACE"


@dataclass(frozen=True)
class Trace:
    """A value that all processes of one test inherit in their environment."""

    value: str

    @property
    def environment(self) -> dict[str, str]:
        """Ours, with the trace."""
        return {**os.environ, NAME: self.value}

    def living(self) -> list[psutil.Process]:
        """Every process with the trace that has not exited."""
        found = []
        for process in psutil.process_iter():
            with suppress(psutil.Error):
                if process.environ().get(NAME) == self.value and process.status() != psutil.STATUS_ZOMBIE:
                    found.append(process)
        return found

    def kill(self) -> None:
        """Kill all of them; some may have exited meanwhile."""
        for process in self.living():
            with suppress(psutil.NoSuchProcess):
                process.kill()

    def left(self, within_s: float) -> list[psutil.Process]:
        """Those that live on although they had `within_s` to end."""
        deadline = time.monotonic() + within_s
        while (found := self.living()) and time.monotonic() < deadline:
            time.sleep(0.02)
        return found


@dataclass(frozen=True)
class Shell:
    """Runs command lines that carry a trace."""

    processes: Processes
    trace: Trace
    root: Path
    limits: ProcessLimits

    async def run(
        self,
        line: str,
        heard: bytearray | None = None,
        *,
        profile: ProfileName = ProfileName.FREE,
        **limits: float,
    ) -> ProcessResult:
        """Run a command to its end and add its output to `heard`. `limits` override the defaults."""
        return await self.processes.run(
            ("bash", "-c", line),
            cwd=self.root,
            environment=self.trace.environment,
            sink=(bytearray() if heard is None else heard).extend,
            limits=replace(self.limits, **limits),
            profile=profile,
        )


async def until(condition: Callable[[], bool], within_s: float = 60.0) -> None:
    """Wait for an effect of another process."""
    with anyio.fail_after(within_s):
        while not condition():  # noqa: ASYNC110  another process has no event for us
            await anyio.sleep(0.01)
