"""A program in a terminal of its own: when its text appears, what it writes, what it costs. POSIX only."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

import psutil

from benchmarks.processes import CommandFailed

COLUMNS, ROWS = 120, 40
ESCAPE = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]P][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
"""A control sequence of a terminal: the rest is text."""
QUIET_S = 1.0
"""A program that took no processor time for so long has settled."""


class Terminal:
    """A command that runs in a pty of 120×40 as long as the context lasts."""

    def __init__(self, command: Sequence[str], environment: dict[str, str], folder: Path) -> None:
        self._command = command[0]
        self._written = bytearray()
        self.began = time.monotonic()
        """When it was started, by the monotonic clock."""
        child, self._terminal = pty.fork()
        if not child:
            try:
                fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
                os.chdir(folder)
                os.execvpe(command[0], list(command), environment | {"TERM": "xterm-256color"})
            finally:
                os._exit(127)
        self._process = psutil.Process(child)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        everyone = self._everyone()
        with suppress(psutil.NoSuchProcess):
            self._process.send_signal(signal.SIGTERM)
            self._read_until(self._has_ended, 5.0)
        for process in everyone:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        os.close(self._terminal)
        with suppress(ChildProcessError):
            os.waitpid(self._process.pid, 0)

    # ── what it writes ──────────────────────────────────────────────────────────────────────────

    @property
    def bytes_written(self) -> int:
        """Bytes that have reached the terminal so far."""
        return len(self._written)

    @property
    def text(self) -> str:
        """The output without control sequences."""
        return ESCAPE.sub(b"", bytes(self._written)).decode(errors="replace")

    def wait_for(self, *words: str, after: int = 0, timeout_s: float = 30.0) -> float:
        """Seconds from the start until one of `words` was written after so many bytes. Raises CommandFailed."""

        def written() -> bool:
            text = ESCAPE.sub(b"", bytes(self._written[after:])).decode(errors="replace")
            return any(word in text for word in words)

        if not self._read_until(written, timeout_s):
            last = " ".join(self.text.split())[-200:]
            raise CommandFailed(f"{self._command} did not write {' or '.join(map(repr, words))} but {last!r}")
        return time.monotonic() - self.began

    def press_until_shown(self, key: str, timeout_s: float = 10.0) -> float:
        """Seconds from the start until a pressed key appears; pressed again every 100 ms until the program listens."""
        before = self.bytes_written
        until = time.monotonic() + timeout_s
        while True:
            self.type(key)
            try:
                return self.wait_for(key, after=before, timeout_s=0.1)
            except CommandFailed:
                if time.monotonic() > until:
                    raise

    def type(self, text: str) -> int:
        """Press keys; returns the bytes that were written before."""
        before = self.bytes_written
        os.write(self._terminal, text.encode())
        return before

    def pass_time(self, seconds: float) -> None:
        """Let it run, and read what it writes."""
        self._read_until(lambda: False, seconds)

    def wait_for_end(self, timeout_s: float) -> None:
        """Read what it writes until it has ended. Raises CommandFailed when it does not."""
        if not self._read_until(self._has_ended, timeout_s):
            raise CommandFailed(f"{self._command} did not end within {timeout_s:g} s")

    def settle(self, timeout_s: float = 20.0) -> None:
        """Wait until it has taken no processor time for a second; a program that never rests gets no longer."""
        until = time.monotonic() + timeout_s
        cpu, since = self.cpu_s, time.monotonic()
        while time.monotonic() < until and time.monotonic() - since < QUIET_S:
            self.pass_time(0.1)
            if (now := self.cpu_s) != cpu:
                cpu, since = now, time.monotonic()

    def _read_until(self, happened: Callable[[], bool], seconds: float) -> bool:
        until = time.monotonic() + seconds
        while not happened():
            left = until - time.monotonic()
            if left <= 0:
                return False
            if not select.select([self._terminal], [], [], min(left, 0.1))[0]:
                continue
            try:
                self._written += os.read(self._terminal, 65536)
            except OSError:  # Linux reports this when the other end is closed
                time.sleep(min(left, 0.05))
                if self._has_ended():
                    return happened()
        return True

    def _has_ended(self) -> bool:
        return not self._process.is_running() or self._process.status() == psutil.STATUS_ZOMBIE

    # ── what it costs ───────────────────────────────────────────────────────────────────────────

    @property
    def fine_cpu_s(self) -> float:
        """Processor time of the program alone in seconds, by the nanosecond where the system counts them (Linux)."""
        tasks = Path(f"/proc/{self._process.pid}/task")
        if not tasks.exists():
            return self.cpu_s
        return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks.iterdir()) / 1e9

    @property
    def cpu_s(self) -> float:
        """Processor time so far, of the program and of all that it has started."""
        total = 0.0
        for process in self._everyone():
            with suppress(psutil.NoSuchProcess):
                times = process.cpu_times()
                total += times.user + times.system + times.children_user + times.children_system
        return total

    @property
    def memory(self) -> tuple[int, int]:
        """Bytes of memory now, resident and proportional, of the program and of all that it has started."""
        used = [process.memory_full_info() for process in self._everyone()]
        return sum(one.rss for one in used), sum(one.pss for one in used)

    def _everyone(self) -> list[psutil.Process]:
        with suppress(psutil.NoSuchProcess):
            return [self._process, *self._process.children(recursive=True)]
        return []
