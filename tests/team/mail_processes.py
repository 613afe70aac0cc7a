"""A process that writes to mailboxes or reads one, and goes on where a killed one was:

python -m tests.team.mail_processes write FILE LOG NAME COUNT
python -m tests.team.mail_processes read FILE LOG NAME TOTAL

With one more number it kills itself at that instruction of its database.

The log of a writer holds the numbers that are sent for certain, that of a reader what it has read: its history.
"""

import itertools
import os
import signal
import sqlite3
import sys
from pathlib import Path
from threading import Event
from typing import Any

from harness.events import Address
from harness.policies.team.mail import MailDraft, MailLimits, MailRefused
from harness.team.mail import SqliteMail

LIMITS = MailLimits(waiting=1_000_000)
READERS = ("ann", "ben")


def write(mail: SqliteMail, log: Path, name: str, count: int) -> None:
    """Send so many messages, each to one reader. The number of a message is its key."""
    sent = len(log.read_text().splitlines()) if log.exists() else 0
    out = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    for number in range(sent, count):
        draft = MailDraft(Address(name, 1), (READERS[number % 2],), f"{name} {number}", key=str(number))
        assert not isinstance(mail.send(draft), MailRefused)
        os.write(out, f"{number}\n".encode())


def read(mail: SqliteMail, log: Path, name: str, total: int) -> None:
    """Read until so many messages stand in the history, whose last id is the truth."""
    address, pause = Address(name, 1), Event()
    lines = log.read_text().splitlines() if log.exists() else []
    out = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    if lines:
        mail.read(address, int(lines[-1].split()[0]))
    count = len(lines)
    while count < total:
        unread = mail.unread(address)
        if not unread:
            pause.wait(0.02)
            continue
        os.write(out, "".join(f"{one.id} {one.body}\n" for one in unread).encode())
        mail.read(address, unread[-1].id)
        count += len(unread)


def kill_at(instruction: int) -> None:
    """End this process, as kill -9 does, at so many instructions of its databases from now."""
    counted = itertools.count(1)

    def passed() -> int:
        if next(counted) == instruction:
            os.kill(os.getpid(), signal.SIGKILL)
        return 0

    connect = sqlite3.connect

    def watched(*arguments: Any, **more: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = connect(*arguments, **more)
        connection.set_progress_handler(passed, 1)
        return connection

    sqlite3.connect = watched  # type: ignore[assignment]


if __name__ == "__main__":
    what, file, log, name, number, *at = sys.argv[1:]
    for one in at:
        kill_at(int(one))
    store = SqliteMail(Path(file), limits=LIMITS, patience_s=120.0)
    {"write": write, "read": read}[what](store, Path(log), name, int(number))
