"""Imported by a Python that has this folder on its path: stalls of 5–500 ms at random points, as on a busy machine.

A thread holds the interpreter, so that the main thread stops between any two instructions. It also stops between two
looks of Textual at the clock, where a timer is lost. `STALLS` names a seed, and a
file that has to exist for that.
"""

import ctypes
import os
import random
import sys
import threading
import time
from pathlib import Path

HOLDING = ctypes.PyDLL(None)
"""Calls through it keep the interpreter's lock."""


def begin(seed: str, storm: Path) -> None:
    """Stall while the file exists."""
    dice = random.Random(seed)

    def stall() -> None:
        HOLDING.usleep(int(dice.uniform(5, 500) * 1000))

    def stall_now_and_then() -> None:
        while True:
            time.sleep(dice.uniform(0, 0.8))
            if storm.exists():
                stall()

    def late_clock() -> float:
        if dice.random() < 0.05 and storm.exists():
            stall()
        return time.monotonic()

    sys.setswitchinterval(1e-5)
    import textual._time

    textual._time.get_time = late_clock
    threading.Thread(target=stall_now_and_then, daemon=True).start()


if "STALLS" in os.environ:
    chosen, file = os.environ.pop("STALLS").split(":", 1)
    begin(chosen, Path(file))
