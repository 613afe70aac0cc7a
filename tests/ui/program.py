"""The real command as a process without a terminal; on one: `tests.ui.terminals`."""

import asyncio
import os
from dataclasses import dataclass
from pathlib import Path

from tests.ui.warm import COMMAND, ROOT, Piped

__all__ = ["COMMAND", "LIMIT_S", "ROOT", "Finished", "Place", "end_of", "run", "start"]

LIMIT_S = 60.0


@dataclass(frozen=True)
class Place:
    """A working folder, and an environment without the machine's own settings."""

    folder: Path
    base_url: str | None = None

    @property
    def state(self) -> Path:
        return self.folder.parent / "state"

    @property
    def environment(self) -> dict[str, str]:
        strange = ("ANTHROPIC_", "HARNESS_", "MODEL_ID", "FALLBACK_MODEL_ID", "XDG_", "NO_COLOR", "TERM")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(strange)}
        own = {
            "HARNESS_STATE_DIR": str(self.state),
            "XDG_CONFIG_HOME": str(self.folder.parent / "config"),
            "HARNESS_HOME_DIR": str(self.folder.parent / "home"),
            "PYTHONPATH": str(ROOT),
            "TERM": "xterm",
            "NO_COLOR": "1",
            "HARNESS_PLAIN": "1",
            "HARNESS_SANDBOX": "off",  # the same on every machine
        }
        server = {"ANTHROPIC_BASE_URL": self.base_url, "ANTHROPIC_API_KEY": "a-key-for-tests"} if self.base_url else {}
        return kept | own | server


@dataclass(frozen=True)
class Finished:
    """How a process ended."""

    code: int
    out: str
    err: str


async def start(place: Place, *arguments: str, env: dict[str, str] | None = None, cold: bool = False) -> Piped:
    """The command with three pipes, in a fork of a process that has everything loaded; `cold`: with nothing loaded."""
    return await Piped.begin(place.folder, arguments, place.environment | (env or {}), cold=cold)


async def run(place: Place, *arguments: str, stdin: str = "", env: dict[str, str] | None = None) -> Finished:
    """Run the command to its end with `stdin` piped in."""
    return await end_of(await start(place, *arguments, env=env), stdin)


async def end_of(process: Piped, stdin: str = "") -> Finished:
    try:
        async with asyncio.timeout(LIMIT_S):
            out, err = await process.communicate(stdin.encode())
    except TimeoutError:
        process.kill()
        raise
    return Finished(process.returncode or 0, out.decode(), err.decode())
