"""The interface of the exercise, with the mailboxes of the program. As in a member, first the message is in the
history, then the cursor moves; after a kill the history says what was read."""

import fcntl
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from harness.events import Address
from harness.policies.team.mail import MailDraft, MailLimits, MailRefused
from harness.team.mail import MailStore, MemoryMail, SqliteMail

LIMITS = MailLimits(waiting=10_000)
STORES: WeakKeyDictionary[Any, tuple[int, MailStore]] = WeakKeyDictionary()
"""The mailboxes of each disk, with the process that opened them."""


def store_of(disk: Any) -> MailStore:
    """A file of mailboxes beside the files of a folder; in memory for files in memory."""
    process, store = STORES.get(disk, (0, None))
    if store is None or process != os.getpid():
        folder = getattr(disk, "_folder", None)
        store = MemoryMail(LIMITS) if folder is None else SqliteMail(folder / "mail.sqlite", limits=LIMITS)
        STORES[disk] = os.getpid(), store
    return store


def address_of(disk: Any, name: str) -> Address:
    """The mailbox of the reader, which the first program begins."""
    store = store_of(disk)
    with Path(getattr(disk, "_folder", "."), "begin").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        return box.address if (box := store.boxes().get(name)) else store.begin(name)


def history(disk: Any, name: str) -> Iterator[dict[str, Any]]:
    for line in disk.read(f"{name}.history").splitlines():
        try:
            yield json.loads(line)
        except ValueError:
            continue


class Mailbox:
    def __init__(self, disk: Any, name: str) -> None:
        self.disk, self.name = disk, name
        self.store, self.address = store_of(disk), address_of(disk, name)

    def send(self, message: dict[str, Any]) -> None:
        draft = MailDraft(Address(message["from"], 1), (self.name,), json.dumps(message), key=str(message["key"]))
        if isinstance(refused := self.store.send(draft), MailRefused):
            raise ValueError(refused.reason)

    def read(self) -> None:
        last = max((one["id"] for one in history(self.disk, self.name)), default=0)
        self.store.read(self.address, last)
        for mail in self.store.unread(self.address):
            record = json.dumps({**json.loads(mail.body), "id": mail.id})
            self.disk.append(f"{self.name}.history", f"\n{record}\n".encode())
            self.store.read(self.address, mail.id)
