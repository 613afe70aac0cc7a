"""A store in one file: for all processes of a person on one machine."""

import sqlite3
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

from harness.slots.file import SlotsFile
from harness.slots.owners import Owner, lives
from harness.slots.store import Claim, Entry, Standing
from harness.slots.worker_thread import Desk

T = TypeVar("T")

PATIENCE_S = 5.0
"""How long a step may take, the wait for all who came before included; it takes about a millisecond."""
LOOK_S = 0.25
"""How often all sessions together look whether a process is gone that holds a slot or waits."""

ENTER = """
INSERT INTO claims (id, session, host, pid, born, label, lease_s, most, since, expires)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET most = excluded.most, expires = excluded.expires
RETURNING place, started
"""
ALL = "SELECT id, session, host, pid, born, label, lease_s, most, since, started, expires FROM claims ORDER BY place"


def slots_file(state_folder: Path) -> Path:
    """The file in which all sessions with this state folder share their slots."""
    return state_folder / "gate.sqlite"


class SqliteStore:
    """Keeps everything in one SQLite file. Any thread may use it, and no process that was forked off.

    A process of this machine that is gone loses its claims within `look_s` of the next look of anybody who waits.
    """

    def __init__(
        self,
        path: Path,
        *,
        lives: Callable[[Owner], bool] = lives,
        tell: Callable[[str], None] = lambda _: None,
        look_s: float = LOOK_S,
        patience_s: float = PATIENCE_S,
    ) -> None:
        """
        Args:
            path: the file; it is made when it is first needed, with its folder.
            lives: whether the process of an owner may still run.
            tell: gets a sentence for the person when a damaged file was set aside, on a thread of the store's.
            look_s: seconds between two looks at who still lives; 0: with every question.
            patience_s: seconds after which a step is given up.
        """
        self._lives = lives
        self._look_s = look_s
        self._desk = Desk(partial(SlotsFile, path, tell), name=str(path), patience_s=patience_s)

    def ask(self, claim: Claim, limit: int, now: float) -> Standing:
        """See `Store.ask`."""
        owner = claim.owner
        who = (claim.id, owner.session, owner.host, owner.pid, owner.born)
        row = (*who, claim.label, claim.lease_s, limit, now, now + claim.lease_s)

        def step(connection: sqlite3.Connection) -> Standing:
            self._forget(connection, now)
            place, started = connection.execute(ENTER, row).fetchone()
            running, before = connection.execute(
                "SELECT count(started), count(*) FILTER (WHERE started IS NULL AND place < ?) FROM claims", (place,)
            ).fetchone()
            if started is None and running + before < limit:
                connection.execute("UPDATE claims SET started = ? WHERE place = ?", (now, place))
                started, running = now, running + 1
            return Standing(started is not None, before, running)

        return self._do(step)

    def renew(self, claim_ids: Sequence[str], now: float) -> tuple[str, ...]:
        """See `Store.renew`."""
        question = "UPDATE claims SET expires = ? + lease_s WHERE id = ?"

        def step(connection: sqlite3.Connection) -> tuple[str, ...]:
            return tuple(claim for claim in claim_ids if connection.execute(question, (now, claim)).rowcount)

        return self._do(step)

    def release(self, claim_id: str) -> None:
        """See `Store.release`."""
        self._do(lambda connection: connection.execute("DELETE FROM claims WHERE id = ?", (claim_id,)).rowcount)

    def entries(self, now: float) -> tuple[Entry, ...]:
        """See `Store.entries`."""
        found = self._do(lambda connection: [_entry(*row) for row in connection.execute(ALL)])
        return tuple(entry for entry in found if entry.expires > now and self._lives(entry.claim.owner))

    def change(self, name: str, change: Callable[[str | None], str | None]) -> str | None:
        """See `Store.change`."""

        def step(connection: sqlite3.Connection) -> str | None:
            kept = connection.execute("SELECT text FROM cells WHERE name = ?", (name,)).fetchone()
            text = change(kept and kept[0])
            if text is None:
                connection.execute("DELETE FROM cells WHERE name = ?", (name,))
            else:
                connection.execute("INSERT OR REPLACE INTO cells VALUES (?, ?)", (name, text))
            return text

        return self._do(step)

    def cells(self) -> dict[str, str]:
        """See `Store.cells`."""
        return self._do(lambda connection: dict(connection.execute("SELECT name, text FROM cells ORDER BY name")))

    def close(self) -> None:
        """Close the file. It is opened again when it is needed again."""
        self._desk.close()

    def _do(self, step: Callable[[sqlite3.Connection], T]) -> T:
        return self._desk.do(lambda file: file.transact(step))

    def _forget(self, connection: sqlite3.Connection, now: float) -> None:
        """Remove what is over. A clock that was put back makes no lease longer."""
        connection.execute("DELETE FROM claims WHERE expires <= ?", (now,))
        connection.execute("UPDATE claims SET expires = ?1 + lease_s WHERE expires > ?1 + lease_s", (now,))
        (looked,) = connection.execute("SELECT at FROM looked").fetchone()
        if abs(now - looked) < self._look_s:
            return
        connection.execute("UPDATE looked SET at = ?", (now,))
        for row in connection.execute("SELECT DISTINCT session, host, pid, born FROM claims").fetchall():
            if not self._lives(Owner(*row)):
                connection.execute("DELETE FROM claims WHERE (session, host, pid, born) = (?, ?, ?, ?)", row)


def _entry(
    id: str,
    session: str,
    host: str,
    pid: int,
    born: str,
    label: str,
    lease_s: float,
    most: int,
    since: float,
    started: float | None,
    expires: float,
) -> Entry:
    claim = Claim(id, Owner(session, host, pid, born), label, lease_s)
    return Entry(claim, most, since, started, expires)
