"""Programs that we did not write: where they are, and what they may know of this machine."""

import asyncio
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.ui.program import Finished

LIMIT_S = 60.0
NOWHERE = "http://127.0.0.1:9"
"""A proxy that is not there: whatever wants to leave this machine fails at once."""


@dataclass(frozen=True)
class Program:
    """A program that a test needs."""

    name: str
    """Of its executable."""
    variable: str
    """The environment variable that may hold the executable's path."""
    package: str
    """What to install."""

    @property
    def path(self) -> str | None:
        """The executable, where there is one."""
        return shutil.which(os.environ.get(self.variable) or self.name)


LITELLM = Program("litellm", "HARNESS_INTEROP_LITELLM", "LiteLLM's proxy")
LLM = Program("llm", "HARNESS_INTEROP_LLM", "llm with llm-anthropic")


def needed(program: Program) -> str:
    """The path of a program; where it is not installed, the module that asks is skipped."""
    if (path := program.path) is not None:
        return path
    named = os.environ.get(program.variable)
    missing = f"{program.variable} names no executable ({named})" if named else f"{program.package} is not installed"
    pytest.skip(f"{missing}; tests/interop/README.md says how to have it", allow_module_level=True)


def confined(home: Path, **more: str) -> dict[str, str]:
    """An environment with a home of its own, no keys, and no way out but loopback."""
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "HTTP_PROXY": NOWHERE,
        "HTTPS_PROXY": NOWHERE,
        "NO_PROXY": "127.0.0.1,localhost",
        **more,
    }


async def finished(command: list[str], environment: dict[str, str], folder: Path) -> Finished:
    """Run a program to its end."""
    process = await asyncio.create_subprocess_exec(
        *command,
        cwd=folder,
        env=environment,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(LIMIT_S):
            out, err = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return Finished(process.returncode or 0, out.decode(), err.decode())
