"""What can still be read of a damaged SQLite file whose tables are known.

SQLite's own `.recover` is part of its shell, not of the library. Here rows are asked for in halves of halves until only
those of damaged pages are missing. Where the first page is damaged, which says where the tables begin, that of a new
file takes its place: the same SQL always puts the tables at the same pages.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from typing import Any

PAGE = 4096
"""Bytes of a page, SQLite's default since 2016."""
LARGEST_ROWID = 2**40
MOST_FAILURES = 2_000
"""Reads that fail, after which the rest of a table is given up."""
MOST_IN_VAIN = 60
"""The same where no read succeeds."""
MOST_LINES = 1_000_000
"""Of a check; more than a file has rows."""
TYPES = {"INTEGER": (int,), "TEXT": (str,), "REAL": (float, int)}
NULL = (type(None),)
UNREADABLE = (sqlite3.Error, UnicodeDecodeError)
"""The second: an error message of SQLite holds a damaged name."""

Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class _Table:
    name: str
    columns: tuple[str, ...]
    types: tuple[tuple[type, ...], ...]
    """Types that a value may have."""
    keys: tuple[str, ...]
    """The primary key of a table without row ids; empty: it has some."""
    single: bool
    """It has one row from the beginning."""

    @property
    def selected(self) -> str:
        """Reads key and columns."""
        return f"SELECT {', '.join((*(self.keys or ('rowid',)), *self.columns))} FROM {self.name}"

    def fits(self, row: Row) -> bool:
        return all(type(value) in types for value, types in zip(row, self.types, strict=True))


def is_whole(connection: sqlite3.Connection) -> bool:
    """Whether SQLite finds its pages in order.

    Versions 3.40.0 to 3.41.0 (Debian 12) report NULL values where there are none, in a table without row ids that has
    another column between those of its key. Such a line says nothing; `is_sound` looks at the values.
    """
    lines = connection.execute(f"PRAGMA quick_check({MOST_LINES})")
    return all(line == "ok" or line.startswith("NULL value in ") for (line,) in lines)


def is_sound(connection: sqlite3.Connection, tables: str) -> bool:
    """Whether the file is whole and holds these tables with values of their types."""
    try:
        if not is_whole(connection):
            return False
        for table in _tables(tables):
            rows = connection.execute(f"SELECT {', '.join(table.columns)} FROM {table.name}").fetchall()
            if not all(map(table.fits, rows)) or (table.single and len(rows) != 1):
                return False
    except UNREADABLE:
        return False
    return True


def salvage(data: bytes, tables: str, into: sqlite3.Connection) -> int:
    """Copy the readable rows of a damaged file into new tables; returns their number."""
    with closing(sqlite3.connect(":memory:")) as fresh:
        fresh.executescript(tables)
        first = bytearray(fresh.serialize()[:PAGE])
    first[28:32] = (len(data) // PAGE).to_bytes(4)
    sources = (data[:18] + b"\1\1" + data[20:], bytes(first) + data[PAGE:])  # without the mark of a write-ahead log
    kept = 0
    for table in _tables(tables):
        rows = max((_rows(source, table) for source in sources), key=len)
        if table.single and rows:
            into.execute(f"DELETE FROM {table.name}")
        question = f"INSERT OR IGNORE INTO {table.name} VALUES ({', '.join('?' * len(table.columns))})"
        into.executemany(question, rows[:1] if table.single else rows)
        kept += 0 if table.single else len(rows)
    return kept


def _tables(tables: str) -> Iterator[_Table]:
    with closing(sqlite3.connect(":memory:")) as fresh:
        fresh.executescript(tables)
        for (name,) in fresh.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            columns = fresh.execute(f"PRAGMA table_info({name})").fetchall()
            keys = tuple(column[1] for column in columns if column[5])
            with suppress(sqlite3.OperationalError):  # a table without row ids
                fresh.execute(f"SELECT rowid FROM {name}")
                keys = ()
            yield _Table(
                name,
                tuple(column[1] for column in columns),
                tuple(
                    TYPES[kind] if full or key else (*TYPES[kind], type(None)) for _, _, kind, full, _, key in columns
                ),
                keys,
                fresh.execute(f"SELECT count(*) FROM {name}").fetchone() == (1,),
            )


def _rows(data: bytes, table: _Table) -> Sequence[Row]:
    """The readable rows of a table in their order, without those whose values have another type."""
    found: dict[Row, Row] = {}
    width = max(1, len(table.keys))

    def read(rest: str, values: Sequence[int] = ()) -> bool:
        try:
            for row in source.execute(f"{table.selected} {rest}", values):
                found[row[:width]] = row[width:]
        except UNREADABLE:
            return False
        return True

    with closing(sqlite3.connect(":memory:")) as source:
        source.text_factory = lambda text: text.decode("utf-8", "replace")
        try:
            source.deserialize(data)
        except UNREADABLE:
            return ()
        if table.keys:
            if not read(""):
                read(f"ORDER BY {' DESC, '.join(table.keys)} DESC")
        else:
            ranges, failures, most = [(1, LARGEST_ROWID)], 0, MOST_IN_VAIN
            while ranges and failures < most:
                low, high = ranges.pop()
                if read("NOT INDEXED WHERE rowid BETWEEN ? AND ?", (low, high)):
                    most = MOST_FAILURES
                    continue
                failures += 1
                if low < high:
                    middle = (low + high) // 2
                    ranges += [(middle + 1, high), (low, middle)]
    fitting = {key: row for key, row in found.items() if table.fits(row) and (table.keys or type(key[0]) is int)}
    return list(fitting.values()) if table.keys else [fitting[key] for key in sorted(fitting)]
