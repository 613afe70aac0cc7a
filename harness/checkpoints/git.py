"""Run git independently of the user's repository, configuration and environment."""

import os
import shutil
import signal
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from harness.processes.git_safety import QUIET
from harness.processes.search_path import own_search_path

KILLED_S = 1.0
"""Seconds to read the output of a killed git; a process that left its group may hold the pipe longer."""


class GitError(Exception):
    """git is missing, too old, took too long, or refused."""


class GitCancellation:
    """Cancels the work of another thread, including the git process it waits for."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: set[subprocess.Popen[bytes]] = set()
        self._set = False

    def set(self) -> None:
        """Kill running processes, and every one started from now on, until `clear`."""
        with self._lock:
            self._set = True
            for process in self._running:
                kill(process)

    def clear(self) -> None:
        """Another work begins."""
        self._set = False

    def is_set(self) -> bool:
        """Whether the work has to end."""
        return self._set

    @contextmanager
    def ends(self, process: subprocess.Popen[bytes]) -> Iterator[None]:
        """As long as the block lasts, `set` kills this process."""
        with self._lock:
            self._running.add(process)
            if self._set:
                kill(process)
        try:
            yield
        finally:
            with self._lock:
                self._running.discard(process)


def kill(process: subprocess.Popen[bytes]) -> None:
    """Kill git and what it has started, unless it has ended."""
    if process.poll() is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def environment() -> dict[str, str]:
    """Ours without the variables of git, which may lead to another repository, and in plain English."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return {**kept, "LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0"}


@dataclass(frozen=True, slots=True)
class GitOutput:
    """The output of a git command."""

    printed: bytes
    complaint: bytes


def ask(
    *arguments: str,
    cwd: Path,
    time_s: float,
    stop: GitCancellation | None = None,
    given: bytes = b"",
    fine: tuple[int, ...] = (0,),
) -> GitOutput:
    """Query the user's repository around `cwd`.

    Args:
        arguments: the command, one that writes nothing.
        cwd: a folder in the repository.
        time_s: how long it may take, in seconds.
        stop: may end it earlier.
        given: what it reads from its input.
        fine: the exit codes that are no failure.

    Raises GitError.
    """
    process = _start(arguments, cwd)
    try:
        with (stop or GitCancellation()).ends(process):
            printed, complaint = process.communicate(given, time_s)
    except subprocess.TimeoutExpired as error:
        kill(process)
        with suppress(subprocess.TimeoutExpired):
            process.communicate(timeout=KILLED_S)
        raise GitError(f"git {arguments[0]} took longer than {time_s:g} s") from error
    if process.returncode not in fine:
        raise GitError(complaint.decode(errors="replace").strip() or f"git {arguments[0]} failed")
    return GitOutput(printed, complaint)


def _start(arguments: Sequence[str], cwd: Path) -> subprocess.Popen[bytes]:
    """Start git in a group of its own, where Ctrl+C in the terminal does not reach it."""
    program = shutil.which("git", path=own_search_path(cwd))
    if program is None:
        raise GitError("git is not installed")
    settings = [part for name, value in QUIET.items() for part in ("-c", f"{name}={value}")]
    pipe = subprocess.PIPE
    try:
        return subprocess.Popen(
            [program, *settings, *arguments],
            cwd=cwd,
            env=environment(),
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
            process_group=0,
        )
    except OSError as error:
        raise GitError(f"git cannot be started: {error}") from error
