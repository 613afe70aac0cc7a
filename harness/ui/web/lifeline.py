"""An app in a browser ends with its server, even when the server was killed and could not say so.

Run as `python -m harness.ui.web.lifeline FLAGS…`, in the place of `python -m harness FLAGS…`. The app holds the
reading end of a pipe to which nothing is ever written; its end means that the server is gone.
"""

import os
import runpy
import signal
import sys
import threading
import time

VARIABLE = "HARNESS_LIFELINE"
"""Number of the open file that is the reading end."""
PATIENCE_S = 8.0
"""Seconds the app has to leave after SIGTERM, before its whole process group is killed."""


def hold(lifeline: int, patience_s: float = PATIENCE_S) -> None:
    """Watch the pipe from a thread of its own, as long as this process runs."""
    threading.Thread(target=_watch, args=(lifeline, patience_s), name="lifeline", daemon=True).start()


def _watch(lifeline: int, patience_s: float) -> None:
    while os.read(lifeline, 1):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(patience_s)  # whoever obeys takes this thread along
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    hold(int(os.environ.pop(VARIABLE)))
    sys.argv[0] = "harness"
    runpy.run_module("harness", run_name="__main__", alter_sys=True)
