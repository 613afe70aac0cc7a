"""A program with the learner's journal. It fills one jar of two, rings the bell and waits to be killed."""

import importlib.util
import json
import signal
import sys
from pathlib import Path


def main() -> None:
    """Write a prompt and a reply with two calls, and run the first of them."""
    order = json.load(sys.stdin)
    found = importlib.util.spec_from_file_location("work", order["file"])
    if found is None or found.loader is None:
        raise ImportError(order["file"])
    work = importlib.util.module_from_spec(found)
    found.loader.exec_module(work)
    journal = work.Journal(Path(order["journal"]))
    for event in order["events"]:
        journal.append(event)
    Path("jars.txt").write_text("plum\n", "utf-8")
    Path("bell").write_text("one jar is full\n", "utf-8")
    signal.pause()


main()
