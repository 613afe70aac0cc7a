"""Mailboxes against a naive oracle, under writers and readers that are killed, and with damaged records."""

import signal
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from harness.events import Address, MailKind
from harness.policies.team.mail import MailDraft, MailLimits, MailRefused, begins_work
from harness.team.mail import MailError, MailStore, MemoryMail, SqliteMail, mail_file
from tests.fleet.postgres import fleet_place, programs
from tests.team.exchange import exchange
from tests.team.mail_processes import LIMITS, READERS
from tests.whole import WHOLE

ROOT = Path(__file__).parents[2]
NAMES = ("lead", "ann", "ben")


class OracleMachine(RuleBasedStateMachine):
    """Both stores do what lists do."""

    def __init__(self) -> None:
        super().__init__()
        self.place = TemporaryDirectory()
        limits = MailLimits(waiting=6)
        self.disk = SqliteMail(mail_file(Path(self.place.name), "s1"), limits=limits)
        self.stores: tuple[MailStore, ...] = (MemoryMail(limits), self.disk)
        if programs() is not None:
            self.stores = (*self.stores, SqliteMail(fleet_place("mail"), limits=limits))
        self.queues: dict[Address, list[tuple[Address, MailKind, str]]] = {}
        self.ended: set[Address] = set()
        self.number = 0

    def newest(self, name: str) -> Address | None:
        return max((one for one in self.queues if one.name == name), key=lambda one: one.generation, default=None)

    @rule(name=st.sampled_from(NAMES))
    def begin(self, name: str) -> None:
        last = self.newest(name)
        if last is None or last in self.ended:
            address = Address(name, last.generation + 1 if last else 1)
            assert {store.begin(name) for store in self.stores} == {address}
            self.queues[address] = []

    @rule(
        sender=st.sampled_from(NAMES),
        to=st.lists(st.sampled_from((*NAMES, "eve", "all")), min_size=1, max_size=3),
        body=st.sampled_from(["go", "thanks", "look"]),
        kind=st.sampled_from(list(MailKind)),
        again=st.booleans(),
    )
    def send(self, sender: str, to: list[str], body: str, kind: MailKind, *, again: bool) -> None:
        self.number += 1
        draft = MailDraft(self.newest(sender) or Address(sender, 1), tuple(to), body, kind, key=f"k{self.number}")
        answers = [store.send(draft) for store in self.stores]
        live = [box for name in NAMES if (box := self.newest(name)) and box not in self.ended and name != sender]
        wanted = live if "all" in to else [box for name in dict.fromkeys(to) for box in live if box.name == name]
        whole = bool(wanted) and ("all" in to or len(wanted) == len(set(to)))
        if whole and all(len(self.queues[box]) < 6 for box in wanted):
            for answer in answers:
                assert not isinstance(answer, MailRefused)
                assert {mail.recipient for mail in answer} == set(wanted)
            for box in wanted:
                self.queues[box].append((draft.sender, kind, body))
            if again:
                assert [store.send(draft) for store in self.stores] == answers
        else:
            assert all(isinstance(answer, MailRefused) for answer in answers)
            assert all(answer == answers[0] for answer in answers)

    @rule(name=st.sampled_from(NAMES), count=st.integers(0, 4))
    def read(self, name: str, count: int) -> None:
        box = self.newest(name)
        for store in self.stores if box else ():
            assert box is not None
            for mail in store.unread(box)[:count]:
                store.read(box, mail.id)
                store.read(box, mail.id - 1)
        if box:
            del self.queues[box][:count]

    @rule(name=st.sampled_from(NAMES))
    def end(self, name: str) -> None:
        box = self.newest(name)
        if box is None or box in self.ended:
            return
        for store in self.stores:
            ids, _ = store.end(box, "over")
            assert len(ids) == len(self.queues[box])
        self.ended.add(box)
        unread, self.queues[box] = self.queues[box], []
        for sender, kind, body in unread:
            if sender in self.queues and sender not in self.ended and kind is not MailKind.RETURNED:
                back = MailKind.RETURNED if begins_work(kind, body) else MailKind.NOTE
                self.queues[sender].append((box, back, f"over. It began: {body}"))

    @rule()
    def restart(self) -> None:
        for store in self.stores:
            store.close()

    @invariant()
    def hold_the_same(self) -> None:
        for store in self.stores:
            for box, queue in self.queues.items():
                held = [(mail.sender, mail.kind, mail.body) for mail in store.unread(box)]
                assert [one[:2] for one in held] == [one[:2] for one in queue]
                assert all(got[2].endswith(want[2]) for got, want in zip(held, queue, strict=True))
            counts = {name: (box.address, box.unread, bool(box.ended)) for name, box in store.boxes().items()}
            assert counts == {
                box.name: (box, len(self.queues[box]), box in self.ended)
                for box in self.queues
                if box == self.newest(box.name)
            }

    def teardown(self) -> None:
        self.restart()
        self.place.cleanup()


TestOracle = OracleMachine.TestCase
TestOracle.settings = settings(max_examples=200 if WHOLE else 20, stateful_step_count=15, deadline=None)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return mail_file(tmp_path, "s1")


@pytest.fixture
def told() -> list[str]:
    return []


@pytest.fixture
def mail(file: Path, told: list[str]) -> Iterator[SqliteMail]:
    store = SqliteMail(file, report=told.append)
    yield store
    store.close()


def test_a_record_that_cannot_be_read_is_told_of_once_and_the_others_are_delivered(
    mail: SqliteMail, file: Path, told: list[str]
) -> None:
    ann, lead = mail.begin("ann"), mail.begin("lead")
    for body in ("one", "two", "three"):
        mail.send(MailDraft(lead, ("ann",), body))
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("UPDATE mail SET body = x'ff' WHERE id = 1")
        connection.execute("UPDATE mail SET kind = 'telepathy' WHERE id = 2")
    for _ in range(2):
        assert [one.body for one in mail.unread(ann)] == ["three"]
    assert mail.boxes()["ann"].unread == 1
    assert len(told) == 2
    assert "Message 1" in told[0]
    assert "unknown kind 'telepathy'" in told[1]


def test_a_failed_write_is_an_error_and_nothing_was_sent(mail: SqliteMail, file: Path) -> None:
    ann, lead = mail.begin("ann"), mail.begin("lead")
    mail.close()
    file.rename(file.with_suffix(".kept"))
    file.mkdir()
    with pytest.raises(MailError, match="cannot be used"):
        mail.send(MailDraft(lead, ("ann",), "hi"))
    file.rmdir()
    file.with_suffix(".kept").rename(file)
    assert mail.unread(ann) == ()


# ── processes that are killed ───────────────────────────────────────────────────────────────────


def test_a_killed_writer_and_reader_lose_and_double_nothing(tmp_path: Path) -> None:
    exchange(tmp_path, writers=1, messages=60, kills=1)


@pytest.mark.stories
def test_eight_writers_that_are_killed_again_and_again(tmp_path: Path) -> None:
    exchange(tmp_path, writers=8, messages=400, kills=6)


@pytest.mark.stories
def test_a_process_that_is_killed_at_any_instruction_of_its_file_loses_and_doubles_nothing(tmp_path: Path) -> None:
    file, messages = mail_file(tmp_path, "s1"), 12
    store = SqliteMail(file, limits=LIMITS)
    for name in READERS:
        store.begin(name)
    work = {"write": "w0", "read": READERS[0]}
    kills = Counter(what for what, log in work.items() for _ in killed_everywhere(what, file, log, messages))
    assert min(kills["write"], kills["read"]) > 20
    texts = [line.split(" ", 1)[1] for line in (tmp_path / READERS[0]).read_text().splitlines()]
    assert texts == [f"w0 {number}" for number in range(0, messages, 2)]
    assert [mail.body for mail in store.unread(Address(READERS[1], 1))] == [
        f"w0 {number}" for number in range(1, messages, 2)
    ]
    assert store.unread(Address(READERS[0], 1)) == ()
    store.close()


def killed_everywhere(what: str, file: Path, name: str, messages: int) -> Iterator[int]:
    """Run a process of `mail_processes`, killed at later and later instructions, until one ends by itself; yields each
    kill."""
    at, total = 1, messages if what == "write" else messages // 2
    while True:
        paths = str(file), str(file.parents[1] / name)
        command = [sys.executable, "-m", "tests.team.mail_processes", what, *paths, name, str(total), str(at)]
        ended = subprocess.run(command, cwd=ROOT, check=False)
        if ended.returncode == 0:
            return
        assert ended.returncode == -signal.SIGKILL
        yield at
        at += max(1, at // 4)


def test_threads_share_a_store(mail: SqliteMail) -> None:
    lead, go = mail.begin("lead"), Event()

    def write(name: str) -> None:
        go.wait()
        for number in range(10):
            mail.send(MailDraft(Address(name, 1), ("lead",), str(number)))

    threads = [Thread(target=write, args=(name,)) for name in ("ann", "ben", "cat")]
    for thread in threads:
        thread.start()
    go.set()
    for thread in threads:
        thread.join()
    read = mail.unread(lead)
    for name in ("ann", "ben", "cat"):
        assert [int(one.body) for one in read if one.sender.name == name] == list(range(10))
