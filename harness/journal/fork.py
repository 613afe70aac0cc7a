"""A second session that begins as a copy of the first."""

import json
from collections.abc import Iterator
from pathlib import Path

from harness.base.errors import JournalError
from harness.base.regular_file import open_regular
from harness.events import Json, SessionStarted, name_of
from harness.journal.records import object_of


def fork(path: Path, folder: Path, new_id: str) -> Path:
    """Copy the journal at `path` as the beginning of a new session and return the copy's path.

    The copy holds every whole line, those of newer versions included, and names the original in its
    `SessionStarted`; a line that is being written just now stays out. The original may be in use. Raises
    JournalError.
    """
    copy = folder / f"{new_id}.jsonl"
    if copy.exists():
        raise JournalError(f"The session {new_id} exists already in {folder}; fork to another id.")
    unfinished = copy.with_suffix(".fork")
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        unfinished.touch(mode=0o600)
        with unfinished.open("wb") as file:
            file.writelines(_copied(path, new_id))
        unfinished.replace(copy)
    except OSError as error:
        unfinished.unlink(missing_ok=True)
        raise JournalError(f"The session {path.stem} cannot be forked into {folder}: {error.strerror}.") from error
    return copy


def _copied(path: Path, new_id: str) -> Iterator[bytes]:
    renamed = False
    with open_regular(path) as file:
        for line in file:
            start = None if renamed else _start(line)
            if start is not None:
                renamed = True
                start |= {"session_id": new_id, "forked_from": start.get("session_id")}
                yield json.dumps(start, separators=(",", ":")).encode("ascii") + b"\n"
            elif line.endswith(b"\n"):
                yield line
            elif _is_whole(line):
                yield line + b"\n"


def _start(line: bytes) -> Json | None:
    try:
        data = object_of(line)
    except ValueError:
        return None
    return data if data.get("type") == name_of(SessionStarted) else None


def _is_whole(line: bytes) -> bool:
    try:
        object_of(line)
    except ValueError:
        return False
    return True
