"""Our end of the line to the watcher."""

import os
import subprocess
import sys
import threading
import weakref
from collections.abc import Iterable
from itertools import islice
from pathlib import Path

import psutil

PROGRAM = Path(__file__).with_name("watcher.py")
MOST_MEMBERS = 100
"""Most processes that one line names: the kernel writes 4,096 bytes to a pipe all at once or not at all (512 on some
systems other than Linux, where a longer line is written while there is room for it)."""


class WatcherLink:
    """Tells the watcher what lives, and starts it before the first command; again when it was killed.

    What each system gets: on Linux a crash is noticed when the program has ended, even while a forked copy of it lives
    on; on macOS when the program and all such copies have. Windows is not supported. Where watcher and program are
    killed at the same time, what the commands left behind lives on.
    """

    def __init__(self, owner: str) -> None:
        """`owner` is what the marks of all our commands begin with."""
        self._owner = owner
        self._lines: dict[str, str] = {}
        """The last that was said about each command which lives or was handed over."""
        self._line: _Line | None = None
        self._lock = threading.Lock()

    def expect(self, mark: str) -> None:
        """A command is about to be started. Raises OSError when the watcher cannot be."""
        with self._lock:
            self._lines[mark] = f"left {mark} 0"
            if self._line is None or not self._line.say(self._lines[mark]):
                self._begin()

    def leads(self, mark: str, leader: psutil.Process) -> None:
        """It runs, and this process leads it."""
        self._say(mark, f"leads {mark} {_known(leader) or f'{leader.pid} 0'}")

    def left(self, mark: str, session: int, members: Iterable[psutil.Process]) -> None:
        """Its leader, which gave its number to the session, has exited, and these live on."""
        known = filter(None, map(_known, members))
        self._say(mark, " ".join(("left", mark, str(session), *islice(known, MOST_MEMBERS))))

    def free(self, mark: str) -> None:
        """It was handed over."""
        self._say(mark, f"free {mark}")

    def gone(self, mark: str) -> None:
        """Nothing of it lives."""
        with self._lock:
            if self._lines.pop(mark, None) and self._line is not None:
                self._line.say(f"gone {mark}")

    def close(self) -> None:
        """End the watcher: nothing is left that it could do."""
        with self._lock:
            if self._line is not None:
                self._line.end()
                self._line = None

    def _say(self, mark: str, line: str) -> None:
        with self._lock:
            self._lines[mark] = line
            if self._line is not None:
                self._line.say(line)

    def _begin(self) -> None:
        if self._line is not None:
            self._line.end()
        self._line = _Line(self._owner)
        for line in self._lines.values():
            self._line.say(line)


class _Line:
    """One watcher, and the pipe to it. If the watcher does not know the line, the pipe is closed as after a crash."""

    def __init__(self, owner: str) -> None:
        packages = [str(Path(psutil.__file__).parents[1]), str(PROGRAM.parents[2])]
        reading, writing = os.pipe()
        try:
            self._watcher = subprocess.Popen(
                (sys.executable, "-I", "-S", str(PROGRAM), owner, str(os.getpid()), *packages),
                cwd="/",
                stdin=reading,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except BaseException:
            os.close(writing)
            raise
        finally:
            os.close(reading)
        os.set_blocking(writing, False)
        self._writing = writing
        self._close = weakref.finalize(self, os.close, writing)
        self._collecting = threading.Thread(target=self._watcher.wait, name="exit of the watcher", daemon=True)
        self._collecting.start()

    def say(self, line: str) -> bool:
        """Whether it may have been heard: not when the watcher is gone, or has not listened for a long time."""
        try:
            os.write(self._writing, f"{line}\n".encode())
        except (BrokenPipeError, BlockingIOError):
            return False
        return True

    def end(self) -> None:
        """End the watcher, at once and without an errand."""
        self._watcher.kill()
        self._close()
        self._collecting.join(timeout=1)


def _known(process: psutil.Process) -> str:
    """Its number and start; nothing if it has gone."""
    try:
        return f"{process.pid} {process.create_time():.2f}"
    except psutil.Error:
        return ""
