"""The sessions in a folder, from their files alone."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import islice
from pathlib import Path

from harness.base.errors import UnknownSession
from harness.base.regular_file import open_regular
from harness.events import Json, SessionStarted, TurnEnded, TurnStarted, name_of
from harness.journal.last_lines import lines_backwards
from harness.journal.records import object_of, time_of
from harness.journal.replay import title_of

NEAR_LINES = 100
"""How far from either end of a file the first prompt and the last turn's end are looked for."""
LATEST = "latest"


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """A session as a list shows it."""

    id: str
    path: Path
    title: str
    """The first prompt in one line; empty when nothing was said."""
    workspace: str
    model: str
    """The model that the session began with."""
    started_at: float
    """Unix time."""
    updated_at: float
    """Unix time of the last event."""
    interrupted: bool
    """The last turn did not end."""
    size: int
    """Bytes."""


def sessions(folder: Path) -> tuple[SessionSummary, ...]:
    """The sessions in a folder, the one used last first.

    Only the first and the last lines of each file are read, and there is no index to lose (recovery K2). A file
    that cannot be opened is listed with the reason as its title.
    """
    found = [_summary(path) for path in folder.glob("*.jsonl")]
    return tuple(sorted(found, key=lambda summary: (summary.updated_at, summary.id), reverse=True))


def find(folder: Path, wanted: str) -> Path:
    """The journal of the session with this id, or with an id that begins so, or of the "latest" one.

    The latest is the one used last in which something was said. Raises UnknownSession with the nearest ids.
    """
    if wanted == LATEST:
        return _latest(sessions(folder))
    ids = sorted(path.stem for path in folder.glob("*.jsonl"))
    matches = [wanted] if wanted in ids else [one for one in ids if wanted and one.startswith(wanted)]
    if len(matches) != 1:
        raise UnknownSession(_explanation(wanted, matches, ids))
    return folder / f"{matches[0]}.jsonl"


def _latest(listed: tuple[SessionSummary, ...]) -> Path:
    for summary in (*(one for one in listed if one.title), *listed):
        return summary.path
    raise UnknownSession("There is no session for this folder yet; start one with a prompt.")


def _explanation(wanted: str, matches: list[str], ids: list[str]) -> str:
    if matches:
        shown = ", ".join(matches[:5]) + (", …" if len(matches) > 5 else "")
        return f"{len(matches)} sessions of this folder begin with {wanted!r}: {shown}; give more of the id."
    if near := get_close_matches(wanted, ids, n=3, cutoff=0.5):
        return f"No session of this folder has the id {wanted!r}; the nearest: {', '.join(near)}."
    return f"No session of this folder has the id {wanted!r}; --resume without an id shows those there are."


def _summary(path: Path) -> SessionSummary:
    try:
        status = path.stat()
        with open_regular(path) as file:
            head = _until({name_of(TurnStarted)}, _objects(file))
            tail = _until({name_of(TurnStarted), name_of(TurnEnded)}, _objects(lines_backwards(file)))
    except OSError as error:
        title = f"(cannot be read: {error.strerror})"
        return SessionSummary(path.stem, path, title, "", "", 0, 0, interrupted=False, size=0)
    started: Json = next((data for data in head if data.get("type") == name_of(SessionStarted)), {})
    prompt: Json = next((data for data in head if data.get("type") == name_of(TurnStarted)), {})
    return SessionSummary(
        id=path.stem,
        path=path,
        title=title_of(str(prompt.get("prompt", ""))),
        workspace=str(started.get("workspace", "")),
        model=str(started.get("model", "")),
        started_at=next(_times(head), status.st_mtime),
        updated_at=next(_times(tail), status.st_mtime),
        interrupted=bool(prompt) and not any(data.get("type") == name_of(TurnEnded) for data in tail),
        size=status.st_size,
    )


def _objects(lines: Iterable[bytes]) -> Iterator[Json]:
    for line in islice(lines, NEAR_LINES):
        try:
            yield object_of(line)
        except ValueError:
            continue


def _times(objects: Iterable[Json]) -> Iterator[float]:
    return (at for data in objects if (at := time_of(data)) is not None)


def _until(names: set[str], objects: Iterable[Json]) -> list[Json]:
    taken: list[Json] = []
    for data in objects:
        taken.append(data)
        if data.get("type") in names:
            break
    return taken
