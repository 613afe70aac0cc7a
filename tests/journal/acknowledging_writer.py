"""Journal writers that a test kills.

For each line "PATH SEED" on stdin, forks a child that writes to that journal until it is killed. The child prints its
process id on a line of its own, then one dot for each record that `append` has returned. A newline follows its death.
"""

import os
import random
import sys
from pathlib import Path

import filelock  # noqa: F401 (once here, not in each child)

from harness.events import Message, MessageAdded, Origin, encode
from harness.journal import Journal


def main() -> None:
    """Serve until stdin ends."""
    encode(message("so that the encoder is built once, not in each child"))
    for line in sys.stdin:
        path, seed = line.split()
        child = os.fork()
        if child == 0:
            os.write(1, f"{os.getpid()}\n".encode())
            write_for_ever(Path(path), random.Random(int(seed)))
        os.waitpid(child, 0)
        os.write(1, b"\n")


def write_for_ever(path: Path, lengths: random.Random) -> None:
    """Append messages from 7 bytes to 260 kB and say so."""
    with Journal.open(path) as journal:
        while True:
            words = "言葉 " * lengths.choice([1, 10, 10, 300, 20_000])
            journal.append(message(words))
            os.write(1, b".")


def message(words: str) -> MessageAdded:
    """A prompt."""
    return MessageAdded(Message("user", ({"type": "text", "text": words},)), Origin.PROMPT)


if __name__ == "__main__":
    main()
