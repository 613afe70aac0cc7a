"""A program with the learner's inbox: one command is reported, one has ended, one runs. Then it waits to be killed."""

import importlib.util
import json
import os
import signal
import subprocess
import sys
from typing import Any


def main(file: str, log: str) -> None:
    """Events go to the file `log`, one JSON object a line."""
    found = importlib.util.spec_from_file_location("work", file)
    if found is None or found.loader is None:
        raise ImportError(file)
    work = importlib.util.module_from_spec(found)
    found.loader.exec_module(work)
    written = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def write(event: dict[str, Any]) -> None:
        os.write(written, json.dumps(event).encode() + b"\n")

    inbox = work.Inbox([], write)
    for command in ("b1", "b2", "b3"):
        inbox.started(command)
    inbox.ended("b1", subprocess.run(["sh", "-c", "exit 0"], check=False).returncode)
    inbox.deliver()
    inbox.ended("b2", subprocess.run(["sh", "-c", "exit 3"], check=False).returncode)
    print("at work", flush=True)
    signal.pause()


main(sys.argv[1], sys.argv[2])
