"""Lets four writers and a reader use the learner's mailbox, kills them at any byte, and counts what was read."""

import fcntl
import json
import os
import signal
import tempfile
from collections import Counter
from collections.abc import Callable
from itertools import count
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

from harness.events import Address
from harness.policies.team.mail import MailDraft, MailLimits, MailRefused
from harness.team.mail import MemoryMail

WRITERS = ("ann", "ben", "cleo", "dan")
HISTORIES = 400
MESSAGES = 400
NAME = "lead"
Message = dict[str, Any]


class Killed(BaseException):
    """The program was killed."""


class Files:
    """Files in memory. Between two calls of one program, others may do something."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.left: int | None = None
        """Bytes that the program writes before it is killed; None: it is not."""
        self.between: Callable[[], None] | None = None

    def append(self, name: str, data: bytes) -> None:
        self._others()
        written = data if self.left is None else data[: self.left]
        self.files[name] = self.files.get(name, b"") + written
        if self.left is not None:
            self.left -= len(written)
            if self.left <= 0:
                raise Killed

    def read(self, name: str, start: int = 0) -> bytes:
        self._others()
        return self.files.get(name, b"")[start:]

    def remove(self, name: str) -> None:
        self._others()
        self.files.pop(name, None)

    def _others(self) -> None:
        between, self.between = self.between, None
        if between is not None:
            between()


class RealFiles:
    """Files of a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def append(self, name: str, data: bytes) -> None:
        with (self._folder / name).open("ab", buffering=0) as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.write(data)

    def read(self, name: str, start: int = 0) -> bytes:
        try:
            return (self._folder / name).read_bytes()[start:]
        except FileNotFoundError:
            return b""

    def remove(self, name: str) -> None:
        os.sched_yield()  # others may write now
        (self._folder / name).unlink(missing_ok=True)


def message(sender: str, key: int) -> Message:
    """A message of a writer."""
    return {"from": sender, "key": key, "text": f"Message {key} of {sender}: “é”"}


def read_of(work: ModuleType, disk: object) -> list[tuple[str, int]]:
    """Sender and key of all that stands in the history."""
    return [(one["from"], one["key"]) for one in work.history(disk, NAME)]


def same(found: object, wanted: object, what: str = "") -> None:
    assert found == wanted, f"{what}\nin the history {found}\nwanted {wanted}".strip()


def check_a_message_is_read_once(work: ModuleType) -> None:
    disk = Files()
    box = work.Mailbox(disk, NAME)
    box.read()
    same(read_of(work, disk), [])
    for key in range(3):
        box.send(message("ann", key))
    box.read()
    box.read()
    same(read_of(work, disk), [("ann", 0), ("ann", 1), ("ann", 2)], "three messages, read twice")
    same([one["text"] for one in work.history(disk, NAME)], [message("ann", key)["text"] for key in range(3)])
    box.send(message("ben", 0))
    work.Mailbox(disk, NAME).read()
    same(read_of(work, disk)[3:], [("ben", 0)], "another message, read by the next program")


def check_what_arrives_while_it_reads_is_not_lost(work: ModuleType) -> None:
    for call in count():
        disk = Files()
        work.Mailbox(disk, NAME).send(message("ann", 0))
        sent = False

        def later(disk: Files = disk, left: int = call) -> None:
            nonlocal sent
            if left:
                disk.between = lambda: later(disk, left - 1)
            else:
                sent = True
                work.Mailbox(disk, NAME).send(message("ben", 0))

        disk.between = later
        work.Mailbox(disk, NAME).read()
        disk.between = None
        if not sent:
            assert call, "the reader reads nothing"
            return
        work.Mailbox(disk, NAME).read()
        same(read_of(work, disk), [("ann", 0), ("ben", 0)], f"ben sent at call {call} of the reader")


def check_a_killed_reader_is_continued(work: ModuleType) -> None:
    for left in range(1, 400):
        disk = Files()
        for key in range(3):
            work.Mailbox(disk, NAME).send(message("ann", key))
        disk.left = left
        try:
            work.Mailbox(disk, NAME).read()
        except Killed:
            pass
        else:
            return
        disk.left = None
        work.Mailbox(disk, NAME).read()
        same(read_of(work, disk), [("ann", key) for key in range(3)], f"the reader was killed after {left} bytes")


def check_half_a_message_damages_nothing(work: ModuleType) -> None:
    for left in range(1, 200):
        disk = Files()
        disk.left = left
        try:
            work.Mailbox(disk, NAME).send(message("ann", 0))
        except Killed:
            pass
        else:
            return
        disk.left = None
        work.Mailbox(disk, NAME).read()
        work.Mailbox(disk, NAME).send(message("ben", 0))
        work.Mailbox(disk, NAME).read()
        found = [one for one in read_of(work, disk) if one[0] == "ben"]
        same(found, [("ben", 0)], f"ann was killed after {left} bytes, then ben sent")


def check_sent_again_is_the_same_message(work: ModuleType) -> None:
    disk = Files()
    for key in (0, 0, 1, 0, 1):
        work.Mailbox(disk, NAME).send(message("ann", key))
        work.Mailbox(disk, NAME).read()
    work.Mailbox(disk, NAME).send(message("ben", 0))
    work.Mailbox(disk, NAME).read()
    same(read_of(work, disk), [("ann", 0), ("ann", 1), ("ben", 0)], "ann sends 0 0 1 0 1, ben sends 0")


def check_random_histories_agree_with_the_program(work: ModuleType) -> None:
    found = (_difference(work, Random(seed)) for seed in range(HISTORIES))
    shortest = min(filter(None, found), key=len, default="")
    assert not shortest, shortest


def _difference(work: ModuleType, chance: Random) -> str:
    """What differs from the mailboxes of the program in a random history; empty: nothing."""
    disk, room, told = Files(), MemoryMail(MailLimits(waiting=10_000)), []
    lead = room.begin(NAME)
    keys = dict.fromkeys(WRITERS, 0)
    torn: set[str] = set()
    for _ in range(chance.randint(1, 25)):
        sender = chance.choice(WRITERS)
        reads = chance.random() < 0.3
        disk.left = chance.randint(1, 260) if chance.random() < 0.3 else None
        told.append(f"{'lead reads' if reads else f'{sender} sends {keys[sender]}'}, {disk.left} bytes")
        try:
            box = work.Mailbox(disk, NAME)
            box.read() if reads else box.send(message(sender, keys[sender]))
        except Killed:
            torn |= set() if reads else {sender}  # it repeats the message until it is sent
        except Exception as error:  # noqa: BLE001 (whatever the learner's code raises is a finding)
            return "\n".join([*told, f"{type(error).__name__}: {error}"])
        else:
            if not reads:
                text, key = json.dumps([sender, keys[sender]]), str(keys[sender])
                assert not isinstance(room.send(MailDraft(Address(sender, 1), (NAME,), text, key=key)), MailRefused)
                keys[sender] += 1
                torn.discard(sender)
    disk.left = None
    for sender in sorted(torn):
        work.Mailbox(disk, NAME).send(message(sender, keys[sender]))
        room.send(MailDraft(Address(sender, 1), (NAME,), json.dumps([sender, keys[sender]]), key=str(keys[sender])))
    work.Mailbox(disk, NAME).read()
    history = read_of(work, disk)
    wanted = [tuple(json.loads(mail.body)) for mail in room.unread(lead)]
    twice = [one for one, count in Counter(history).items() if count > 1]
    by_sender = {sender: [one for one in history if one[0] == sender] for sender in WRITERS}
    if by_sender == {sender: [one for one in wanted if one[0] == sender] for sender in WRITERS}:
        return ""
    lost = sorted(set(wanted) - set(history))
    return "\n".join([*told, f"lost {lost}, twice {twice}, in the history {history}"])


def check_four_writers_and_a_killed_reader(work: ModuleType) -> None:
    folder = Path(tempfile.mkdtemp(dir="."))
    disk = RealFiles(folder)

    def writes(sender: str) -> None:
        for key in range(MESSAGES):
            work.Mailbox(disk, NAME).send(message(sender, key))

    def reads(begin: int) -> None:
        work.Mailbox(disk, NAME).read()
        os.close(begin)
        while True:
            work.Mailbox(disk, NAME).read()

    def reader() -> int:
        began, begin = os.pipe()
        child = _forked(lambda: reads(begin))
        os.close(begin)
        os.read(began, 1)  # or the writers may have ended before it reads
        os.close(began)
        return child

    reading = reader()
    writers = [_forked(lambda sender=sender: writes(sender)) for sender in WRITERS]  # type: ignore[misc]
    for writer in writers:
        _, status = os.waitpid(writer, 0)
        os.kill(reading, signal.SIGKILL)
        os.waitpid(reading, 0)
        assert status == 0, "a writer failed"
        reading = reader()
    os.kill(reading, signal.SIGKILL)
    os.waitpid(reading, 0)
    work.Mailbox(disk, NAME).read()
    found = read_of(work, disk)
    wanted = {(sender, key) for sender in WRITERS for key in range(MESSAGES)}
    lost, twice = len(wanted - set(found)), len(found) - len(set(found))
    assert (lost, twice) == (0, 0), f"{len(wanted)} messages, {lost} lost, {twice} read twice"


def _forked(act: Callable[[], None]) -> int:
    """A process that does this; its id."""
    if child := os.fork():
        return child
    try:
        act()
        os._exit(0)
    finally:
        os._exit(1)
