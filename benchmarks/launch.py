"""Run a command and write down what it took: `python launch.py REPORT COMMAND…`.

A program of its own because a child's peak memory counts from the fork: started by a large process, a small
one looks large. This one imports next to nothing. POSIX only.
"""

import json
import os
import sys
import time


def main() -> int:
    """Run the command to its end; returns its exit code."""
    report, *command = sys.argv[1:]
    began = time.monotonic()
    process = os.posix_spawnp(command[0], command, os.environ)
    _, status, usage = os.wait4(process, 0)
    ended = time.monotonic()
    kilobyte = 1 if sys.platform == "darwin" else 1024
    with open(report, "w", encoding="ascii") as file:  # noqa: PTH123 (pathlib is not next to nothing)
        json.dump(
            {
                "began": began,
                "seconds": ended - began,
                "cpu_s": usage.ru_utime + usage.ru_stime,
                "peak_bytes": usage.ru_maxrss * kilobyte,
                "exit_code": os.waitstatus_to_exitcode(status),
            },
            file,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
