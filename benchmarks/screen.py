"""Measure the screen: first paint, memory, keys, long history, long answer, busy turn, rest; beside others in one run.

python -m benchmarks.screen             everything (about ten minutes)
python -m benchmarks.screen paint busy  parts whose name holds one of these words

Every program runs in a pty of 120×40. Figures of one run can be compared with each other, not with those of another
machine or day. Bars are shown, and nothing fails when one is missed.
"""

import sys

from benchmarks.parts import Parts, run_parts
from benchmarks.screen_output import output
from benchmarks.screen_paint import first_paint, keys, memory, resume
from benchmarks.screen_parts import busy, history, idle, stream

PARTS: Parts = {
    "paint": ("From the start to the first frame", first_paint),
    "memory": ("Memory once the app has settled", memory),
    "keys": ("From a key to its letter on the screen", keys),
    "resume": ("From the start to the end of a long session on the screen", resume),
    "history": ("A conversation of 5,000 messages", history),
    "stream": ("A long answer streams in", stream),
    "busy": ("50 events of tools and 60 pieces of prose in every second", busy),
    "output": ("A command writes hundreds of megabytes", output),
    "idle": ("Nothing happens for ten seconds", idle),
}


def main() -> int:
    """Print the table; exit code 1 when a part could not be measured."""
    return run_parts("benchmarks.screen", __doc__, PARTS)


if __name__ == "__main__":
    sys.exit(main())
