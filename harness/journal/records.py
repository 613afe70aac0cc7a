"""Records to and from lines, and the reading of a whole journal."""

import json
from dataclasses import dataclass
from pathlib import Path

from harness.base.errors import JournalError
from harness.base.regular_file import open_regular
from harness.events import Event, Json, decode, encode

FAR_FUTURE = 1e11
"""Unix time in seconds; anything from here on is damage."""


@dataclass(frozen=True, slots=True)
class Record:
    """One event as the journal holds it."""

    seq: int
    """Counts from 1 within a journal."""
    at: float
    """Unix time in seconds at which it was written."""
    event: Event


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that was skipped."""

    number: int
    """Counts from 1, as editors do."""
    why: str


@dataclass(frozen=True, slots=True)
class Reading:
    """What a journal holds, and what in it could not be read."""

    records: tuple[Record, ...]
    skipped: tuple[BadLine, ...]


def line_of(record: Record) -> bytes:
    """The record as one line of ASCII, newline included; lone surrogates survive as escapes."""
    data = {"seq": record.seq, "at": record.at, **encode(record.event)}
    return json.dumps(data, separators=(",", ":")).encode("ascii") + b"\n"


def object_of(line: bytes) -> Json:
    """The JSON object on a line. Raises ValueError with the reason in words when there is none."""
    try:
        data = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ValueError("not JSON" if line.endswith(b"\n") else "cut off in the middle") from error
    if not isinstance(data, dict):
        raise ValueError("not a JSON object")
    return data


class LineReader:
    """Turns the lines of one journal into records, in the order of the file.

    It remembers the last record and some hundred bytes for each line, not the lines.
    """

    def __init__(self) -> None:
        self._number = 0
        self._previous: Record | None = None
        self._first_seen: dict[int, tuple[int, int]] = {}
        """For each `seq` the number and the hash of the line that had it first."""

    def take(self, line: bytes) -> Record | BadLine | None:
        """What the next line holds; None for an empty one.

        Bad lines, events of newer versions and lines that stand there twice are bad lines; a missing `seq` or `at`
        is taken from the line before.
        """
        self._number += 1
        if line.isspace():
            return None
        try:
            record = _record(object_of(line), self._previous)
        except ValueError as error:
            return BadLine(self._number, str(error))
        content = hash(line.strip())
        earlier, known = self._first_seen.setdefault(record.seq, (self._number, content))
        if earlier != self._number and known == content:
            return BadLine(self._number, f"the same as line {earlier}")
        self._previous = record
        return record


def read(path: Path) -> Reading:
    """Everything in a journal that can be read, in the order of the file.

    What `LineReader` finds bad is skipped and reported. Raises JournalError only when the file cannot be opened.
    """
    records: list[Record] = []
    skipped: list[BadLine] = []
    reader = LineReader()
    try:
        with open_regular(path) as file:
            for line in file:
                match reader.take(line):
                    case Record() as record:
                        records.append(record)
                    case BadLine() as bad:
                        skipped.append(bad)
    except OSError as error:
        raise JournalError(f"The journal {path} cannot be read: {error.strerror}.") from error
    return Reading(tuple(records), tuple(skipped))


def _record(data: Json, previous: Record | None) -> Record:
    seq, at = seq_of(data), time_of(data)
    return Record(
        seq=seq or (previous.seq + 1 if previous else 1),
        at=at if at is not None else (previous.at if previous else 0.0),
        event=_event(data),
    )


def _event(data: Json) -> Event:
    try:
        return decode(data)
    except ValueError as error:
        name = data.get("type")
        if str(error).startswith("unknown event type"):
            raise ValueError(f"{error}, perhaps of a newer version") from error
        raise ValueError(f"the fields do not fit the event {name!r}") from error


def seq_of(data: Json) -> int | None:
    """The number of the line, or None where it has no usable one."""
    seq = data.get("seq")
    return seq if isinstance(seq, int) and not isinstance(seq, bool) and seq > 0 else None


def time_of(data: Json) -> float | None:
    """The unix time of the line in seconds, or None where it has no usable one."""
    at = data.get("at")
    if isinstance(at, int | float) and not isinstance(at, bool) and 0 <= at < FAR_FUTURE:
        return float(at)
    return None
