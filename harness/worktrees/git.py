"""Runs git for worktrees, as a child process of the program's owner of processes.

Hooks, monitors and signatures are off: what happens here, the user has asked for once, not for each commit.
"""

import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from harness.base.errors import HarnessError
from harness.checkpoints.git import environment
from harness.processes import Processes
from harness.processes.git_safety import QUIET
from harness.processes.outcome import ProcessLimits
from harness.processes.search_path import own_search_path
from harness.sandbox import ProfileName

TIME_S = 300.0
"""Limit of one command; a checkout of a large repository takes long."""
_SETTINGS = {
    **QUIET,
    "core.quotePath": "false",
    "core.safecrlf": "false",
    "core.useReplaceRefs": "false",
    "commit.gpgSign": "false",
    "gc.auto": "0",
    "advice.detachedHead": "false",
}
IDENTITY = {
    "GIT_AUTHOR_NAME": "harness",
    "GIT_AUTHOR_EMAIL": "harness@localhost",
    "GIT_COMMITTER_NAME": "harness",
    "GIT_COMMITTER_EMAIL": "harness@localhost",
}
"""Of commits that only keep what was in a removed tree."""


class WorktreeError(HarnessError):
    """A worktree cannot be made, looked at or removed. The text is one sentence that says what to do."""


class TreeInUseError(WorktreeError):
    """Another session works in that worktree now."""


class Git:
    """Runs git."""

    def __init__(self, processes: Processes, *, time_s: float = TIME_S) -> None:
        """`time_s`: limit of one command, in seconds."""
        self.processes = processes
        """Owns what is started."""
        self._time_s = time_s

    async def __call__(
        self,
        *arguments: str,
        cwd: Path,
        fine: Sequence[int] = (0,),
        variables: Mapping[str, str] | None = None,
    ) -> str:
        """What a command prints, without the line end. Raises WorktreeError for an exit code that is not `fine`."""
        code, printed, complaint = await self.run(*arguments, cwd=cwd, variables=variables)
        if code not in fine:
            subcommand = next((one for one in arguments if not one.startswith("-")), "")
            said = " ".join((complaint or printed).split()) or f"it ended with {code}"
            raise WorktreeError(f"git {subcommand} failed: {said[:500]}")
        return printed

    async def run(self, *arguments: str, cwd: Path, variables: Mapping[str, str] | None = None) -> tuple[int, str, str]:
        """The exit code and what it prints to both streams. Raises WorktreeError where git cannot be started, or takes
        too long."""
        program = shutil.which("git", path=own_search_path(cwd))
        if program is None:
            raise WorktreeError("git is not installed; install it to use worktrees.")
        settings = [part for name, value in _SETTINGS.items() for part in ("-c", f"{name}={value}")]
        printed, complaint = bytearray(), bytearray()
        try:
            ended = await self.processes.run(
                [program, *settings, *arguments],
                cwd=cwd,
                environment={**environment(), **(variables or {})},
                sink=printed.extend,
                errors=complaint.extend,
                limits=ProcessLimits(time_s=self._time_s),
                profile=ProfileName.FREE,
            )
        except OSError as error:
            raise WorktreeError(f"git cannot be started in {cwd}: {error.strerror or error}.") from error
        if ended.timed_out or ended.exit_code is None:
            raise WorktreeError(f"git {arguments[0]} took longer than {self._time_s:g} s.")
        return ended.exit_code, os.fsdecode(bytes(printed)).rstrip("\n"), os.fsdecode(bytes(complaint)).rstrip("\n")
