"""Ends an app in a browser with its server, even if the server was killed.

Run as `python -m harness.ui.web.lifeline FLAGS…` instead of `python -m harness FLAGS…`. The app has the read end of a
pipe that is never written to; end of file means that the server is gone.
"""

import os
import runpy
import signal
import sys
import threading
import time

VARIABLE = "HARNESS_LIFELINE"
"""File descriptor of the read end."""
PATIENCE_S = 8.0
"""Seconds after SIGTERM, before the process group is killed."""


def hold(lifeline: int, patience_s: float = PATIENCE_S) -> None:
    """Watch the pipe in a thread."""
    threading.Thread(target=_watch, args=(lifeline, patience_s), name="lifeline", daemon=True).start()


def _watch(lifeline: int, patience_s: float) -> None:
    while os.read(lifeline, 1):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(patience_s)  # ends with the process
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    hold(int(os.environ.pop(VARIABLE)))
    sys.argv[0] = "harness"
    runpy.run_module("harness", run_name="__main__", alter_sys=True)
