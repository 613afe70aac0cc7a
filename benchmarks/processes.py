"""Processes to measure: a clean environment, and what a run of a command took."""

import asyncio
import json
import os
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
LAUNCHER = Path(__file__).with_name("launch.py")


class CommandFailed(Exception):  # noqa: N818 (the measured command failed)
    """A measured command did not end with exit code 0, so its figures mean nothing."""


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a command. Times are seconds."""

    began: float
    """By the monotonic clock, which all processes of a machine share."""
    seconds: float
    cpu_s: float
    """User and system time, children included."""
    peak_bytes: int
    """Largest resident size."""
    exit_code: int
    stdout: str


def clean_environment(**more: str) -> dict[str, str]:
    """The environment without anything that steers an agent, able to import this project from any folder.

    Byte code may be written, as it is for a program that was installed: who compiles at every start measures that.
    """
    agents = ("ANTHROPIC_", "HARNESS_", "MODEL_ID", "FALLBACK_MODEL_ID", "LLM_")
    steering = (*agents, "PYTHONPATH", "PYTHONDONTWRITEBYTECODE")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(steering)}
    return kept | {"PYTHONPATH": str(ROOT)} | more


async def measured(command: Sequence[str], environment: dict[str, str], folder: Path) -> Run:
    """Run a command in `folder` to its end. Raises CommandFailed with its last words when it fails."""
    with tempfile.TemporaryDirectory() as place:
        report = Path(place) / "report.json"
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", "-S", str(LAUNCHER), str(report), *command),
            cwd=folder,
            env=environment,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        stdout, stderr = await process.communicate()
        if not report.exists():
            raise CommandFailed(f"{command[0]} could not be started: {_last_line(stderr)}")
        run = Run(**json.loads(report.read_text()), stdout=stdout.decode(errors="replace"))
    if run.exit_code:
        raise CommandFailed(f"{' '.join(command)} ended with exit code {run.exit_code}: {_last_line(stderr)}")
    return run


def _last_line(output: bytes) -> str:
    lines = output.decode(errors="replace").split("\n")
    return next((line for line in reversed(lines) if line.strip()), "it said nothing")
