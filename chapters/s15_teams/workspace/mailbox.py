"""The mailbox that you write: messages are appended, and the reader has a cursor."""

import json
from fcntl import LOCK_EX, flock
from pathlib import Path


def append(path, record):
    with path.open("ab") as file:
        flock(file, LOCK_EX)
        file.write(f"\n{json.dumps(record)}\n".encode())


def records(path, start=0):
    """The whole records behind a position, and where each ends."""
    if path.exists():
        with path.open("rb") as file:
            file.seek(start)
            while (line := file.readline()).endswith(b"\n"):
                try:
                    record = json.loads(line)
                except ValueError:  # blank, or half a record
                    continue
                yield record, file.tell()


class Mailbox:
    def __init__(self, folder, name):
        self.mail = Path(folder, f"{name}.mail")
        self.history = Path(folder, f"{name}.history")

    def send(self, sender, text):
        append(self.mail, {"from": sender, "text": text})

    def read(self):
        cursor = 0
        for record, _ in records(self.history):
            cursor = record["cursor"]
        for message, end in records(self.mail, cursor):
            append(self.history, message | {"cursor": end})
            yield message
