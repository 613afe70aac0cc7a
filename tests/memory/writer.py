"""A session that keeps and forgets as fast as it can: run as a program, until it is done or killed."""

import sys
from pathlib import Path

from harness.memory import MemoryOwner
from tests.memory.shelves import draft, store

if __name__ == "__main__":
    folder, who, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    one = store(folder)
    print("ready", flush=True)
    for number in range(count):
        one.keep(draft(f"{who} {number}", f"{who} says {number}. " + "x" * 2_000), MemoryOwner.PROJECT)
        one.keep(draft("shared", f"{who} {number} " + "y" * 2_000), MemoryOwner.PROJECT)
