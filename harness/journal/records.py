"""Records of a journal, read from lines and written to them."""

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from harness.base.errors import JournalError
from harness.base.files import open_regular
from harness.events import Event, Json, StepStarted, decode, encode
from harness.events.codec import RETIRED

FAR_FUTURE = 1e11
"""Unix time in seconds; later times are damage."""
CHUNK = 8192
"""Bytes read at a time from the end of a file; a few events fit."""


@dataclass(frozen=True, slots=True)
class Record:
    """One event in a journal."""

    seq: int
    """Counts from 1 within a journal."""
    at: float
    """Unix time in seconds at which it was written."""
    event: Event


@dataclass(frozen=True, slots=True)
class SkippedLine:
    """A line that could not be read."""

    number: int
    """Counts from 1, as in editors."""
    why: str


@dataclass(frozen=True, slots=True)
class JournalContents:
    """The readable records of a journal, and the lines that were skipped."""

    records: tuple[Record, ...]
    skipped: tuple[SkippedLine, ...]


def line_of(record: Record) -> bytes:
    """The record as one line of ASCII, newline included; lone surrogates survive as escapes."""
    data = {"seq": record.seq, "at": record.at, **encode(record.event)}
    return json.dumps(data, separators=(",", ":")).encode("ascii") + b"\n"


def object_of(line: bytes) -> Json:
    """The JSON object on a line. Raises ValueError with the reason in words if there is none."""
    try:
        data = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ValueError("not JSON" if line.endswith(b"\n") else "cut off in the middle") from error
    if not isinstance(data, dict):
        raise ValueError("not a JSON object")
    return data


class LineReader:
    """Turns the lines of one journal into records, in the order of the file.

    Remembers the last record and some hundred bytes per line, not the lines.
    """

    def __init__(self) -> None:
        self._number = 0
        self._previous: Record | None = None
        self._first_seen: dict[int, tuple[int, int]] = {}
        """For each `seq` the number and the hash of the line that had it first."""

    def read(self, line: bytes) -> Record | SkippedLine | None:
        """The record on the next line; None for an empty line, or an event of an older version that is ignored.

        Damaged lines, events of newer versions and repeated lines are skipped. A missing `seq` or `at` continues that
        of the previous line.
        """
        self._number += 1
        if line.isspace():
            return None
        try:
            data = object_of(line)
            if data.get("type") in RETIRED:
                return None
            record = _record(data, self._previous)
        except ValueError as error:
            return SkippedLine(self._number, str(error))
        content = hash(line.strip())
        earlier, known = self._first_seen.setdefault(record.seq, (self._number, content))
        if earlier != self._number and known == content:
            return SkippedLine(self._number, f"the same as line {earlier}")
        self._previous = record
        return record


def read(path: Path) -> JournalContents:
    """All readable records of a journal, in the order of the file.

    Lines that `LineReader` cannot read are skipped and reported. Raises JournalError only if the file cannot be opened.
    """
    records: list[Record] = []
    skipped: list[SkippedLine] = []
    reader = LineReader()
    try:
        with open_regular(path) as file:
            for line in file:
                match reader.read(line):
                    case Record() as record:
                        records.append(record)
                    case SkippedLine() as bad:
                        skipped.append(bad)
    except OSError as error:
        raise JournalError(f"The journal {path} cannot be read: {error.strerror}.") from error
    return JournalContents(tuple(records), tuple(skipped))


def records_until(path: Path, *, step: int | None = None, seq: int | None = None) -> tuple[Record, ...]:
    """The records up to the end of a step or up to a record; all of them if neither is given.

    Raises JournalError if the journal has no such step or record.
    """
    records = read(path).records
    if step is not None:
        require_step(path, records, step)
        return tuple(until(records, step))
    if seq is None:
        return records
    if not any(record.seq == seq for record in records):
        last = max((record.seq for record in records), default=0)
        raise JournalError(f"{path.name} has no record {seq}; its records are 1 to {last}.")
    return tuple(record for record in records if record.seq <= seq)


def require_step(path: Path, records: Iterable[Record], step: int) -> None:
    """Raise JournalError, with the range of steps, if the journal has no such step."""
    last = max((record.event.step for record in records if isinstance(record.event, StepStarted)), default=0)
    if not 0 < step <= last:
        raise JournalError(f"{path.name} has no step {step}; its steps are 1 to {last}.")


def until(records: Iterable[Record], at: int | None) -> Iterator[Record]:
    """The records up to the end of step `at`; None: all of them."""
    for record in records:
        if at is not None and isinstance(record.event, StepStarted) and record.event.step > at:
            return
        yield record


def lines_backwards(file: BinaryIO) -> Iterator[bytes]:
    """The lines of a file from the last to the first, without their newlines, in linear time.

    The text after the last newline comes first, even if it is empty.
    """
    position = file.seek(0, os.SEEK_END)
    unfinished: list[bytes] = []
    while position > 0:
        size = min(CHUNK, position)
        position = file.seek(position - size)
        head, *lines = file.read(size).split(b"\n")
        if lines:
            yield lines.pop() + b"".join(reversed(unfinished))
            yield from reversed(lines)
            unfinished = []
        unfinished.append(head)
    yield b"".join(reversed(unfinished))


def seq_of(data: Json) -> int | None:
    """The number of a line; None if it is missing or damaged."""
    seq = data.get("seq")
    return seq if isinstance(seq, int) and not isinstance(seq, bool) and seq > 0 else None


def time_of(data: Json) -> float | None:
    """The Unix time of a line in seconds; None if it is missing or damaged."""
    at = data.get("at")
    if isinstance(at, int | float) and not isinstance(at, bool) and 0 <= at < FAR_FUTURE:
        return float(at)
    return None


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
