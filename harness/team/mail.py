"""Mailboxes: messages are appended, and each reader has a cursor. Nothing is moved or removed.

    send ──▶ appended, on disk ──▶ unread ──▶ in the history of the recipient ──▶ read: the cursor moves

"Sent" means that it is on disk. What the recipient has read is in its journal (`MailDelivered`); the cursor is a copy.
"""

import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol, TypeVar

from harness.base.clock import Clock, SystemClock
from harness.base.concurrency import WorkerThread
from harness.base.errors import HarnessError
from harness.base.sqlite_file import SqliteSchema, tables_at
from harness.base.transactions import SharedPlace, SqlConnection
from harness.events import Address, MailKind
from harness.policies.team.mail import (
    USER,
    Mailbox,
    MailDraft,
    MailLimits,
    MailRefused,
    begins_work,
    recipients,
    returned_kind,
    returned_text,
)

FOLDER = "teams"
PATIENCE_S = 10.0
"""Longest time for a step, including the wait for other processes; usually a few milliseconds."""


class MailError(HarnessError):
    """The mailboxes cannot be used now; nothing was sent or read."""


@dataclass(frozen=True, slots=True)
class Mail:
    """A message as it is stored."""

    id: int
    sender: Address
    recipient: Address
    kind: MailKind
    body: str
    sent_at: float
    """Unix time."""
    key: str = ""
    """As in its draft."""

    @property
    def begins_work(self) -> bool:
        """It is a reason for a turn."""
        return begins_work(self.kind, self.body)


class MailStore(Protocol):
    """The mailboxes of one session. Each method is one step: whole, or not at all. Raises MailError."""

    def begin(self, name: str) -> Address:
        """A new mailbox, whose generation is one more than that of the last with this name."""
        ...

    def end(self, address: Address, why: str) -> tuple[tuple[int, ...], tuple[Mail, ...]]:
        """Close a mailbox. Returns the ids of its unread messages, and what their senders get instead."""
        ...

    def send(self, draft: MailDraft) -> tuple[Mail, ...] | MailRefused:
        """Write a message to all of its recipients, or to none."""
        ...

    def unread(self, address: Address) -> tuple[Mail, ...]:
        """The messages behind the cursor, oldest first."""
        ...

    def read(self, address: Address, last: int) -> None:
        """Move the cursor to this id. It never moves back."""
        ...

    def boxes(self) -> dict[str, Mailbox]:
        """The newest mailbox of each name."""
        ...

    def close(self) -> None:
        """Close what is open; the next step opens it again."""
        ...


def mail_file(state_folder: Path, session_id: str) -> Path:
    """The mailboxes of a session."""
    return state_folder / FOLDER / f"{session_id}.sqlite"


# ── in memory ───────────────────────────────────────────────────────────────────────────────────


class MemoryMail:
    """Mailboxes of an agent that keeps no journal. Any thread may use them."""

    def __init__(self, limits: MailLimits | None = None, clock: Clock | None = None) -> None:
        self._limits = limits or MailLimits()
        self._clock = clock or SystemClock()
        self._lock = threading.Lock()
        self._boxes: dict[Address, tuple[int, str]] = {}
        """The cursor of each mailbox, and why it ended."""
        self._mail: list[Mail] = []
        self._sent: dict[tuple[Address, str], tuple[Mail, ...]] = {}

    def begin(self, name: str) -> Address:
        with self._lock:
            address = Address(name, 1 + sum(box.name == name for box in self._boxes))
            self._boxes[address] = 0, ""
            return address

    def end(self, address: Address, why: str) -> tuple[tuple[int, ...], tuple[Mail, ...]]:
        with self._lock:
            unread = self._unread(address)
            self._boxes[address] = self._boxes[address][0], why
            live = {box.address for box in self._newest().values() if not box.ended}
            back = tuple(map(self._appended, _returned(unread, why, live)))
            self._boxes[address] = max((mail.id for mail in unread), default=self._boxes[address][0]), why
            return tuple(mail.id for mail in unread), back

    def send(self, draft: MailDraft) -> tuple[Mail, ...] | MailRefused:
        with self._lock:
            if draft.key and (earlier := self._sent.get((draft.sender, draft.key))):
                return earlier
            found = recipients(draft, self._newest(), self._limits)
            if isinstance(found, MailRefused):
                return found
            mails = (Mail(0, draft.sender, one, draft.kind, draft.body, 0.0, draft.key) for one in found)
            sent = tuple(map(self._appended, mails))
            if draft.key:
                self._sent[draft.sender, draft.key] = sent
            return sent

    def unread(self, address: Address) -> tuple[Mail, ...]:
        with self._lock:
            return self._unread(address)

    def read(self, address: Address, last: int) -> None:
        with self._lock:
            cursor, ended = self._boxes[address]
            self._boxes[address] = max(cursor, last), ended

    def boxes(self) -> dict[str, Mailbox]:
        with self._lock:
            return self._newest()

    def close(self) -> None:
        pass

    def _unread(self, address: Address) -> tuple[Mail, ...]:
        cursor, _ = self._boxes[address]
        return tuple(mail for mail in self._mail if mail.recipient == address and mail.id > cursor)

    def _newest(self) -> dict[str, Mailbox]:
        unread = Counter(mail.recipient for mail in self._mail if mail.id > self._boxes[mail.recipient][0])
        return {address.name: Mailbox(address, unread[address], ended) for address, (_, ended) in self._boxes.items()}

    def _appended(self, mail: Mail) -> Mail:
        self._mail.append(replace(mail, id=len(self._mail) + 1, sent_at=self._clock.now()))
        return self._mail[-1]


def _returned(unread: Sequence[Mail], why: str, live: set[Address]) -> tuple[Mail, ...]:
    """What the senders of unread messages of one mailbox get. The user sees the event."""
    return tuple(
        Mail(0, mail.recipient, mail.sender, kind, returned_text(mail.id, mail.recipient, why, mail.body), 0.0)
        for mail in unread
        if mail.sender.name != USER and mail.sender in live and (kind := returned_kind(mail.kind, mail.body))
    )


# ── on disk ─────────────────────────────────────────────────────────────────────────────────────

TABLES = """
CREATE TABLE boxes (
    name TEXT NOT NULL, generation INTEGER NOT NULL, cursor INTEGER NOT NULL, ended TEXT NOT NULL,
    PRIMARY KEY (name, generation)
) WITHOUT ROWID;
CREATE TABLE mail (
    id INTEGER PRIMARY KEY,
    sender TEXT NOT NULL, sender_generation INTEGER NOT NULL,
    recipient TEXT NOT NULL, recipient_generation INTEGER NOT NULL,
    kind TEXT NOT NULL, body TEXT NOT NULL, sent_at REAL NOT NULL, key TEXT NOT NULL
);
CREATE INDEX of_recipient ON mail (recipient, recipient_generation, id);
CREATE INDEX of_key ON mail (sender, sender_generation, key);
CREATE TABLE unreadable (id INTEGER PRIMARY KEY);
"""
COLUMNS = "id, sender, sender_generation, recipient, recipient_generation, kind, body, sent_at, key"
SCHEMA = SqliteSchema(
    application=0x6861746D,
    version=1,
    tables=TABLES,
    error=MailError,
)

T = TypeVar("T")


class SqliteMail:
    """Mailboxes in one SQLite file, for all processes of a user on one machine. Any thread may use it, but no forked
    process. Nothing is opened before the first use."""

    def __init__(
        self,
        place: Path | SharedPlace,
        *,
        limits: MailLimits | None = None,
        clock: Clock | None = None,
        report: Callable[[str], None] = lambda _: None,
        patience_s: float = PATIENCE_S,
    ) -> None:
        """Args:
        place: the file, created on first use with its folder, or the tables of a fleet.
        report: called with a sentence for the user about a damaged file or message, on a thread of this object.
        patience_s: time limit of a step, in seconds.
        """
        self.place = place
        self._limits = limits or MailLimits()
        self._clock = clock or SystemClock()
        self._report = report
        self._worker = WorkerThread(
            tables_at(place, SCHEMA, report), name=str(place), patience_s=patience_s, error=MailError
        )

    def begin(self, name: str) -> Address:
        def step(connection: SqlConnection) -> Address:
            (last,) = connection.execute("SELECT max(generation) FROM boxes WHERE name = ?", (name,)).fetchone()
            address = Address(name, 1 + (last or 0))
            connection.execute("INSERT INTO boxes VALUES (?, ?, 0, '')", _key(address))
            return address

        return self._do(step)

    def end(self, address: Address, why: str) -> tuple[tuple[int, ...], tuple[Mail, ...]]:
        def step(connection: SqlConnection) -> tuple[tuple[int, ...], tuple[Mail, ...]]:
            unread = _readable(_unread(connection, address))
            connection.execute("UPDATE boxes SET ended = ? WHERE name = ? AND generation = ?", (why, *_key(address)))
            live = {box.address for box in _boxes(connection).values() if not box.ended}
            back = tuple(_appended(connection, mail, self._clock.now()) for mail in _returned(unread, why, live))
            ids = tuple(mail.id for mail in unread)
            last = max(ids, default=0)
            connection.execute(READ, (last, *_key(address), last))
            return ids, back

        return self._do(step)

    def send(self, draft: MailDraft) -> tuple[Mail, ...] | MailRefused:
        return self._do(lambda connection: send_in(connection, draft, self._limits, self._clock.now()))

    def unread(self, address: Address) -> tuple[Mail, ...]:
        rows = self._do(lambda connection: _unread(connection, address))
        for row in rows:
            if _mail(row) is None:
                self._set_aside(row)
        return _readable(rows)

    def read(self, address: Address, last: int) -> None:
        self._do(lambda connection: connection.execute(READ, (last, *_key(address), last)).rowcount)

    def boxes(self) -> dict[str, Mailbox]:
        return self._do(_boxes)

    def close(self) -> None:
        self._worker.close()

    def _do(self, step: Callable[[SqlConnection], T]) -> T:
        return self._worker.do(lambda file: file.transact(step))

    def _set_aside(self, row: Sequence[Any]) -> None:
        """Report a message that cannot be read, once; it stays in the file."""
        insert = "INSERT INTO unreadable VALUES (?) ON CONFLICT DO NOTHING"
        if self._do(lambda connection: connection.execute(insert, (row[0],)).rowcount):
            kind = f" of the unknown kind {row[5]!r}" if isinstance(row[5], str) and row[5] not in KINDS else ""
            self._report(
                f"Message {row[0]} in {self.place}{kind} cannot be read; it is left out and stays in the file."
            )


KINDS = frozenset(str(kind) for kind in MailKind)
READ = "UPDATE boxes SET cursor = ? WHERE name = ? AND generation = ? AND cursor < ?"
APPEND = f"INSERT INTO mail ({COLUMNS.removeprefix('id, ')}) VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING id"
UNREAD = f"""
SELECT {COLUMNS} FROM mail WHERE recipient = ? AND recipient_generation = ? AND id > (
    SELECT cursor FROM boxes WHERE name = recipient AND generation = recipient_generation
) AND id NOT IN (SELECT id FROM unreadable) ORDER BY id
"""
BOXES = """
SELECT name, generation, ended, (
    SELECT count(*) FROM mail WHERE recipient = name AND recipient_generation = generation AND id > cursor
    AND id NOT IN (SELECT id FROM unreadable)
) FROM boxes ORDER BY generation
"""


def _key(address: Address) -> tuple[str, int]:
    return address.name, address.generation


def _boxes(connection: SqlConnection) -> dict[str, Mailbox]:
    rows = connection.execute(BOXES).fetchall()
    return {name: Mailbox(Address(name, generation), unread, ended) for name, generation, ended, unread in rows}


def _unread(connection: SqlConnection, address: Address) -> list[Sequence[Any]]:
    return connection.execute(UNREAD, _key(address)).fetchall()


def send_in(
    connection: SqlConnection, draft: MailDraft, limits: MailLimits, now: float
) -> tuple[Mail, ...] | MailRefused:
    """Send a message within a transaction on the tables of mailboxes; see `MailStore.send`."""
    if draft.key and (earlier := _sent_before(connection, draft)):
        return earlier
    found = recipients(draft, _boxes(connection), limits)
    if isinstance(found, MailRefused):
        return found
    mails = (Mail(0, draft.sender, one, draft.kind, draft.body, 0.0, draft.key) for one in found)
    return tuple(_appended(connection, mail, now) for mail in mails)


def _appended(connection: SqlConnection, mail: Mail, now: float) -> Mail:
    row = (*_key(mail.sender), *_key(mail.recipient), str(mail.kind), mail.body, now, mail.key)
    (id,) = connection.execute(APPEND, row).fetchone()
    return replace(mail, id=id, sent_at=now)


def _sent_before(connection: SqlConnection, draft: MailDraft) -> tuple[Mail, ...]:
    question = f"SELECT {COLUMNS} FROM mail WHERE sender = ? AND sender_generation = ? AND key = ? ORDER BY id"
    return _readable(connection.execute(question, (*_key(draft.sender), draft.key)).fetchall())


def _readable(rows: Sequence[Sequence[Any]]) -> tuple[Mail, ...]:
    return tuple(mail for mail in map(_mail, rows) if mail is not None)


def _mail(row: Sequence[Any]) -> Mail | None:
    """The message of a row; None: it holds values that no version wrote."""
    id, sender, sender_generation, recipient, generation, kind, body, at, key = row
    texts, numbers = (sender, recipient, kind, body, key), (sender_generation, generation, at)
    if not all(isinstance(one, str) for one in texts) or not all(isinstance(one, int | float) for one in numbers):
        return None
    if kind not in KINDS:
        return None
    return Mail(id, Address(sender, sender_generation), Address(recipient, generation), MailKind(kind), body, at, key)
