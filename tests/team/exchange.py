"""Writers and readers of mailboxes that are killed again and again.

`python -m tests.team.exchange` lets eight writers send 4,000 messages each, and kills each six times (ten minutes).
"""

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread

from harness.events import Address
from harness.team.mail import SqliteMail, mail_file
from tests.team.mail_processes import LIMITS, READERS

ROOT = Path(__file__).parents[2]


class Killed:
    """A process that is killed whenever its log has grown by a share of its work, and started again."""

    def __init__(self, what: str, file: Path, log: Path, total: int, *, kills: int) -> None:
        self._command: list[str | Path] = [
            sys.executable,
            "-m",
            "tests.team.mail_processes",
            what,
            file,
            log,
            log.name,
            str(total),
        ]
        self._log = log
        self._marks = [total * one // (kills + 1) for one in range(1, kills + 1)]
        self._thread = Thread(target=self._run, daemon=True)
        self.killed, self.code = 0, -1
        self._thread.start()

    def _run(self) -> None:
        pause = Event()
        for mark in [*self._marks, None]:
            process = subprocess.Popen(self._command, cwd=ROOT)
            while mark is not None and process.poll() is None and self._lines() < mark:
                pause.wait(0.002)
            if mark is not None and process.poll() is None:
                process.kill()
            self.code = process.wait()
            self.killed += self.code < 0

    def _lines(self) -> int:
        return self._log.read_bytes().count(b"\n") if self._log.exists() else 0

    def over(self) -> bool:
        self._thread.join()
        return self.code == 0


def exchange(place: Path, *, writers: int, messages: int, kills: int) -> None:
    """Writers and readers, killed: what each reader has read is what was sent to it, once, in each sender's order."""
    file = mail_file(place, "s1")
    store = SqliteMail(file, limits=LIMITS)
    for name in READERS:
        store.begin(name)
    each = writers * messages // 2
    work = [Killed("write", file, place / f"w{number}", messages, kills=kills) for number in range(writers)]
    work += [Killed("read", file, place / name, each, kills=kills) for name in READERS]
    assert all(one.over() for one in work)
    assert sum(one.killed for one in work) > len(work) * kills // 2
    for at, name in enumerate(READERS):
        read = [line.split()[1:] for line in (place / name).read_text().splitlines()]
        for number in range(writers):
            mine = [int(one) for sender, one in read if sender == f"w{number}"]
            assert mine == list(range(at, messages, 2))
        assert len(read) == each
        assert store.unread(Address(name, 1)) == ()
    store.close()


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        exchange(Path(folder), writers=8, messages=4_000, kills=6)
        print("32,000 messages, 60 kills: none lost, none doubled, the order of each sender kept")
