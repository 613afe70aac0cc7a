"""Measure start-up, streams, a long session and the journal, each beside something else in the same run.

python -m benchmarks.speed               everything (about three minutes)
python -m benchmarks.speed start journal parts whose name holds one of these words

Figures of one run can be compared with each other, not with those of another machine or day. Bars are shown,
and nothing fails when one is missed.
"""

import sys

from benchmarks.appending import journal_rate
from benchmarks.long_session import long_session
from benchmarks.parts import Parts, run_parts
from benchmarks.starting import first_request, light_commands
from benchmarks.streams import accumulators
from benchmarks.task_board import task_board

PARTS: Parts = {
    "start": ("From the start to the first request (harness -p hi)", first_request),
    "light": ("Commands that need no model", light_commands),
    "accumulator": ("A long reply, put together (processor time)", accumulators),
    "session": ("A session of 10,000 messages, resumed", long_session),
    "journal": ("Writing the journal", journal_rate),
    "board": ("A large task board", task_board),
}


def main() -> int:
    """Print the table; exit code 1 when a part could not be measured."""
    return run_parts("benchmarks.speed", __doc__, PARTS)


if __name__ == "__main__":
    sys.exit(main())
