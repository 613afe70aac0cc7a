"""Programs that we did not write: where they are, and what they may know of this machine."""

import asyncio
import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.ui.program import Finished

LIMIT_S = 60.0
FOLDER = "HARNESS_INTEROP"
"""The environment variable with a folder of virtual environments and node_modules."""
HOW = "tests/interop/README.md says how to have it"
NOWHERE = "http://127.0.0.1:9"
"""A proxy that is not there: whatever wants to leave this machine fails at once."""


def environments() -> Iterator[Path]:
    """The folders that may hold programs: the one that HARNESS_INTEROP names, and those in it."""
    if named := os.environ.get(FOLDER):
        yield Path(named)
        yield from sorted(path for path in Path(named).iterdir() if path.is_dir())


@dataclass(frozen=True)
class Program:
    """A program that a test needs."""

    name: str
    """Of its executable."""
    package: str
    """What to install."""
    needs: tuple[str, ...] = ()
    """Python packages that it needs."""

    @property
    def path(self) -> str | None:
        """The executable, where there is one."""
        for folder in environments():
            for place in (folder / "bin", folder / "node_modules" / ".bin"):
                found = shutil.which(self.name, path=str(place))
                if found is not None and all(python_version(folder, package) for package in self.needs):
                    return found
        return shutil.which(self.name)


def python_version(folder: Path, package: str) -> str | None:
    """The version of a Python package in a virtual environment; None: it is not there."""
    name = package.replace("-", "_")
    for info in folder.glob(f"lib/python*/site-packages/{name}-*.dist-info"):
        return info.name.removesuffix(".dist-info").removeprefix(f"{name}-")
    return None


def node_version(folder: Path, package: str) -> str | None:
    """The version of an npm package in a folder; None: it is not there."""
    manifest = folder / "node_modules" / package / "package.json"
    return str(json.loads(manifest.read_text("utf-8"))["version"]) if manifest.is_file() else None


LITELLM = Program("litellm", "LiteLLM's proxy", needs=("fastapi",))
LLM = Program("llm", "llm with llm-anthropic")
CLAUDE_CODE = Program("claude", "Claude Code")
OPENCODE = Program("opencode", "opencode")


def needed(program: Program) -> str:
    """The path of a program; where it is not installed, the module or test that asks is skipped."""
    if (path := program.path) is not None:
        return path
    pytest.skip(f"{program.package} is not installed; {HOW}", allow_module_level=True)


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
